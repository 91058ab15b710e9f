"""From the arguments of `warmstack local up` to an order; everything that is wrong with them in one message."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from warmstack.errors import WarmstackError
from warmstack.local.defaults import DEFAULT_HOST
from warmstack.local.dialects.defects import defects_without
from warmstack.local.errors import LocalError
from warmstack.local.order import EngineKind, UpOrder
from warmstack.local.simulated import Latency
from warmstack.local.wire.limits import Limits
from warmstack.local.wire.parts import Cut
from warmstack.routing import parse_choices
from warmstack.units import parse_size

_T = TypeVar("_T")


def read_order(**given: Any) -> UpOrder:
    """Return the order that the arguments make.

    Raises:
        LocalError: With one line for each argument that is not valid.
    """
    problems: list[str] = []

    def read(parse: Callable[[Any], _T], name: str) -> _T | None:
        try:
            return parse(given.pop(name))
        except WarmstackError as error:
            problems.append(str(error))
            return None

    values: dict[str, Any] = {
        "parameters": read(lambda texts: _pairs("parameter", texts), "parameters"),
        "adapters": read(_adapters, "adapters"),
        "engine": read(lambda text: _one_of(EngineKind, "engine", text), "engine"),
        "cut": read(lambda text: _one_of(Cut, "cut", text), "cut"),
        "limits": read(lambda texts: Limits.parse(list(texts)), "limits"),
        "choices": read(parse_choices, "choices"),
        "latency": read(_latency, "latency"),
        "kv_cache_bytes": read(_size, "kv_cache"),
        "model": read(_model_folder, "model"),
        "model_code": read(_code_folder, "model_code"),
        "defects": read(defects_without, "defects"),
        "host": read(_host, "host"),
        "account": read(_account, "account"),
        "region": read(_region, "region"),
    }
    if problems:
        raise LocalError("\n".join(problems))
    return UpOrder(**given, **values)


def _pairs(what: str, texts: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    problems: list[str] = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            problems.append(f"--{what} is {text!r}; it must be NAME=VALUE")
        elif name in found:
            problems.append(f"--{what} {name} is given twice")
        found[name] = value
    if problems:
        raise LocalError("\n".join(problems))
    return found


def _adapters(texts: Iterable[str]) -> dict[str, Path]:
    found = {name: Path(path) for name, path in _pairs("adapter", texts).items()}
    absent = [f"--adapter {name}: {path} does not exist" for name, path in found.items() if not path.exists()]
    if absent:
        raise LocalError("\n".join(absent))
    return found


def _one_of(kinds: Any, name: str, text: str) -> Any:
    try:
        return kinds(text)
    except ValueError as error:
        raise LocalError(f"--{name} is {text!r}; it must be one of {', '.join(kinds)}") from error


def _latency(text: str | None) -> Latency:
    if text is None:
        return Latency()
    parts = text.split(":")
    try:
        prefill, decode = (float(part) for part in parts)
    except ValueError:
        prefill = decode = -1.0
    if not (0 <= prefill <= 1e6 and 0 <= decode <= 1e6):
        raise LocalError(f"--latency is {text!r}; it must be PREFILL:DECODE in milliseconds, such as 110:20")
    return Latency(prefill_seconds_per_token=prefill / 1e6, decode_seconds_per_token=decode / 1e3)


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        raise LocalError(f"--kv-cache: {error}") from error


def _code_folder(path: Path | None) -> Path | None:
    if path is not None and not (path / "model.py").is_file():
        raise LocalError(f"--model-code is {path}; it must be a folder with a model.py")
    return path


def _host(text: str) -> str:
    # Guard: an empty host is every address of this machine, and nobody means that by it.
    if not text.strip():
        raise LocalError(f"--host is {text!r}; it must be an address of this machine, such as {DEFAULT_HOST}")
    return text


def _account(text: str | None) -> str | None:
    if text is not None and not re.fullmatch("[0-9]{12}", text):
        raise LocalError(f"--account is {text!r}; an account's number has 12 digits")
    return text


def _region(text: str | None) -> str | None:
    if text is not None and not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)+", text):
        raise LocalError(f"--region is {text!r}; it must be the name of a Region, such as us-west-2")
    return text


def _model_folder(path: Path | None) -> Path | None:
    if path is not None and not (path / "config.json").is_file():
        raise LocalError(f"--model is {path}; it must be a folder with a model's config.json")
    return path
