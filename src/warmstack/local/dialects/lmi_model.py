"""Where the ``model.py`` of an LMI model is on this machine."""

from __future__ import annotations

from pathlib import Path

from warmstack.assembly import ModelDefinition, carried_file
from warmstack.local.dialects.lmi_code import ModelCode, load_bridged, load_code
from warmstack.local.dialects.vllm_formatters import base_formatters, why_not_loaded
from warmstack.local.errors import LocalError

IN_IMAGE = "/opt/ml/model/model.py"


def model_code(model: ModelDefinition, folder: Path | None, *, four_times: bool) -> ModelCode:
    """Return the base model's formatters.

    Args:
        model: The model.
        folder: A folder with its model.py, or None to look into the image's build context.
        four_times: Whether the file is executed for each kind of formatter anew.

    Raises:
        LocalError: They do not load; LMI would not start either.
    """
    file = folder / "model.py" if folder is not None else carried_file(model, IN_IMAGE)
    try:
        if file is not None and file.is_file():
            return load_code(file.parent, four_times=four_times)
    except LocalError as error:
        raise LocalError(f"{model.name}: {error}; LMI would not start with it either") from error
    formatters = base_formatters(model)
    if formatters is None:
        return ModelCode()
    try:
        return load_bridged(formatters, four_times=four_times)
    except LocalError as error:
        why = why_not_loaded(str(error), model.name, formatters)
        raise LocalError(f"{why}; LMI would not start with them either") from error
