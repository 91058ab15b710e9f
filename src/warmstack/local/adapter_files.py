"""The files of adapters on this machine: given ones, or stand-ins, where SageMaker would fetch archives from S3."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

from warmstack.local.errors import LocalError

MakeAdapter = Callable[[str, Path], None]
"""Writes a small adapter's files for a name into a folder."""
STAND_IN_CONFIG: Mapping[str, object] = {
    "peft_type": "LORA",
    "r": 8,
    "lora_alpha": 16,
    "target_modules": ["q_proj", "v_proj"],
    "base_model_name_or_path": "stand-in",
}


def write_stand_in(_name: str, folder: Path) -> None:
    """Write what the simulated engine looks for: a configuration without tensors."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_config.json").write_text(json.dumps(STAND_IN_CONFIG), encoding="utf-8")


def _filter(name: str, given: Path, room_bytes: int) -> Callable[[tarfile.TarInfo, str], tarfile.TarInfo | None]:
    """Return what lets a member of an archive through: one that stays inside, and leaves room on the disk."""
    left = room_bytes

    def check(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
        nonlocal left
        left -= member.size
        if left < 0:
            # Guard: a few kilobytes may unpack to more than any disk.
            raise LocalError(
                f"adapter {name}: {given} unpacks to more than half of the free space here, {room_bytes} bytes"
            )
        return tarfile.data_filter(member, folder)

    return check


class AdapterFiles:
    """Finds the folder of an adapter.

    Args:
        folder: Where folders are made.
        given: Folders and archives by the adapter component's name.
        make: Makes the files of one that was not given.
        replaces: Whether a given one gets made weights all the same: those of a real adapter fit no small model. Its
            code stays.
    """

    def __init__(self, folder: Path, given: Mapping[str, Path], make: MakeAdapter, *, replaces: bool = False) -> None:
        self._folder = folder
        self._given = given
        self._make = make
        self._replaces = replaces
        self._known: dict[str, Path] = {}

    def folder_of(self, name: str) -> Path:
        """Return the folder with an adapter's files, made at its first use.

        Args:
            name: The adapter component's name.

        Raises:
            LocalError: What was given for it cannot be read.
        """
        if name not in self._known:
            self._known[name] = self._prepare(name, self._folder / "adapters" / name)
        return self._known[name]

    def _prepare(self, name: str, folder: Path) -> Path:
        given = self._given.get(name)
        if given is None:
            self._make(name, folder)
            return folder
        try:
            if given.is_dir():
                # A copy: a formatter's file must not change under a running copy, nor gain a cache of bytecode.
                shutil.copytree(given, folder, dirs_exist_ok=True)
            else:
                folder.mkdir(parents=True, exist_ok=True)
                with tarfile.open(given, "r:gz") as archive:
                    archive.extractall(folder, filter=_filter(name, given, shutil.disk_usage(folder).free // 2))
        except (OSError, tarfile.TarError, EOFError) as error:
            raise LocalError(f"adapter {name}: {given} cannot be read: {error}") from error
        if not (folder / "adapter_config.json").is_file():
            raise LocalError(f"adapter {name}: {given} has no adapter_config.json at its root")
        if self._replaces:
            for weights in folder.glob("adapter_model.*"):
                weights.unlink()
            self._make(name, folder)
        return folder
