"""Build contexts of images, kept by the tag that a Model names: what an image would carry, without the image.

::

    contexts/built/<name>      a copy of a build context, by what it was to be called (``cdkasset-0f3a…``)
    contexts/tagged/<tag>      a link to it, by the tag that it was published under

They are handed over through the file system, in a folder that only its user may write: a context brings code that
copies run, and anyone on this machine can ask the port.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from warmstack.local.errors import LocalError

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")
_FOLDER = "contexts"


class BuildContexts(Mapping[str, Path]):
    """The build contexts of one local AWS, by tag.

    Args:
        run: The folder of its run; it is removed when the local AWS ends.
    """

    def __init__(self, run: Path) -> None:
        self._built = run / _FOLDER / "built"
        self._tagged = run / _FOLDER / "tagged"

    def __getitem__(self, tag: str) -> Path:
        """Return the build context of an image's tag."""
        place = self._tagged / tag
        if _NAME.fullmatch(tag) is None or not place.is_dir():
            raise KeyError(tag)
        return place

    def __iter__(self) -> Iterator[str]:
        """Yield the tags."""
        return iter(sorted(one.name for one in self._tagged.iterdir())) if self._tagged.is_dir() else iter(())

    def __len__(self) -> int:
        """Return how many tags there are."""
        return sum(1 for _ in self)

    def has(self, name: str) -> bool:
        """Return whether a context was taken under a name."""
        return _NAME.fullmatch(name) is not None and (self._built / name).is_dir()

    def take(self, name: str, folder: Path, dockerfile: str = "Dockerfile") -> None:
        """Copy a build context.

        Args:
            name: What its image is to be called.
            folder: The context.
            dockerfile: The Dockerfile in it, which becomes ``Dockerfile``.

        Raises:
            LocalError: It cannot be copied; what was there before stays.
        """
        place = self._place(self._built, name)
        if not (folder / dockerfile).is_file():
            raise LocalError(f"{folder} has no {dockerfile}, so it is no build context")
        try:
            self._built.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self._built.parent) as fresh:
                copied = Path(fresh, "context")
                # Links stay links: one that leads out of the context brings nothing in.
                shutil.copytree(folder, copied, symlinks=True)
                if dockerfile != "Dockerfile":
                    # Guard: what is there may be a link, and writing goes to what it leads to.
                    (copied / "Dockerfile").unlink(missing_ok=True)
                    shutil.copyfile(folder / dockerfile, copied / "Dockerfile")
                with suppress(FileNotFoundError):
                    place.rename(Path(fresh, "before"))
                try:
                    copied.rename(place)
                except OSError:
                    # Somebody else has brought the same one meanwhile.
                    if not place.is_dir():
                        raise
        except shutil.Error as error:
            (first, *others) = error.args[0]
            more = f", and {len(others)} more" if others else ""
            raise LocalError(f"the build context {folder} cannot be copied: {first[0]}: {first[2]}{more}") from error
        except OSError as error:
            raise LocalError(f"the build context {folder} cannot be copied to {place}: {error}") from error

    def publish(self, name: str, tag: str) -> None:
        """Let Models find a context by a tag.

        Raises:
            LocalError: No context was taken under the name.
        """
        if not self.has(name):
            raise LocalError(f"there is no build context {name}; `build` hands one over")
        place = self._place(self._tagged, tag)
        try:
            self._tagged.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self._tagged.parent) as fresh:
                link = Path(fresh, "link")
                link.symlink_to(Path("..", self._built.name, name))
                # At once: a Model that is read meanwhile sees the one or the other.
                link.replace(place)
        except OSError as error:
            raise LocalError(f"{place} cannot be written: {error.strerror}") from error

    def _place(self, folder: Path, name: str) -> Path:
        if _NAME.fullmatch(name) is None:
            raise LocalError(f"the image's name {name!r} is none that the CDK makes: letters, digits, '.', '_' and '-'")
        return folder / name
