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
from warmstack.operate.preflights.shards import check_shards
from warmstack.operate.preflights.storage import Prefix, list_prefix, read_text
from warmstack.operate.results import Result
from warmstack.plan import Plan, ServedModel
from warmstack.plan.parameters import weight_bytes
from warmstack.units import format_bytes

CONFIG, MISTRAL_CONFIG = "config.json", "params.json"
MOST_FOLDERS = 10
"""In how many folders a configuration that is missing is looked for."""
SIZE_TOLERANCE = 0.2
"""How far the files may be from the estimate: towers that the plan does not count, headers, further tensors."""
_TOKENIZERS = re.compile(r"tokenizer\.json|tokenizer\.model.*|tekken\.json|vocab\.json|spiece\.model|.*\.tiktoken")


def check_weights(plan: Plan, account: Account) -> Iterator[Result]:
    """Yield what is wrong with each model's files, once for each prefix and how it is served."""
    seen: set[tuple[str, str, str]] = set()
    # Every copy that reads a prefix reads the same file in it, each with an environment of its own.
    settings: dict[tuple[str, str], set[str]] = {}
    for served in plan.models:
        if served.weights_s3 is not None:
            settings.setdefault((served.weights_s3, served.server), set()).update(served.environment)
    for served in plan.models:
        if served.weights_s3 is None:
            yield checks.HUB.skipped(served.model_id, "each copy downloads it from the hub; it is not looked for")
            continue
        draft = served.draft.draft if served.draft is not None else None
        key = (served.weights_s3, served.server, str(draft))
        if key not in seen:
            seen.add(key)
            yield from _prefix(served, account, served.weights_s3, settings[served.weights_s3, served.server])


def _prefix(served: ServedModel, account: Account, uri: str, settings: set[str]) -> Iterator[Result]:
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
    is_mistral = served.engine_settings.get("load_format") == "mistral"
    yield from check_shards(account, place, uri, checks.SHARDS, is_mistral=is_mistral)
    if place.whole:
        yield from _size(served, uri, place)
    yield from check_properties(served.server, settings, account, uri, place)
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
