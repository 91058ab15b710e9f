"""What an adapter consists of, whether it lies in a folder or in an archive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from warmstack.adapters import config
from warmstack.adapters.safetensors_header import HeaderError, TensorTable, read_header

WEIGHTS = "adapter_model.safetensors"
FORMATTERS = "formatters.py"
RUNTIME = "warmstack_formatters.py"
BRIDGE = "model.py"
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
"""The endings that SageMaker's secure mode refuses (LMI's plugin secure-mode, DISALLOW_PICKLE_FILES)."""
LARGEST_CODE_BYTES = 1_000_000

Kind = Literal["file", "folder", "link", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing in a folder or an archive.

    Args:
        name: its path inside, with ``/``.
        kind: what it is; ``other`` is a device, a pipe, a hard link to elsewhere and so on.
        size: its bytes.
        target: where a link leads.
    """

    name: str
    kind: Kind
    size: int
    target: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """An adapter's files, as far as the checks look into them.

    Args:
        label: the path as given, for messages.
        packed: whether they come from an archive.
        entries: everything there, in its order.
        packed_bytes: the archive's size, or 0 for a folder.
        texts: the configuration and the code, by name.
        tables: the headers of the safetensors files by name, or why one cannot be read.
        damage: why the archive could not be read to its end, or None.
    """

    label: str
    packed: bool
    entries: tuple[Entry, ...]
    packed_bytes: int = 0
    texts: Mapping[str, bytes] = field(default_factory=dict)
    tables: Mapping[str, TensorTable | HeaderError] = field(default_factory=dict)
    damage: str | None = None

    @property
    def files(self) -> dict[str, Entry]:
        """The files by their names; of two with one name, the last is what unpacking leaves."""
        return {one.name: one for one in self.entries if one.kind == "file"}

    @property
    def weights_bytes(self) -> int:
        """The size of the safetensors files."""
        return sum(one.size for one in self.files.values() if one.name.endswith(".safetensors"))


@dataclass(slots=True)
class Look:
    """Takes from each file what the checks need, and leaves the rest unread."""

    texts: dict[str, bytes] = field(default_factory=dict)
    tables: dict[str, TensorTable | HeaderError] = field(default_factory=dict)

    def into(self, name: str, size: int, read: Callable[[int], bytes]) -> None:
        """Look into one file.

        Args:
            name: its name.
            size: its bytes.
            read: gives its next bytes, fewer at its end.
        """
        if name.endswith(".safetensors"):
            try:
                self.tables[name] = read_header(read, size)
            except HeaderError as error:
                self.tables[name] = error
        elif (name == config.NAME and size <= config.LARGEST_BYTES) or (
            name.endswith(".py") and size <= LARGEST_CODE_BYTES
        ):
            self.texts[name] = read(size)
