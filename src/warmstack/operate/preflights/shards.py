"""The files of weights in a folder: every shard that their names and their index promise."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from warmstack.operate.asking import RefusedError, not_seen
from warmstack.operate.preflights.account import Account
from warmstack.operate.preflights.storage import Prefix, read_text
from warmstack.operate.results import Check, Result

INDEX = "model.safetensors.index.json"
PICKLED_INDEX = "pytorch_model.bin.index.json"
CONSOLIDATED = "consolidated"
CONSOLIDATED_INDEX = "consolidated.safetensors.index.json"
_OF_TRAINING = re.compile(r"(optimizer|scheduler|scaler|training_args|rng_state.*)\.(bin|pt|pth)")
_SHARD = re.compile(r"(?P<stem>.+)-(?P<number>[0-9]{5})-of-(?P<count>[0-9]{5})\.(?P<ending>safetensors|bin)")


def check_shards(
    account: Account, place: Prefix, subject: str, check: Check, *, is_mistral: bool = False
) -> Iterator[Result]:
    """Yield whether every file of the weights is there.

    Args:
        account: The account.
        place: The folder.
        subject: What it is called in the report.
        check: The check that it belongs to.
        is_mistral: Whether the engine loads Mistral's own form (``load_format: mistral``): of a folder that has the
            same weights twice it reads ``consolidated…`` alone.
    """
    root = place.files
    files = {
        name: size
        for name, size in root.items()
        if name.endswith(".safetensors") and (not is_mistral or name.startswith(CONSOLIDATED))
    }
    pickles = pickles_of(root) if not is_mistral else []
    empty = sorted(name for name in files or pickles if root[name] == 0)
    if not empty and not place.whole:
        yield place.not_listed(check, "whether every file of the weights is there is not known")
        return
    if not files and not pickles:
        what = f"{CONSOLIDATED}*.safetensors, which is what load_format mistral reads," if is_mistral else "safetensors"
        yield check.failed(subject, f"there are no {what} directly under the prefix")
        return
    wanted = _wanted(files or {name: root[name] for name in pickles})
    unread: RefusedError | None = None
    try:
        index = CONSOLIDATED_INDEX if is_mistral else INDEX if files else PICKLED_INDEX
        wanted |= _indexed(account, place, index)
    except RefusedError as refused:
        unread = refused
    except ValueError as error:
        yield check.failed(subject, str(error))
        return
    missing = sorted(wanted - set(root)) if place.whole else []
    if missing or empty:
        told = [f"{len(missing)} of {len(wanted)} files are missing: {_some(missing)}"] if missing else []
        told += [f"empty: {_some(empty)}"] if empty else []
        yield check.failed(subject, "; ".join(told), missing=len(missing))
    elif unread is not None:
        yield not_seen(check, subject, unread)
    elif not files:
        yield check.warned(
            subject,
            f"the weights are pickles ({_some(sorted(pickles))}), which can run code when they are read",
            fix="convert them: save_pretrained(..., safe_serialization=True)",
        )
    else:
        yield check.passed(subject, f"{len(files)} safetensors, none missing", files=len(files))


def pickles_of(files: Iterable[str]) -> list[str]:
    """Return the names of weights that are pickles; what a trainer leaves beside them is none."""
    return [one for one in files if one.endswith((".bin", ".pt", ".pth")) and not _OF_TRAINING.fullmatch(one)]


def _wanted(files: dict[str, int]) -> set[str]:
    """Return the files that the names of the others promise."""
    wanted: set[str] = set()
    for name in files:
        match = _SHARD.fullmatch(name)
        if match and int(match["count"]) <= 9999:
            wanted |= {
                f"{match['stem']}-{number:05}-of-{match['count']}.{match['ending']}"
                for number in range(1, int(match["count"]) + 1)
            }
    return wanted


def _indexed(account: Account, place: Prefix, name: str) -> set[str]:
    """Return the files that the index names; none without an index.

    Raises:
        RefusedError: It could not be read.
        ValueError: It is no index.
    """
    if name not in place.files:
        return set()
    if not place.files[name]:
        raise ValueError(f"{name} is empty")
    try:
        document = json.loads(read_text(account, place, name))
        return {str(file) for file in document["weight_map"].values()}
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{name} is no index of weights: {type(error).__name__}") from error


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
