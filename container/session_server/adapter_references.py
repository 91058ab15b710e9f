"""Which adapters a request names: its header, and the keys of its body that choose one.

A name that is not registered never reaches the engine, which would answer some of them from the base model.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from session_server.errors import AdapterNotFoundError, BadRequestError

ADAPTER_HEADER = "X-Amzn-SageMaker-Adapter-Identifier"
ADAPTER_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?", re.ASCII)
"""Wider than inference components' names (63 letters, digits and hyphens): folders are names too. No `:`, no `/`."""
ENGINE_DEFAULT_MODEL = "default"
"""What SGLang takes for an absent `model` (openai/protocol.py of 0.5.23)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModels:
    """The names that mean something here.

    Args:
        served: The base model's name, once the engine has told it.
        adapters: The registered adapters.
        retired: Names that were unregistered once; those that are adapters again are in ``adapters`` too.
    """

    served: str | None = None
    adapters: Collection[str] = field(default_factory=frozenset)
    retired: Collection[str] = field(default_factory=frozenset)

    def require(self, name: str, where: str) -> None:
        """Refuse an adapter that is not registered.

        Args:
            name: The adapter.
            where: What named it, for the message.

        Raises:
            AdapterNotFoundError: With the way out.
        """
        if name in self.adapters:
            return
        shown = name if len(name) <= 128 else f"{name[:125]}..."
        known = ", ".join(sorted(self.adapters)[:20]) or "none"
        raise AdapterNotFoundError(
            f"adapter {shown!r} ({where}) is not registered here; registered: {known}. Register it with "
            "POST /adapters {name, src}, or name no adapter to reach the base model"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterChoice:
    """What a request asks for.

    Args:
        names: The adapters that must be loaded before the engine sees the request.
        body: The body for the engine: the same object when nothing had to change.
    """

    names: tuple[str, ...]
    body: dict[str, Any]


def check_adapter_name(value: str, where: str) -> str:
    """Hold a name to the rule for adapters.

    Raises:
        BadRequestError: With the name of what held the value.
    """
    if not ADAPTER_NAME.fullmatch(value):
        raise BadRequestError(
            f"{where} is {value[:80]!r}; an adapter's name has letters, digits, '.', '_' and '-', starts and ends with "
            "a letter or digit, and is at most 128 characters long",
            code="invalid_adapter_name",
        )
    return value


def named_adapter(model: object, served: str | None) -> tuple[str, str | None]:
    """Split a body's `model` into the base's part and the adapter after a colon, in the engine's own way.

    Args:
        model: The value of `model`.
        served: The base model's name, which may have colons itself.
    """
    if not isinstance(model, str) or ":" not in model or model == served:
        return (model if isinstance(model, str) else ""), None
    if served and model.startswith(f"{served}:"):
        return served, model[len(served) + 1 :].strip() or None
    base, _, adapter = model.partition(":")
    return base.strip(), adapter.strip() or None


def choose_adapters(body: dict[str, Any], header: str | None, known: KnownModels) -> AdapterChoice:
    """Decide which adapters answer, the header's before the body's.

    Args:
        body: The request's body, without this server's own keys.
        header: The value of X-Amzn-SageMaker-Adapter-Identifier, if there is one.
        known: The names that mean something here.

    Raises:
        AdapterNotFoundError: The request names an adapter that is not registered.
        BadRequestError: A value has the wrong type, or two of them contradict each other.
    """
    if header is not None:
        known.require(check_adapter_name(header, ADAPTER_HEADER), ADAPTER_HEADER)
        return _by_name(header, body, known)
    if "adapters" in body:
        if name := _lmi_adapter(body["adapters"]):
            known.require(name, "adapters")
            return _by_name(name, body, known)
        body = {key: value for key, value in body.items() if key != "adapters"}
    names = _lora_path_names(body.get("lora_path"))
    for name in names:
        known.require(name, "lora_path")
    model = body.get("model")
    _, adapter = named_adapter(model, known.served)
    if adapter is not None:
        known.require(adapter, "model")
        return AdapterChoice(names=tuple({*names, adapter}), body=body)
    if isinstance(model, str) and model in known.adapters:
        if names and set(names) != {model}:
            raise BadRequestError(f"model names the adapter {model}, and lora_path names {', '.join(names)}; send one")
        # Guard: a lora_path of nulls alone is not empty, and the engine would answer from the base model.
        return AdapterChoice(names=(model,), body=body | {"lora_path": body["lora_path"] if names else model})
    if isinstance(model, str) and _looks_like_an_adapter(model, known):
        known.require(model, "model")
    return AdapterChoice(names=names, body=body)


def _by_name(name: str, body: Mapping[str, Any], known: KnownModels) -> AdapterChoice:
    changed = {key: value for key, value in body.items() if key != "adapters"} | {"lora_path": name}
    base, adapter = named_adapter(body.get("model"), known.served)
    if adapter is not None:
        # Guard: the engine prefers an adapter in `model` to `lora_path`; it would answer instead of the header's.
        changed["model"] = base or ENGINE_DEFAULT_MODEL
    return AdapterChoice(names=(name,), body=changed)


def _looks_like_an_adapter(model: str, known: KnownModels) -> bool:
    """Tell a forgotten or misspelt adapter from a base model's name, of which the engine accepts any.

    Only where there are adapters: without one, clients may call the base model as they like, as in the stock image.
    A name with a slash, as on a model hub, is no adapter's.
    """
    if model in known.retired:
        return True
    base = model in ("", ENGINE_DEFAULT_MODEL) or model == known.served
    return bool(known.adapters) and not base and ADAPTER_NAME.fullmatch(model) is not None


def _lmi_adapter(value: object) -> str | None:
    """Read LMI's key `adapters`: a name, or a list of one."""
    if value in (None, "", []):
        return None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str):
        raise BadRequestError("adapters must be the name of one adapter")
    return value


def _lora_path_names(value: object) -> tuple[str, ...]:
    if value is None or value == "":
        return ()
    items: list[Any] = value if isinstance(value, list) else [value]
    if not all(item is None or isinstance(item, str) for item in items):
        raise BadRequestError("lora_path must be an adapter's name, or a list of names and nulls")
    return tuple(dict.fromkeys(str(item) for item in items if item))
