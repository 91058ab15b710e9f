"""Which of a call's options go with the request, and which are in its body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warmstack.client.failures import InvalidArgument


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """What a value must be: botocore checks only that it is not empty, and the service answers late."""

    most: int
    pattern: str
    said: str


# \p{Print} of the model's patterns is ASCII's.
_PRINTABLE = r"(?! )[\x20-\x7e]+"
_NAME = r"[a-zA-Z0-9](-*[a-zA-Z0-9])*"
# Source: sagemaker-runtime of botocore 1.44.8, InvokeEndpointInput.
RULES: Mapping[str, _Rule] = {
    "prefix_aware_id": _Rule(
        most=64, pattern=_PRINTABLE, said="1 to 64 printable ASCII characters, the first no space"
    ),
    "inference_id": _Rule(most=64, pattern=_PRINTABLE, said="1 to 64 printable ASCII characters, the first no space"),
    "custom_attributes": _Rule(most=1024, pattern=r"[\x20-\x7e]+", said="1 to 1024 printable ASCII characters"),
    "target_variant": _Rule(most=63, pattern=_NAME, said="1 to 63 letters, digits and hyphens"),
}
NAMES: Mapping[str, _Rule] = {
    "endpoint": _Rule(most=63, pattern=_NAME, said="an endpoint's name: 1 to 63 letters, digits and hyphens"),
    "component": _Rule(most=63, pattern=_NAME, said="a component's name: 1 to 63 letters, digits and hyphens"),
    "session_id": _Rule(most=256, pattern=_NAME + "|NEW_SESSION", said="1 to 256 letters, digits and hyphens"),
}
"""What names a request's way. Characters that no header can hold fail late, and look like a broken connection."""


def split_options(options: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the options that are headers of the request, checked, and those of its body.

    Args:
        options: As the caller gave them; None is left out.

    Raises:
        InvalidArgument: A header's value breaks its rule.
    """
    headers = {name: value for name, value in options.items() if name in RULES and value is not None}
    for name, value in headers.items():
        _check(RULES[name], name, value)
    return headers, {name: value for name, value in options.items() if name not in RULES}


def check_names(**names: object) -> None:
    """Hold an endpoint, a component and a session to their rules; None is left out.

    Args:
        names: ``endpoint``, ``component`` and ``session_id``.

    Raises:
        InvalidArgument: One breaks its rule.
    """
    for name, value in names.items():
        if value is not None:
            _check(NAMES[name], name, value)


def _check(rule: _Rule, name: str, value: object) -> None:
    if isinstance(value, str) and len(value) <= rule.most and re.fullmatch(rule.pattern, value):
        return
    shown = repr(value[:80]) if isinstance(value, str) else f"of type {type(value).__name__}"
    raise InvalidArgument(f"{name} is {shown}; it must be {rule.said}")
