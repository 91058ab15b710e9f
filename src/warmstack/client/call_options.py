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


_PRINTABLE = r"(?!\s)[\x20-\x7e\xa0-\U0010ffff]+"
# Source: sagemaker-runtime of botocore 1.44.8, InvokeEndpointInput.
RULES: Mapping[str, _Rule] = {
    "prefix_aware_id": _Rule(most=64, pattern=_PRINTABLE, said="1 to 64 printable characters, the first no space"),
    "inference_id": _Rule(most=64, pattern=_PRINTABLE, said="1 to 64 printable characters, the first no space"),
    "custom_attributes": _Rule(most=1024, pattern=r"[\x20-\x7e]+", said="1 to 1024 printable ASCII characters"),
    "target_variant": _Rule(
        most=63, pattern=r"[a-zA-Z0-9](-*[a-zA-Z0-9])*", said="1 to 63 letters, digits and hyphens"
    ),
}


def split_options(options: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the options that are headers of the request, checked, and those of its body.

    Args:
        options: As the caller gave them; None is left out.

    Raises:
        InvalidArgument: A header's value breaks its rule.
    """
    headers = {name: value for name, value in options.items() if name in RULES and value is not None}
    for name, value in headers.items():
        rule = RULES[name]
        if not isinstance(value, str) or len(value) > rule.most or not re.fullmatch(rule.pattern, value):
            raise InvalidArgument(f"{name} is {str(value)[:80]!r}; it must be {rule.said}")
    return headers, {name: value for name, value in options.items() if name not in RULES}
