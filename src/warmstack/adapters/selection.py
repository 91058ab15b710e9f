"""Which of the files in an adapter's folder are packed, and why the others are not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from warmstack.adapters import config
from warmstack.adapters.bundled import formatter_file
from warmstack.adapters.contents import BRIDGE, FORMATTERS, PICKLES, RUNTIME, WEIGHTS, Contents, Entry
from warmstack.adapters.folder import read_files, read_folder
from warmstack.adapters.problems import AdapterError

_PACKED = re.compile(
    rf"{re.escape(config.NAME)}|{re.escape(WEIGHTS)}|adapter_model-[0-9]{{5}}-of-[0-9]{{5}}\.safetensors"
)
_TOKENIZER = re.compile(
    r"(tokenizer|added_tokens|special_tokens|vocab|merges|chat_template|preprocessor|processor|spiece|sentencepiece).*"
)
_TRAINING = ("optimizer", "scheduler", "trainer_state", "training_args", "rng_state", "scaler", "checkpoint-", "runs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What becomes an archive.

    Args:
        files: the names in the archive and where each lies, in the archive's order.
        left_out: what stays behind, and why.
        contents: the files as the checks read them.
    """

    files: Mapping[str, Path]
    left_out: Mapping[str, str]
    contents: Contents


def select(folder: Path, code: Path | None) -> Selection:
    """Return what of a folder is packed.

    Args:
        folder: the adapter's folder, as ``save_pretrained`` writes it.
        code: a file of formatters to pack with it, or None.

    Raises:
        AdapterError: something cannot be read.
    """
    if not folder.is_dir():
        raise AdapterError(f"{folder} is no folder; name the folder that holds {config.NAME}")
    found = read_folder(folder)
    files: dict[str, Path] = {}
    left_out: dict[str, str] = {}
    for entry in found.entries:
        if _PACKED.fullmatch(entry.name) and entry.kind == "file":
            files[entry.name] = folder / entry.name
        elif "/" not in entry.name:  # a folder is named once, not with all that it holds
            left_out[entry.name] = _reason(entry)
    if code is not None:
        if not code.is_file():
            raise AdapterError(f"--code is {code}; it must be a file of formatters")
        files |= {FORMATTERS: code, RUNTIME: formatter_file(RUNTIME), BRIDGE: formatter_file("lmi_model.py")}
        left_out.pop(FORMATTERS, None)
    ordered = dict(sorted(files.items()))
    # Pickles count where they are all there is: the checks then say how to convert them.
    pickles = [one for one in found.entries if one.name.endswith(PICKLES) and "/" not in one.name]
    entries = tuple(Entry(name=name, kind="file", size=_size(path)) for name, path in ordered.items())
    if not any(name.endswith(".safetensors") for name in files):
        entries += tuple(pickles)
    return Selection(
        files=ordered,
        left_out=left_out,
        contents=read_files(ordered.items(), label=str(folder), entries=entries),
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise AdapterError(f"{path} cannot be read: {error.strerror or error}") from error


def _reason(entry: Entry) -> str:
    name = PurePosixPath(entry.name).name
    if name.startswith("."):
        return "hidden"
    if entry.kind == "link":
        return f"a link that leads outside the folder, to {entry.target}; copy the folder with cp -rL first"
    if name.startswith(_TRAINING):
        return "the state of a training"
    if entry.kind == "folder":
        return "a folder; SageMaker needs the files at the root"
    if entry.kind == "other":
        return "no plain file"
    if name.endswith(PICKLES):
        return "a pickle, which can run code when it is read"
    if _TOKENIZER.fullmatch(name):
        return "the base model's tokenizer is used"
    if name == FORMATTERS:
        return "code is packed when --code names it"
    if name in (BRIDGE, RUNTIME):
        return "--code brings this file's own version"
    return "no server reads it"
