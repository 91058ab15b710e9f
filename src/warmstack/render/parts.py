"""Which of the authored parts an image needs, and what it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warmstack.plan import INSIDE, ImageBuild

# What the stock images start (ENTRYPOINT of their Dockerfiles); SageMaker adds the argument "serve".
STOCK_COMMANDS: Mapping[str, str] = {
    "lmi": "/usr/local/bin/dockerd-entrypoint.sh",
    "vllm": "/usr/local/bin/sagemaker_entrypoint.sh",
}
VENV_PYTHON = f"{INSIDE}/venv/bin/python"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageParts:
    """What an image is put together from.

    Args:
        authored: the folders of ``container/`` that it takes.
        folders: every folder that it copies below /opt/warmstack, sorted.
        requirements: the pinned requirements of its own virtual environment; empty for none.
        command: what it starts, or empty where it keeps the stock image's start.
    """

    authored: tuple[str, ...]
    folders: tuple[str, ...]
    requirements: tuple[str, ...]
    command: tuple[str, ...]


def parts_of(image: ImageBuild) -> ImageParts:
    """Return the parts of an image."""
    sessions = image.server == "sglang"
    formatters = any(one.formatters is not None for one in image.models)
    # LMI looks for formatters in the folder of the weights, which our entrypoint lays out.
    entrypoint = image.reads_hub_token or (formatters and image.server == "lmi")
    authored = [name for name, needed in (("entrypoint", entrypoint), ("session_server", sessions)) if needed]
    if formatters or sessions or (image.serves_adapters and image.server == "vllm"):
        # Adapters may bring formatters of their own. On LMI their archives bring the runtime too.
        authored.append("formatters")
    requirements = [f"{name}/requirements.txt" for name in authored if name == "session_server"]
    if image.reads_hub_token:
        requirements.append("entrypoint/requirements.txt")
    carries = any(one.lmcache or one.chat_template is not None or one.formatters is not None for one in image.models)
    folders = sorted([*authored, *(["models"] if carries else [])])
    return ImageParts(
        authored=tuple(authored),
        folders=tuple(folders),
        requirements=tuple(sorted(requirements)),
        command=_command(image, entrypoint=entrypoint),
    )


def _command(image: ImageBuild, *, entrypoint: bool) -> tuple[str, ...]:
    stock = STOCK_COMMANDS.get(image.server)
    # -I: variables of the engine's Python (PYTHONPATH) are not ours.
    start = (stock,) if stock is not None else (VENV_PYTHON, "-I", "-m", "session_server")
    if not entrypoint:
        return () if stock is not None else start
    python = VENV_PYTHON if image.reads_hub_token else "python3"
    return (python, "-I", f"{INSIDE}/entrypoint/warmstack_entrypoint.py", *start)
