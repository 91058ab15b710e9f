"""Checks of the packaging: names, links, duplicates, pickles, and the weights' file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from warmstack.adapters import config
from warmstack.adapters.contents import PICKLES, WEIGHTS, Contents
from warmstack.adapters.problems import Problem, error, note, warning
from warmstack.adapters.target import Target
from warmstack.units import GIB, format_bytes

_PACK = "pack the adapter's folder again with `warmstack adapter pack`"
_SHARD = re.compile(r"adapter_model-[0-9]{5}-of-[0-9]{5}\.safetensors")
# Nothing that is served is a LoRA adapter of this size; it is the base model, or it holds one.
_ODD_BYTES = 16 * GIB


def check_packaging(contents: Contents, target: Target | None) -> Iterator[Problem]:
    """Yield what is wrong with the archive itself, and with the choice of files."""
    if contents.damage is not None:
        yield error("damaged", contents.label, contents.damage, "the archive must be a whole .tar.gz", _PACK)
    if contents.packed:
        yield from _members(contents)
    yield from _needed(contents, target)
    yield from _pickles(contents)
    if contents.weights_bytes > _ODD_BYTES:
        value = f"the weights have {format_bytes(contents.weights_bytes)}"
        yield warning(
            "size", contents.label, value, "a LoRA adapter is far smaller", "look whether it is the whole model"
        )


def _members(contents: Contents) -> Iterator[Problem]:
    for entry in contents.entries:
        path = PurePosixPath(entry.name)
        if path.is_absolute() or ".." in path.parts or "\\" in entry.name or "\0" in entry.name:
            yield error(
                "path", entry.name, "its path leads out of the archive's folder", "names must stay inside", _PACK
            )
        if entry.kind == "link":
            value = f"it is a link to {entry.target}"
            yield error("link", entry.name, value, "only plain files may be in the archive", _PACK)
        elif entry.kind == "other":
            yield error("kind", entry.name, "it is no plain file", "only plain files may be in the archive", _PACK)
    for name, count in Counter(one.name for one in contents.entries if one.kind != "folder").items():
        if count > 1:
            yield error("duplicate", name, f"it is in the archive {count} times", "a name must be there once", _PACK)
    for name in contents.files:
        if PurePosixPath(name).name == config.NAME and name != config.NAME and config.NAME not in contents.files:
            value = "the adapter lies in a folder inside the archive"
            yield error("folder", name, value, "SageMaker needs the files at the root", _PACK)


def _needed(contents: Contents, target: Target | None) -> Iterator[Problem]:
    files = contents.files
    if config.NAME not in files:
        yield error(
            "config", config.NAME, "it is not there", "every server reads it", "save the adapter with save_pretrained"
        )
    if WEIGHTS in files or any(name.endswith(PICKLES) for name in files if "/" not in name):
        return  # a pickle in its place is the next check's
    shards = sorted(name for name in files if _SHARD.fullmatch(name))
    others = sorted(name for name in files if name.endswith(".safetensors") and "/" not in name)
    if target is not None and target.server == "sglang" and (shards or others):
        return  # SGLang's loader takes every *.safetensors
    if shards:
        yield error(
            "shards", shards[0], f"the weights are in {len(shards)} files", f"LMI and vLLM read {WEIGHTS} only",
            "save them as one: save_pretrained(..., max_shard_size='100GB')",
        )  # fmt: skip
    elif others:
        yield error(
            "weights", others[0], f"it is not named {WEIGHTS}", f"LMI and vLLM read {WEIGHTS} only", "rename it"
        )
    else:
        yield error(
            "weights", WEIGHTS, "it is not there", "an adapter has weights", "save the adapter with save_pretrained"
        )


def _pickles(contents: Contents) -> Iterator[Problem]:
    pickles = sorted(name for name in contents.files if name.endswith(PICKLES))
    if not pickles:
        return
    convert = "save_pretrained(..., safe_serialization=True) writes safetensors"
    rule = "a pickle can run code when it is read, and SageMaker may refuse it"
    if not any(name.endswith(".safetensors") for name in contents.files):
        for name in pickles:
            yield error("pickle", name, "the weights are a pickle", rule, convert)
    elif contents.packed:
        for name in pickles:
            yield warning("pickle", name, "a pickle is in the archive beside the weights", rule, _PACK)
    else:
        yield note(
            "pickle", pickles[0], "a pickle lies beside the weights", "it is not packed", "nothing is to be done"
        )
