"""Build contexts → folders on disk, whole or not at all."""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from warmstack.render.context import BuildContext
from warmstack.render.templates import RenderError


def write_contexts(contexts: Iterable[BuildContext], folder: Path) -> dict[str, Path]:
    """Write each context to ``folder/<its name>`` and return where, by name.

    A context that is already there, byte for byte, is left as it is. Otherwise the new one is written beside it and
    takes its place, so that an interrupted run leaves the old one, and no file of an older rendering stays.

    Raises:
        RenderError: the folder cannot be written.
    """
    written: dict[str, Path] = {}
    try:
        for context in contexts:
            target = folder / context.name
            if not _is_written(context, target):
                _replace(context, target)
            written[context.name] = target
    except OSError as error:
        reason = error.strerror or str(error)
        raise RenderError(f"{error.filename or folder} cannot be written: {reason}; name another folder") from error
    return written


def _is_written(context: BuildContext, target: Path) -> bool:
    if not target.is_dir():
        return False
    there = {path.relative_to(target).as_posix(): path for path in target.rglob("*") if not path.is_dir()}
    return set(there) == set(context.files) and all(
        path.is_file() and not path.is_symlink() and path.read_bytes() == context.files[name].content
        for name, path in there.items()
    )


def _replace(context: BuildContext, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_symlink() or target.is_file():
        raise FileExistsError(errno.EEXIST, "it is a file, not the folder of a build context", str(target))
    draft = Path(tempfile.mkdtemp(prefix=f".{context.name}-", dir=target.parent))
    old = Path(f"{draft}-old")
    try:
        for name, file in context.files.items():
            path = draft / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
            path.chmod(0o755 if file.executable else 0o644)
        draft.chmod(0o755)
        _swap(context, draft, target, old)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _swap(context: BuildContext, draft: Path, target: Path, old: Path) -> None:
    try:
        if target.exists():
            target.rename(old)
        draft.rename(target)
    except OSError:
        # Another run may have put the same context there in between.
        if _is_written(context, target):
            return
        if old.exists() and not target.exists():
            old.rename(target)
        raise
