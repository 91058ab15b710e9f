"""Build contexts → folders on disk, whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from warmstack.render.context import DOCKERIGNORE, DOCKERIGNORE_TEXT, BuildContext
from warmstack.render.templates import RenderError

FOLDER_MODE = 0o755


def write_contexts(contexts: Iterable[BuildContext], folder: Path) -> dict[str, Path]:
    """Write each context to ``folder/<its name>`` and return where, by name.

    A context that is already there, byte for byte, is left as it is. Otherwise the new one is written beside it and
    takes its place, so that an interrupted run leaves the old one, and no file of an older rendering stays.

    Raises:
        RenderError: the folder cannot be written, or holds something else under a context's name.
    """
    written: dict[str, Path] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _lock(folder):
            for context in contexts:
                target = folder / context.name
                _recover(target)
                if not _is_written(context, target):
                    _replace(context, target)
                written[context.name] = target
    except OSError as error:
        place = error.filename or folder
        if isinstance(error, FileExistsError) and Path(place) == folder:
            raise RenderError(f"{place} is a file, not a folder to write to; name another folder") from error
        reason = error.strerror or str(error)
        raise RenderError(f"{place} cannot be written: {reason}; name another folder") from error
    return written


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Keep two runs out of one folder: an exclusive lock on it, freed when the process ends, however it ends."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _recover(target: Path) -> None:
    """Clear away what a run left that was killed: with the lock held, nobody else is writing here."""
    for left in sorted(target.parent.glob(f".{target.name}-*")):
        if left.name.endswith("-old") and not os.path.lexists(target):
            left.rename(target)
        else:
            shutil.rmtree(left, ignore_errors=True)


def _is_written(context: BuildContext, target: Path) -> bool:
    if target.is_symlink() or not target.is_dir():
        return False
    paths = {path.relative_to(target).as_posix(): path for path in target.rglob("*")}
    folders = {name for name, path in paths.items() if path.is_dir() and not path.is_symlink()}
    # What is copied into an image keeps its mode, so that belongs to what has been written.
    if any(paths[name].stat().st_mode & 0o777 != FOLDER_MODE for name in folders):
        return False
    return set(paths) - folders == set(context.files) and all(
        _is_file(paths[name], file.content, executable=file.executable) for name, file in context.files.items()
    )


def _is_file(path: Path, content: bytes, *, executable: bool) -> bool:
    if path.is_symlink() or not path.is_file() or path.stat().st_mode & 0o777 != _mode(executable=executable):
        return False
    return path.read_bytes() == content


def _mode(*, executable: bool) -> int:
    return 0o755 if executable else 0o644


def _replace(context: BuildContext, target: Path) -> None:
    _refuse_what_is_not_ours(target)
    draft = Path(tempfile.mkdtemp(prefix=f".{context.name}-", dir=target.parent))
    old = Path(f"{draft}-old")
    try:
        for name, file in context.files.items():
            path = draft / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
            path.chmod(_mode(executable=file.executable))
        for folder in (draft, *(path for path in draft.rglob("*") if path.is_dir())):
            # Guard: the umask of the one who renders must not decide who can read the image's files.
            folder.chmod(FOLDER_MODE)
        try:
            if target.exists():
                target.rename(old)
            draft.rename(target)
        except BaseException:
            if old.exists() and not target.exists():
                old.rename(target)
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _refuse_what_is_not_ours(target: Path) -> None:
    if not os.path.lexists(target):
        return
    if target.is_symlink() or not target.is_dir():
        raise FileExistsError(errno.EEXIST, "it is a file, not the folder of a build context", str(target))
    mark = target / DOCKERIGNORE
    ours = mark.is_file() and mark.read_bytes() == DOCKERIGNORE_TEXT.encode()
    if not ours and any(target.iterdir()):
        raise FileExistsError(errno.EEXIST, "it holds files that are no build context of Warmstack's", str(target))
