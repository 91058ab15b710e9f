"""Where a byte stands in JSON: its path and its token. Total: it reads any bytes, also truncated or none of JSON's.

A parser cannot do this: it forgets offsets, and it refuses the whole for one wrong byte, while the bytes before it are
what a router saw.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from warmstack.payload.order import PROMPT_KEYS

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Guard: possessive quantifiers. A text without its closing quote would be tried again from each of its bytes.
_TOKEN = re.compile(
    rb'(?P<space>[ \t\n\r]++)|(?P<string>"(?:[^"\\]++|\\.|\\\Z)*+"?)|(?P<mark>[{}\[\],:])'
    rb"|(?P<number>-?[0-9][0-9.eE+\-]*+)|(?P<word>true|false|null|NaN|-?Infinity)|(?P<odd>.)",
    re.DOTALL,
)
_LONGEST_KEY = 1024


class Token(StrEnum):
    """What a byte is a part of."""

    SPACE = "space"
    KEY = "key"
    STRING = "string"
    NUMBER = "number"
    WORD = "word"
    MARK = "mark"
    ODD = "odd"
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a byte stands.

    Args:
        path: keys and positions, from the outside in: of the value, or of the container around a key or a mark.
        token: what the byte is a part of.
        start: offset of the token's first byte.
        end: offset behind its last one.
        key: the key, where the token is one.
        top: the key at the top of the body that the byte belongs to, if any.
        before_prompt: no key that holds the prompt stands at or before the byte, at the top of the body.
        broken: what came so far, this token included, cannot be the start of a JSON object.
    """

    path: tuple[str | int, ...]
    token: Token
    start: int
    end: int
    key: str | None
    top: str | None
    before_prompt: bool
    broken: bool


class _Frame:
    """A container that is open."""

    __slots__ = ("after_colon", "depth", "index", "is_object", "key", "keys")

    def __init__(self, *, is_object: bool, depth: int = 0) -> None:
        self.is_object = is_object
        self.depth = depth
        self.key: str | None = None
        self.keys: list[str] = []
        self.index = 0
        self.after_colon = False


class _Scan:
    """The state behind the tokens read so far."""

    def __init__(self) -> None:
        self.frames: list[_Frame] = []
        self.broken = False
        self.prompt_seen = False
        self.started = False

    def is_key(self, kind: str) -> bool:
        return bool(kind == "string" and self.frames and self.frames[-1].is_object and not self.frames[-1].after_colon)

    def path(self, *, inside: bool) -> tuple[str | int, ...]:
        """Return the path of the innermost container, or of what is inside of it at this place."""
        frames = self.frames if inside else self.frames[:-1]
        return tuple(frame.index if not frame.is_object else frame.key or "" for frame in frames)

    def awaits_value(self) -> bool:
        return bool(self.frames and self.frames[-1].is_object and self.frames[-1].after_colon)

    def take(self, kind: str, data: bytes) -> None:
        """Move behind a token."""
        if kind == "space":
            return
        self.broken = self.broken or self.breaks(kind, data)
        self.started = True
        if kind == "mark":
            self._mark(data)
        elif self.is_key(kind):
            key = self.frames[-1].key = decoded(data)
            self.frames[-1].keys.append(key)
            if len(self.frames) == 1 and key in PROMPT_KEYS:
                self.prompt_seen = True

    def breaks(self, kind: str, data: bytes) -> bool:
        """Return whether a token cannot come next: a body is one object, and nothing is behind it."""
        if kind == "odd" or (kind != "space" and not self.frames and (self.started or data != b"{")):
            return True
        return data in {b"}", b"]"} and self.frames[-1].is_object != (data == b"}")

    def _mark(self, mark: bytes) -> None:
        if mark in b"{[":
            self.frames.append(_Frame(is_object=mark == b"{", depth=len(self.frames) + 1))
        elif mark in b"}]":
            if self.frames:
                self.frames.pop()
        elif self.frames:
            frame = self.frames[-1]
            if mark == b":":
                frame.after_colon = frame.is_object
            elif frame.is_object:
                frame.after_colon, frame.key = False, None
            else:
                frame.index += 1


def place_at(data: bytes, offset: int) -> Place:
    """Return where a byte of a body stands; behind the last byte, the end.

    Args:
        data: any bytes.
        offset: from 0 to the length.
    """
    scan = _Scan()
    for kind, start, end in _tokens(data):
        if end > offset:
            return _place(scan, data, kind, start, end)
        scan.take(kind, data[start:end])
    return Place(
        path=scan.path(inside=scan.awaits_value()),
        token=Token.END,
        start=len(data),
        end=len(data),
        key=None,
        top=_top(scan),
        before_prompt=not scan.prompt_seen,
        broken=scan.broken,
    )


def _place(scan: _Scan, data: bytes, kind: str, start: int, end: int) -> Place:
    is_key = scan.is_key(kind)
    is_value = not is_key and (kind in {"string", "number", "word"} or data[start:end] in {b"{", b"["})
    key = decoded(data[start:end]) if is_key else None
    return Place(
        path=scan.path(inside=is_value or (kind != "mark" and scan.awaits_value())),
        token=Token.KEY if is_key else Token(kind),
        start=start,
        end=end,
        key=key,
        top=key if is_key and len(scan.frames) == 1 else _top(scan),
        before_prompt=not scan.prompt_seen and not (len(scan.frames) == 1 and key in PROMPT_KEYS),
        broken=scan.broken or scan.breaks(kind, data[start:end]),
    )


def _top(scan: _Scan) -> str | None:
    return scan.frames[0].key if scan.frames and scan.frames[0].is_object else None


def keys_around(data: bytes, offset: int) -> list[str]:
    """Return the keys of the innermost object around a byte, in their order and as far as they can be read."""
    scan, around = _Scan(), None
    for kind, start, end in _tokens(data):
        if around is None and end > offset:
            around = scan.frames[-1] if scan.frames else _Frame(is_object=True)
        scan.take(kind, data[start:end])
        if around is not None and len(scan.frames) < around.depth:
            break
    return [] if around is None else around.keys


def top_keys(data: bytes) -> list[str]:
    """Return the keys at the top of a body, in their order and as far as they can be read."""
    return keys_around(data, data.find(b"{") + 1)


def holds_prompt(data: bytes) -> bool:
    """Return whether a body has a key for the prompt, as far as it can be read; the rest is not looked at."""
    scan = _Scan()
    for kind, start, end in _tokens(data):
        scan.take(kind, data[start:end])
        if scan.prompt_seen:
            return True
    return False


def texts(data: bytes, paths: re.Pattern[str], deepest: int) -> list[str]:
    """Return the texts whose path, its parts joined by a slash, matches a pattern as a whole.

    Args:
        data: a body.
        paths: the pattern.
        deepest: the most parts of a path that can match.
    """
    found: list[str] = []
    scan = _Scan()
    for kind, start, end in _tokens(data):
        # Guard: a path costs its depth; those that cannot match are not made.
        near = kind == "string" and len(scan.frames) <= deepest and not scan.is_key(kind)
        if near and paths.fullmatch("/".join(map(str, scan.path(inside=True)))):
            found.append(decoded(data[start:end]))
        scan.take(kind, data[start:end])
    return found


def _tokens(data: bytes) -> Iterator[tuple[str, int, int]]:
    start = 0
    if data.startswith(BYTE_ORDER_MARK):
        yield "odd", 0, len(BYTE_ORDER_MARK)
        start = len(BYTE_ORDER_MARK)
    for match in _TOKEN.finditer(data, start):
        yield match.lastgroup or "odd", match.start(), match.end()


def decoded(token: bytes) -> str:
    """Return the text of a string token, which may lack its end."""
    token = token[: _LONGEST_KEY + 2]
    if b"\\" not in token:
        return token.strip(b'"').decode("utf-8", "backslashreplace")
    try:
        return str(json.loads(token.decode()))
    except ValueError:
        return token.strip(b'"').decode("utf-8", "backslashreplace")
