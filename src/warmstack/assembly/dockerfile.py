"""What an image carries, read from its build context: the Dockerfile's ``COPY`` lines and labels."""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path

from warmstack.assembly.definitions import ModelDefinition

_LABEL = re.compile(r"""([\w.-]+)=("(?:[^"\\]|\\.)*"|'[^']*'|\S+)""")
_LARGEST_BYTES = 1_000_000


def carried_file(model: ModelDefinition, path: str) -> Path | None:
    """Return the file or folder of the build context that is at a path of the image.

    Args:
        model: The model; without a staged build context it carries nothing that can be read.
        path: A path in the image, such as ``/opt/warmstack/models/chat/lmcache.yaml``.
    """
    if model.staged is None or "\0" in path:
        return None
    wanted = posixpath.normpath(path)
    found: Path | None = None
    root = model.staged.resolve()
    # The last COPY of a path is what the image holds.
    for sources, destination in _copies(model.staged):
        for source in sources:
            inside = _place_in_context(root, source, destination, wanted, is_one=len(sources) == 1)
            if inside is not None and inside.exists() and inside.resolve().is_relative_to(root):
                found = inside
    return found


def label(staged: Path, name: str) -> str | None:
    """Return a label that the Dockerfile of a build context sets."""
    found = None
    for instruction, rest in _instructions(staged):
        if instruction == "LABEL":
            for key, value in _LABEL.findall(rest):
                if key == name:
                    found = value.strip("\"'")
    return found


def _place_in_context(root: Path, source: str, destination: str, wanted: str, *, is_one: bool) -> Path | None:
    origin = root / source.lstrip("/")
    # As Docker copies: the content of a folder goes into the destination; a file goes there, or below it.
    at = destination.rstrip("/") or "/"
    if not origin.is_dir() and (destination.endswith("/") or not is_one):
        at = posixpath.join(at, posixpath.basename(source))
    if wanted == at:
        return origin
    start = at if at.endswith("/") else f"{at}/"
    return origin / wanted[len(start) :] if origin.is_dir() and wanted.startswith(start) else None


def _copies(staged: Path) -> list[tuple[list[str], str]]:
    found: list[tuple[list[str], str]] = []
    for instruction, rest in _instructions(staged):
        if instruction not in ("COPY", "ADD") or "--from=" in rest:
            continue
        arguments = _arguments(rest)
        if len(arguments) >= 2 and not any("*" in one or "$" in one or "\0" in one for one in arguments):
            found.append((arguments[:-1], arguments[-1]))
    return found


def _arguments(rest: str) -> list[str]:
    words = rest.split()
    while words and words[0].startswith("--"):
        words.pop(0)
    if words and words[0].startswith("["):
        try:
            listed = json.loads(" ".join(words))
        except ValueError:
            return []
        return [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
    return words


def _instructions(staged: Path) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile with their continued lines joined; none where it has no Dockerfile."""
    try:
        with (staged / "Dockerfile").open("rb") as file:
            text = file.read(_LARGEST_BYTES).decode("utf-8", "replace")
    except OSError:
        return []
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\[ \t]*\n", " ", "\n".join(lines))
    pairs = [line.strip().split(None, 1) for line in joined.splitlines() if line.strip()]
    return [(pair[0].upper(), pair[1]) for pair in pairs if len(pair) == 2]
