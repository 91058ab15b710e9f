"""The weights under their prefix: configuration, tokenizer, every shard, and about as large as the plan expects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from warmstack.operate.asking import RefusedError, not_seen
from warmstack.operate.preflights import checks
from warmstack.operate.preflights.account import Account
from warmstack.operate.preflights.draft import check_draft
from warmstack.operate.preflights.properties import check_properties
from warmstack.operate.preflights.storage import Prefix, list_prefix, read_text
from warmstack.operate.results import Result
from warmstack.plan import Plan, ServedModel
from warmstack.plan.parameters import weight_bytes
from warmstack.units import format_bytes

INDEX = "model.safetensors.index.json"
PICKLED_INDEX = "pytorch_model.bin.index.json"
CONFIG, MISTRAL_CONFIG = "config.json", "params.json"
MOST_FOLDERS = 10
"""In how many folders a configuration that is missing is looked for."""
SIZE_TOLERANCE = 0.2
"""How far the files may be from the estimate: towers that the plan does not count, headers, further tensors."""
_SHARD = re.compile(r"(?P<stem>.+)-(?P<number>[0-9]{5})-of-(?P<count>[0-9]{5})\.(?P<ending>safetensors|bin)")
_TOKENIZERS = re.compile(r"tokenizer\.json|tokenizer\.model.*|tekken\.json|vocab\.json|spiece\.model|.*\.tiktoken")


def check_weights(plan: Plan, account: Account) -> Iterator[Result]:
    """Yield what is wrong with each model's files, once for each prefix and how it is served."""
    seen: set[tuple[str, str, str]] = set()
    for served in plan.models:
        if served.weights_s3 is None:
            yield checks.HUB.skipped(served.model_id, "each copy downloads it from the hub; it is not looked for")
            continue
        draft = served.draft.draft if served.draft is not None else None
        key = (served.weights_s3, served.server, str(draft))
        if key not in seen:
            seen.add(key)
            yield from _prefix(served, account, served.weights_s3)


def _prefix(served: ServedModel, account: Account, uri: str) -> Iterator[Result]:
    try:
        place = list_prefix(account, uri)
    except RefusedError as refused:
        if refused.kind == "missing":
            return  # the bucket's check says so
        yield not_seen(checks.WEIGHTS, uri, refused)
        return
    if not place.files and not place.folders:
        yield checks.WEIGHTS.failed(uri, "there is nothing under this prefix")
        return
    yield _files(served, account, uri, place)
    yield from check_shards(account, place, uri, checks.SHARDS)
    if place.whole:
        yield from _size(served, uri, place)
    yield from check_properties(served, account, uri, place)
    yield from check_draft(served, account, uri)


def _files(served: ServedModel, account: Account, uri: str, place: Prefix) -> Result:
    check, files, lacks = checks.WEIGHTS, place.files, []
    mistral = served.engine_settings.get("config_format") == "mistral"
    config = MISTRAL_CONFIG if mistral else CONFIG
    if config not in files:
        lacks.append(config)
    tokenizers = (
        [] if "tokenizer" in served.engine_settings else [name for name in files if _TOKENIZERS.fullmatch(name)]
    )
    if not tokenizers and "tokenizer" not in served.engine_settings:
        lacks.append("a tokenizer (tokenizer.json, tokenizer.model, tekken.json, vocab.json or *.tiktoken)")
    empty = sorted(name for name in (config, *tokenizers) if files.get(name) == 0)
    if empty:
        return check.failed(uri, f"empty: {', '.join(empty)}", files=len(files))
    if lacks and not place.whole:
        return place.not_listed(check, f"{' and '.join(lacks)} not among them")
    if lacks:
        hint = _deeper(account, place, config) if config in lacks else ""
        return check.failed(uri, f"it lacks {' and '.join(lacks)}{hint}", files=len(files))
    try:
        other = "" if mistral else _another_model(served, account, place)
    except RefusedError as refused:
        return not_seen(check, uri, refused)
    if other:
        return check.failed(uri, other, fix="correct the prefix, or model.id and model.config in the spec")
    return check.passed(uri, f"{config} and a tokenizer are there, {len(files)} files", files=len(files))


def _deeper(account: Account, place: Prefix, config: str) -> str:
    """Return in which folders the configuration is instead, as the end of a sentence, or nothing."""
    found = []
    for name in place.folders[:MOST_FOLDERS]:
        try:
            inside = list_prefix(account, f"s3://{place.bucket}/{place.prefix}{name}")
        except RefusedError:
            return ""
        found += [name] if config in inside.files else []
    return f"; there is one in {', '.join(found[:3])}" if found else ""


def _another_model(served: ServedModel, account: Account, place: Prefix) -> str:
    """Return how the configuration differs from the model of the plan, or nothing.

    Raises:
        RefusedError: It could not be read.
    """
    try:
        document = json.loads(read_text(account, place, CONFIG))
    except (ValueError, RecursionError):
        return f"{CONFIG} is no JSON"
    if not isinstance(document, dict):
        return f"{CONFIG} is no JSON object"
    text = document.get("text_config")
    inner: dict[str, Any] = text if isinstance(text, dict) else document
    shape = served.shape
    for key, planned in (("hidden_size", shape.hidden_size), ("num_hidden_layers", shape.num_layers)):
        stored = inner.get(key)
        if isinstance(stored, int) and planned and stored != planned:
            return f"{CONFIG} is of another model: {key} is {stored}, {served.model_id} has {planned}"
    return ""


def check_shards(account: Account, place: Prefix, subject: str, check: Any) -> Iterator[Result]:
    """Yield whether every file of the weights is there.

    Args:
        account: The account.
        place: The folder.
        subject: What it is called in the report.
        check: The check that it belongs to.
    """
    root = place.files
    files = {name: size for name, size in root.items() if name.endswith(".safetensors")}
    pickles = [name for name in root if name.endswith((".bin", ".pt", ".pth"))]
    empty = sorted(name for name in files or pickles if root[name] == 0)
    if not empty and not place.whole:
        yield place.not_listed(check, "whether every file of the weights is there is not known")
        return
    if not files and not pickles:
        yield check.failed(subject, "there are no safetensors directly under the prefix")
        return
    wanted = _wanted(files or {name: root[name] for name in pickles})
    unread: RefusedError | None = None
    try:
        wanted |= _indexed(account, place, INDEX if files else PICKLED_INDEX)
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


def _size(served: ServedModel, uri: str, place: Prefix) -> Iterator[Result]:
    ending = ".safetensors" if any(name.endswith(".safetensors") for name in place.files) else ".bin"
    # Mistral's repositories hold the same weights twice.
    twice = any(name.startswith("model") for name in place.files) and served.engine_settings.get("load_format") is None
    found = sum(
        size
        for name, size in place.files.items()
        if name.endswith(ending) and not (twice and name.startswith("consolidated"))
    )
    if not found:
        return
    stored = weight_bytes(served.shape, dtype=None, quantization=None).total_bytes
    expected = sorted({stored, served.memory.weight_bytes})
    shown = " or ".join(format_bytes(one) for one in expected)
    seen = f"{format_bytes(found)} of weights; the plan expects {shown} (an estimate)"
    near = any(abs(found - one) <= SIZE_TOLERANCE * one for one in expected)
    tell = checks.SIZE.passed if near else checks.SIZE.warned
    yield tell(uri, seen, bytes=found, expected_bytes=stored)


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
