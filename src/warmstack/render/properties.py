"""LMI's serving.properties, for users who keep their settings beside the weights."""

from __future__ import annotations

from warmstack.plan import ServedModel
from warmstack.render.templates import RenderError, render_template

PREFIX = "OPTION_"


def serving_properties(served: ServedModel) -> str:
    """Return the engine settings of a model as LMI's serving.properties.

    Args:
        served: a model on the lmi server. Its environment says the same; a serving.properties beside the weights
            wins over it, which is why nothing renders one unasked.

    Raises:
        RenderError: the model is on another server.
    """
    if served.server != "lmi":
        raise RenderError(f"{served.server} reads no serving.properties; its settings are the Model's environment")
    properties = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in sorted(served.environment.items())
        if name.startswith(PREFIX)
    }
    hub = served.environment.get("HF_MODEL_ID")
    if hub is not None:
        properties["model_id"] = hub
    return render_template("serving.properties.j2", {"properties": dict(sorted(properties.items()))})
