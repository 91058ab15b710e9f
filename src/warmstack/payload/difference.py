"""Where two bodies part, and why: the first differing byte, its JSON path and its kind."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from warmstack.payload.errors import PayloadError
from warmstack.payload.escapes import same_character
from warmstack.payload.order import PROMPT_KEYS, SAMPLING_KEYS
from warmstack.payload.paths import excerpt, json_path
from warmstack.payload.scanner import (
    BYTE_ORDER_MARK,
    Place,
    Token,
    holds_prompt,
    keys_around,
    place_at,
    texts,
    top_keys,
)
from warmstack.payload.varying import varying

_LEAD, _REST = 24, 40
_TOOL_KEYS = frozenset({"tools", "functions"})
_TOOL_NAMES = re.compile(r"(?:tools|functions)/[0-9]+(?:/function)?/name")
_TOOL_NAME_DEPTH = 4
# Behind the last text of a chat: the end of a part and its list, of the message, and of the messages.
_LAST_TEXT = re.compile(rb"\s*+(?:\}\s*+\]\s*+)?\}\s*+\]")


class DifferenceKind(StrEnum):
    """Why two bodies part."""

    NOT_JSON = "not JSON"
    LENGTH = "length"
    WHITE_SPACE = "white space"
    ESCAPE = "escape"
    KEY_ORDER = "key order"
    TOOLS_REORDERED = "tools reordered"
    SAMPLING = "sampling parameter before the prompt"
    FIELD = "field before the prompt"
    TIMESTAMP = "timestamp"
    ID = "id"
    NUMBER = "number"
    CONTENT = "content"
    NEXT_TURN = "next turn"
    AFTER_PROMPT = "after the prompt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The first difference of two bodies.

    Args:
        offset: bytes that they share from the start.
        path: the JSON path of the value that differs, such as ``messages[0].content``; for a key or a mark, that of
            the container.
        kind: why.
        subject: the key that differs or is in the wrong place, for the kinds that are about one.
        lead: the shared text before the difference, cut.
        left: what follows in the first body, cut; empty at its end.
        right: what follows in the second one.
    """

    offset: int
    path: str
    kind: DifferenceKind
    subject: str | None
    lead: str
    left: str
    right: str

    @property
    def lead_is_cut(self) -> bool:
        """Whether there is more before the lead."""
        return self.offset > _LEAD


def shared_bytes(left: bytes, right: bytes) -> int:
    """Return how many bytes two bodies share from the start."""
    low, high = 0, min(len(left), len(right))
    if left[:high] == right[:high]:
        return high
    # Halves: comparing slices is a hundred times faster than a loop over the bytes.
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def first_difference(left: bytes, right: bytes) -> Difference | None:
    """Return where and why two bodies part, or None for equal ones; the bytes may be anything.

    Args:
        left: one body, or its first bytes.
        right: the other.

    Raises:
        PayloadError: what is given are no bytes.
    """
    for one in (left, right):
        if not isinstance(one, bytes):
            raise PayloadError(f"the body is {excerpt(one)}; differences are those of bytes: encode it as it is sent")
    offset = shared_bytes(left, right)
    if offset == len(left) == len(right):
        return None
    pair = _Pair(left, right, offset)
    kind, subject = pair.kind()
    start = max(0, offset - _LEAD)
    return Difference(
        offset=offset,
        path=json_path(pair.path),
        kind=kind,
        subject=subject,
        lead=_shown(left[start:offset]),
        left=_shown(left[offset : offset + _REST]),
        right=_shown(right[offset : offset + _REST]),
    )


def _shown(piece: bytes) -> str:
    text = piece.decode("utf-8", "backslashreplace")
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


class _Pair:
    """Two bodies and the place where they part."""

    def __init__(self, left: bytes, right: bytes, offset: int) -> None:
        self.left, self.right, self.offset = left, right, offset
        self.places = place_at(left, offset), place_at(right, offset)
        self.path = max((place.path for place in self.places), key=len)

    def kind(self) -> tuple[DifferenceKind, str | None]:
        """Return why they part, and the key that it is about."""
        if (kind := self._outside()) is not None:
            return kind, None
        if self._same_token(Token.KEY) or self._same_token(Token.STRING):
            start = self.places[0].start
            if same_character(self.left, self.right, start, self.offset):
                return DifferenceKind.ESCAPE, None
        subject = None
        if any(place.token is Token.KEY for place in self.places):
            reordered, subject = self._keys()
            if reordered:
                return DifferenceKind.KEY_ORDER, subject
        elif not self.path and all(place.token is Token.MARK for place in self.places):
            # One body ends where the other has one key more.
            keys = sorted((top_keys(data) for data in (self.left, self.right)), key=len)
            subject = keys[1][len(keys[0])] if len(keys[0]) < len(keys[1]) else None
        return self._by_field(subject)

    def _outside(self) -> DifferenceKind | None:
        """Return the kind of a difference that is not in a value."""
        if any(data.startswith(BYTE_ORDER_MARK) for data in (self.left, self.right)):
            return DifferenceKind.NOT_JSON
        if self.offset == min(len(self.left), len(self.right)):
            rest = self.left[self.offset :] or self.right[self.offset :]
            return DifferenceKind.LENGTH if rest.strip(b" \t\r\n") else DifferenceKind.WHITE_SPACE
        if any(place.broken for place in self.places):
            return DifferenceKind.NOT_JSON
        if any(place.token is Token.SPACE for place in self.places):
            return DifferenceKind.WHITE_SPACE
        return None

    def _same_token(self, token: Token) -> bool:
        one, other = self.places
        return one.token is token and other.token is token and one.start == other.start

    def _keys(self) -> tuple[bool, str | None]:
        """Return whether both objects have both keys, and the key that only one of them has, or has too early."""
        left, right = self.places
        in_left, in_right = keys_around(self.left, self.offset), keys_around(self.right, self.offset)
        if left.key is not None and right.key is not None and left.key in in_right and right.key in in_left:
            return True, right.key
        if left.key is not None and left.key not in in_right:
            return False, left.key
        return False, right.key if right.key is not None else left.key

    def _by_field(self, subject: str | None) -> tuple[DifferenceKind, str | None]:
        top = subject if subject is not None and not self.path else _top_of(self.places)
        if top in PROMPT_KEYS:
            return self._in_prompt(), subject
        if top in _TOOL_KEYS:
            return (DifferenceKind.TOOLS_REORDERED if self._tools_reordered() else self._by_text()), subject
        if top is None or not self._has_prompt():
            return self._by_text(), subject
        # One of the two may hold the prompt here: then the other has this key before it.
        one, other = self.places
        if not one.before_prompt and not other.before_prompt:
            return DifferenceKind.AFTER_PROMPT, top
        field = str(self.path[1]) if top == "parameters" and len(self.path) > 1 else top
        is_sampling = top in SAMPLING_KEYS or top == "parameters"
        return (DifferenceKind.SAMPLING if is_sampling else DifferenceKind.FIELD), field

    def _has_prompt(self) -> bool:
        return holds_prompt(self.left) or holds_prompt(self.right)

    def _tools_reordered(self) -> bool:
        left, right = (texts(data, _TOOL_NAMES, _TOOL_NAME_DEPTH) for data in (self.left, self.right))
        return left != right and sorted(left) == sorted(right)

    def _in_prompt(self) -> DifferenceKind:
        if {self.left[self.offset : self.offset + 1], self.right[self.offset : self.offset + 1]} == {b"]", b","} and (
            self.path == ("messages",)
        ):
            return DifferenceKind.NEXT_TURN
        if self._same_token(Token.STRING) and (
            self._ends(self.left, self.places[0]) or self._ends(self.right, self.places[1])
        ):
            return DifferenceKind.NEXT_TURN
        return self._by_text()

    def _ends(self, data: bytes, place: Place) -> bool:
        """Return whether the prompt of a body ends where the other one goes on."""
        if place.end != self.offset + 1:
            return False
        return place.top != "messages" or _LAST_TEXT.match(data, place.end) is not None

    def _by_text(self) -> DifferenceKind:
        left, right = self.places
        start = min(left.start, right.start)
        if (left.token in _SIMPLE and right.token in _SIMPLE) or self._same_token(Token.STRING):
            found = varying(self.left[start : left.end], self.right[start : right.end], self.offset - start)
            if found is not None:
                return DifferenceKind(found.value)
        return DifferenceKind.CONTENT


_SIMPLE = frozenset({Token.NUMBER, Token.MARK})


def _top_of(places: tuple[Place, Place]) -> str | None:
    return next((place.top for place in places if place.top is not None), None)
