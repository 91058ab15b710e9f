"""What to do about a difference, in one sentence."""

from __future__ import annotations

from warmstack.payload import Difference, DifferenceKind

SHORTEST_PREFIX = 1024
"""Bytes: the least PrefixLength that SageMaker takes (botocore 1.44.8)."""
_CANONICAL = "warmstack.EndpointClient does, and warmstack.payload.canonical(body) for any client"
_FIXES = {
    DifferenceKind.NOT_JSON: "send one JSON object in UTF-8, without a byte order mark",
    DifferenceKind.LENGTH: "one body ends inside of the other: look for a client that cuts its bodies",
    DifferenceKind.WHITE_SPACE: (
        "white space differs: write json.dumps(body, separators=(',', ':')) in every client; " + _CANONICAL
    ),
    DifferenceKind.ESCAPE: (
        "the same character is written in two ways: write json.dumps(body, ensure_ascii=False) in every client; "
        + _CANONICAL
    ),
    DifferenceKind.TOOLS_REORDERED: "the same tools come in another order: sort them by name; " + _CANONICAL,
    DifferenceKind.TIMESTAMP: (
        "a time in {path}: move it behind what is shared, into the last user message, or keep only the day"
    ),
    DifferenceKind.ID: "an identifier in {path}: send it as InferenceId or CustomAttributes, or behind what is shared",
    DifferenceKind.NUMBER: "a number in {path}: move it behind what is shared, into the last user message",
    DifferenceKind.CONTENT: (
        "different text in {path}: move what differs behind what is shared, or lower prefix_length to {shared} bytes"
    ),
}
_SMALL_CONTENT = "different text in {path}, after {shared} bytes: move what differs behind what is shared"
_NEXT_TURN = "the turns share {shared} bytes: lower prefix_length to at most that, or keep them together by a session"
_SHORT_TURN = "the turns share {shared} bytes, and prefix_length is at least 1024: keep them together by a session"


def fix_of(difference: Difference) -> str:
    """Return what to do about a difference within the prefix length."""
    subject, shared = difference.subject, difference.offset
    match difference.kind:
        case DifferenceKind.SAMPLING | DifferenceKind.FIELD:
            what = "sampling parameter" if difference.kind is DifferenceKind.SAMPLING else "field"
            return f"{what} before the prompt: {subject}; send it after the prompt; {_CANONICAL}"
        case DifferenceKind.KEY_ORDER:
            return f"{subject} comes in another place: build the body in one order in every client; {_CANONICAL}"
        case DifferenceKind.AFTER_PROMPT:
            return f"the prompts are equal and {subject} behind them differs: keep it equal, or lower prefix_length"
        case DifferenceKind.NEXT_TURN:
            text = _NEXT_TURN if shared >= SHORTEST_PREFIX else _SHORT_TURN
        case DifferenceKind.CONTENT if shared < SHORTEST_PREFIX:
            text = _SMALL_CONTENT
        case kind:
            text = _FIXES[kind]
    return text.replace("{shared}", f"{shared:,}").replace("{path}", difference.path)
