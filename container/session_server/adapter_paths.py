"""Where adapters may lie: a `src` from a request → a folder inside an allowed root, or an error."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from session_server.errors import BadRequestError

CONFIG = "adapter_config.json"
FORMATTER_FILES = ("formatters.py", "model.py")


def adapter_folder(source: str, roots: Sequence[Path]) -> Path:
    """Resolve a folder with everything in it that is read, symbolic links included.

    Args:
        source: The folder that the request names.
        roots: The folders that adapters may lie in.

    Raises:
        BadRequestError: It is outside the roots, or no adapter. What exists outside the roots is not told.
    """
    folder = _resolve(Path(source)) if source.startswith("/") and "\0" not in source else None
    real_roots = [root for root in (_resolve(root) for root in roots) if root]
    if folder is None and _would_be_inside(source, real_roots):
        raise BadRequestError(
            f"src is {source[:200]!r}, and there is no such folder; name the folder that holds the adapter's files",
            code="invalid_adapter_source",
        )
    if folder is None or not any(folder.is_relative_to(root) for root in real_roots):
        allowed = ", ".join(str(root) for root in roots)
        raise BadRequestError(
            f"src is {source[:200]!r}; it must be an absolute path inside {allowed} (WARMSTACK_ADAPTER_ROOTS), "
            "also after its symbolic links are followed",
            code="invalid_adapter_source",
        )
    if not (folder / CONFIG).is_file():
        raise BadRequestError(
            f"src is {source[:200]!r}, which has no {CONFIG}; name the folder that holds the adapter's files",
            code="invalid_adapter_source",
        )
    for entry in folder.rglob("*"):
        target = _resolve(entry)
        if target is None or not any(target.is_relative_to(root) for root in real_roots):
            raise BadRequestError(
                f"src is {source[:200]!r}; its entry {entry.name!r} is a link that leads out of the allowed folders",
                code="invalid_adapter_source",
            )
    return folder


def formatter_file(folder: Path) -> Path | None:
    """Return the file with an adapter's own formatters, if it has one."""
    return next((folder / name for name in FORMATTER_FILES if (folder / name).is_file()), None)


def _would_be_inside(source: str, real_roots: Sequence[Path]) -> bool:
    """Whether a path that leads to nothing leads to nothing inside a root: only then may its absence be told."""
    if not source.startswith("/") or "\0" in source:
        return False
    try:
        path = Path(source).resolve()
    except (OSError, RuntimeError, ValueError):
        return False
    return any(path.is_relative_to(root) for root in real_roots)


def _resolve(path: Path) -> Path | None:
    """Follow every link; None if a part does not exist or the links go in circles."""
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None
