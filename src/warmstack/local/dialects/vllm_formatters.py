"""Formatters in the vLLM image: the middleware that images of ours name in their environment, in this process."""

from __future__ import annotations

import re
from pathlib import Path

from warmstack.assembly import ModelDefinition, carried_file
from warmstack.local.container import Container
from warmstack.local.dialects.asgi import AsgiContainer, ContainerApp
from warmstack.local.dialects.authored_code import formatter_middleware, formatter_runtime
from warmstack.local.errors import LocalError

MIDDLEWARE = "CUSTOM_FASTAPI_MIDDLEWARE_PRE_POST_PROCESS"
FORMATTERS = "WARMSTACK_FORMATTERS"
_OURS = "vllm_script.py:FormatterMiddleware"


def runs_formatters(model: ModelDefinition) -> bool:
    """Return whether a model's environment switches the middleware of ours on."""
    return model.environment.get(MIDDLEWARE, "").rpartition("/")[2] == _OURS


def with_formatters(model: ModelDefinition, container: Container) -> Container:
    """Put the formatters around a container, where the environment switches them on.

    Args:
        model: The model.
        container: Its server.

    Raises:
        LocalError: The base model's formatters do not load; the image would not start either.
    """
    if not runs_formatters(model):
        return container
    base = None
    file = base_formatters(model)
    if file is not None:
        runtime = formatter_runtime()
        try:
            base = runtime.load(file, "the base model")
        except runtime.FormatterError as error:
            why = why_not_loaded(str(error), model.name, file)
            raise LocalError(f"{why}; the image would not start with them either") from error
    # Adapters lie in a folder of the run here; only the platform registers any.
    middleware = formatter_middleware().FormatterMiddleware(ContainerApp(container), base, roots=(Path("/"),))
    return AsgiContainer(middleware)


def why_not_loaded(text: str, model: str, file: Path) -> str:
    """Return why formatters do not load, for people: the model first, and of the file its name and the line.

    Args:
        text: What the code in the image says.
        model: The model.
        file: The user's file. In an image its path is short; here it is in a folder of the run.
    """
    who = f"the formatters of the base model ({file})"
    if who not in text:
        return f"{model}: {text}"
    # Guard: what LMI says before it names a folder that is gone by now.
    text, place = text[text.index(who) :], file.name
    line = re.search(rf" \(({re.escape(place)}, line \d+)\)$", text)
    if line is not None:
        text, place = text[: line.start()], line[1]
    return text.replace(who, f"the formatters of {model} ({place})")


def base_formatters(model: ModelDefinition) -> Path | None:
    """Return the file of the base model's formatters in the image's build context, where that has it."""
    path = model.environment.get(FORMATTERS)
    file = carried_file(model, path) if path else None
    return file if file is not None and file.is_file() else None
