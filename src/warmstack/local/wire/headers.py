"""The headers of the runtime API: which there are, how long they may be, and what they may hold.

Lengths and patterns: botocore 1.44.8, sagemaker-runtime, the inputs of InvokeEndpoint and
InvokeEndpointWithResponseStream. Clients check hardly any of it: botocore's own check knows minimums only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from warmstack.local.wire.errors import ApiError, validation_error

NEW_SESSION = "NEW_SESSION"
_NAME = r"[a-zA-Z0-9](-*[a-zA-Z0-9])*"
_ASCII = r"[\x00-\x7f]*"
_PRINTABLE = r"\S[\x20-\x7e\x80-\U0010ffff]*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a value must be.

    Args:
        member: The name in the API, as its errors give it.
        most: The longest value.
        least: The shortest one.
        pattern: What the whole value must match, as a regular expression here.
        shown: The same as the API writes it.
        sensitive: Whether errors must not repeat the value.
    """

    member: str
    most: int
    least: int = 0
    pattern: str = _ASCII
    shown: str = r"\p{ASCII}*"
    sensitive: bool = False

    def problems(self, value: str) -> list[str]:
        """Return what is wrong with a value, in the form that AWS services give such errors."""
        shown = "" if self.sensitive else f" '{value if len(value) <= 100 else value[:100] + '…'}'"
        start = f"Value{shown} at '{self.member}' failed to satisfy constraint: Member must"
        found = []
        if len(value) > self.most:
            found.append(f"{start} have length less than or equal to {self.most}")
        if len(value) < self.least:
            found.append(f"{start} have length greater than or equal to {self.least}")
        if not re.fullmatch(self.pattern, value):
            found.append(f"{start} satisfy regular expression pattern: {self.shown}")
        return found


ENDPOINT_NAME = Rule(member="endpointName", most=63, pattern=_NAME, shown=r"^[a-zA-Z0-9](-*[a-zA-Z0-9])*")
_COMPONENT = Rule(
    member="inferenceComponentName",
    most=63,
    pattern=r"[a-zA-Z0-9]([\-a-zA-Z0-9]*[a-zA-Z0-9])?",
    shown=r"^[a-zA-Z0-9]([\-a-zA-Z0-9]*[a-zA-Z0-9])?$",
)
_SESSION = Rule(
    member="sessionId",
    most=256,
    pattern=f"(NEW_SESSION)|{_NAME}",
    shown=r"^(NEW_SESSION)$|^[a-zA-Z0-9](-*[a-zA-Z0-9])*$",
)
_STREAM_SESSION = Rule(member="sessionId", most=256, pattern=_NAME, shown=r"^[a-zA-Z0-9](-*[a-zA-Z0-9])*$")
_TARGET_MODEL = Rule(member="targetModel", least=1, most=1024, pattern=r"\S[\x20-\x7e]*", shown=r"\A\S[\p{Print}]*\z")
_INFERENCE_ID = Rule(member="inferenceId", least=1, most=64, pattern=_PRINTABLE, shown=r"\A\S[\p{Print}]*\z")
_PREFIX_ID = Rule(member="prefixAwareId", least=1, most=64, pattern=_PRINTABLE, shown=r"\A\S[\p{Print}]*\z")
_EXPLANATIONS = Rule(member="enableExplanations", least=1, most=64, pattern=r"[\s\S]*", shown=".*")

_PREFIX = "x-amzn-sagemaker-"
INFERENCE_COMPONENT = f"{_PREFIX}inference-component"
SESSION_ID = f"{_PREFIX}session-id"
NEW_SESSION_ID = f"{_PREFIX}new-session-id"
CLOSED_SESSION_ID = f"{_PREFIX}closed-session-id"
PREFIX_AWARE_ID = f"{_PREFIX}prefix-aware-id"
CUSTOM_ATTRIBUTES = f"{_PREFIX}custom-attributes"
INFERENCE_ID = f"{_PREFIX}inference-id"
TARGET_MODEL = f"{_PREFIX}target-model"
TARGET_CONTAINER = f"{_PREFIX}target-container-hostname"
TARGET_VARIANT = f"{_PREFIX}target-variant"
STREAM_ACCEPT = f"{_PREFIX}accept"
FORWARDED_API = f"{_PREFIX}forwarded-api"
ADAPTER_IDENTIFIER = f"{_PREFIX}adapter-identifier"

_BOTH: Mapping[str, Rule] = {
    "content-type": Rule(member="contentType", most=1024),
    CUSTOM_ATTRIBUTES: Rule(member="customAttributes", most=1024, sensitive=True),
    TARGET_VARIANT: Rule(member="targetVariant", most=63, pattern=_NAME, shown=r"^[a-zA-Z0-9](-*[a-zA-Z0-9])*"),
    TARGET_CONTAINER: Rule(
        member="targetContainerHostname", most=63, pattern=_NAME, shown=r"^[a-zA-Z0-9](-*[a-zA-Z0-9])*"
    ),
    INFERENCE_ID: _INFERENCE_ID,
    INFERENCE_COMPONENT: _COMPONENT,
    PREFIX_AWARE_ID: _PREFIX_ID,
}
INVOKE_HEADERS: Mapping[str, Rule] = {
    **_BOTH,
    "accept": Rule(member="accept", most=1024),
    TARGET_MODEL: _TARGET_MODEL,
    f"{_PREFIX}enable-explanations": _EXPLANATIONS,
    SESSION_ID: _SESSION,
}
STREAM_HEADERS: Mapping[str, Rule] = {
    **_BOTH,
    STREAM_ACCEPT: Rule(member="accept", most=1024),
    # No session can be opened on the streaming operation.
    SESSION_ID: _STREAM_SESSION,
}


def check(endpoint: str, headers: Mapping[str, str], rules: Mapping[str, Rule]) -> ApiError | None:
    """Check a request's values, all of them.

    Args:
        endpoint: The endpoint's name.
        headers: By their names in lower case.
        rules: Those of the operation.

    Returns:
        One ValidationError that lists every problem; None if there is none.
    """
    found = ENDPOINT_NAME.problems(endpoint)
    for name, rule in rules.items():
        if name in headers:
            found += rule.problems(headers[name])
    if not found:
        return None
    many = f"{len(found)} validation error{'s' if len(found) > 1 else ''} detected: "
    return validation_error(many + "; ".join(found))
