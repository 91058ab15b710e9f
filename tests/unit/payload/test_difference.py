"""Where two bodies part, and the kind of each difference; any bytes at all are read without an error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstack.payload import DifferenceKind, PayloadError, first_difference, shared_bytes

Kind = DifferenceKind
SYSTEM = "You are the assistant of Acme. "


def _compact(body: Any, *, ascii_only: bool = False) -> bytes:
    return json.dumps(body, ensure_ascii=ascii_only, separators=(",", ":")).encode()


def _chat(system: str = SYSTEM, *turns: str, **more: object) -> dict[str, object]:
    roles = ("user", "assistant")
    said = [{"role": roles[place % 2], "content": turn} for place, turn in enumerate(turns or ("Hello?",))]
    return {"messages": [{"role": "system", "content": system}, *said]} | more


def _tool(name: str) -> dict[str, object]:
    return {"type": "function", "function": {"name": name, "parameters": {}}}


CASES: dict[str, tuple[bytes, bytes, Kind, str, str | None]] = {
    "key order at the top": (
        _compact({"model": "m"} | _chat()),
        _compact(_chat(model="m")),
        Kind.KEY_ORDER,
        "the body",
        "messages",
    ),
    "key order in a message": (
        b'{"messages":[{"role":"user","content":"x"}]}',
        b'{"messages":[{"content":"x","role":"user"}]}',
        Kind.KEY_ORDER,
        "messages[0]",
        "content",
    ),
    "white space": (json.dumps(_chat()).encode(), _compact(_chat()), Kind.WHITE_SPACE, "messages", None),
    "a line break behind": (_compact(_chat()), _compact(_chat()) + b"\n", Kind.WHITE_SPACE, "the body", None),
    "escape": (
        _compact(_chat("Città")),
        _compact(_chat("Città"), ascii_only=True),
        Kind.ESCAPE,
        "messages[0].content",
        None,
    ),
    "escape of an emoji": (
        _compact(_chat("🙂")),
        _compact(_chat("🙂"), ascii_only=True),
        Kind.ESCAPE,
        "messages[0].content",
        None,
    ),
    "escaped solidus": (b'{"inputs":"a/b"}', rb'{"inputs":"a\/b"}', Kind.ESCAPE, "inputs", None),
    "case of an escape": (rb'{"inputs":"\u00e8"}', rb'{"inputs":"\u00E8"}', Kind.ESCAPE, "inputs", None),
    "two forms of a line break": (rb'{"inputs":"\n"}', rb'{"inputs":"\u000a"}', Kind.ESCAPE, "inputs", None),
    "escape of a later half": (
        rb'{"inputs":"\ud83d\ude42"}',
        rb'{"inputs":"\ud83d\uDE42"}',
        Kind.ESCAPE,
        "inputs",
        None,
    ),
    "escape in a key": (b'{"inputs":"x","\xc3\xa8":1}', rb'{"inputs":"x","\u00e8":1}', Kind.ESCAPE, "the body", None),
    "another character": (rb'{"inputs":"\u00e8"}', rb'{"inputs":"\u00e9"}', Kind.CONTENT, "inputs", None),
    "another emoji": (rb'{"inputs":"\ud83d\ude42"}', rb'{"inputs":"\ud83d\ude43"}', Kind.CONTENT, "inputs", None),
    "another letter of two bytes": ('{"inputs":"è"}'.encode(), '{"inputs":"é"}'.encode(), Kind.CONTENT, "inputs", None),
    "a backslash before": (rb'{"inputs":"\\/a"}', rb'{"inputs":"\\a"}', Kind.CONTENT, "inputs", None),
    "timestamp": (
        _compact(_chat(SYSTEM + "It is 2026-07-01T10:00:01Z.")),
        _compact(_chat(SYSTEM + "It is 2026-07-01T10:00:09Z.")),
        Kind.TIMESTAMP,
        "messages[0].content",
        None,
    ),
    "date in words": (
        _compact(_chat("Today is Monday, 30 November 2026.")),
        _compact(_chat("Today is Tuesday, 1 December 2026.")),
        Kind.TIMESTAMP,
        "messages[0].content",
        None,
    ),
    "clock": (
        _compact(_chat("At 9:59 am")),
        _compact(_chat("At 10:00 am")),
        Kind.TIMESTAMP,
        "messages[0].content",
        None,
    ),
    "epoch": (
        _compact(_chat("now=1760428436")),
        _compact(_chat("now=1760428999")),
        Kind.TIMESTAMP,
        "messages[0].content",
        None,
    ),
    "uuid": (
        _compact(_chat("trace 2c776661-eb5f-4d5e-9f83-23b731f32556")),
        _compact(_chat("trace 2c776661-eb5f-4d5e-9f83-23b731f32999")),
        Kind.ID,
        "messages[0].content",
        None,
    ),
    "hexadecimal id": (
        _compact(_chat("rev 9f8e7d6c5b")),
        _compact(_chat("rev 9f8e7a1b2c")),
        Kind.ID,
        "messages[0].content",
        None,
    ),
    "request id": (
        _compact(_chat("id req_01hzx8")),
        _compact(_chat("id req_92kqa7")),
        Kind.ID,
        "messages[0].content",
        None,
    ),
    "number in a text": (
        _compact(_chat("You have 41 points")),
        _compact(_chat("You have 42 points")),
        Kind.NUMBER,
        "messages[0].content",
        None,
    ),
    "number": (
        b'{"messages":[{"role":"user","w":1.5}]}',
        b'{"messages":[{"role":"user","w":2}]}',
        Kind.NUMBER,
        "messages[0].w",
        None,
    ),
    "longer number": (b'{"messages":[{"w":1}]}', b'{"messages":[{"w":12}]}', Kind.NUMBER, "messages[0].w", None),
    "one number in two forms": (
        b'{"inputs":"x","parameters":{"p":1}}',
        b'{"inputs":"x","parameters":{"p":1.0}}',
        Kind.AFTER_PROMPT,
        "parameters.p",
        "parameters",
    ),
    "sampling before messages": (
        _compact({"model": "m", "max_tokens": 10} | _chat()),
        _compact({"model": "m", "max_tokens": 20} | _chat()),
        Kind.SAMPLING,
        "max_tokens",
        "max_tokens",
    ),
    "parameters before inputs": (
        b'{"parameters":{"temperature":0.1},"inputs":"x"}',
        b'{"parameters":{"temperature":0.2},"inputs":"x"}',
        Kind.SAMPLING,
        "parameters.temperature",
        "temperature",
    ),
    "a parameter that only one has": (
        b'{"parameters":{"top_p":0.1},"inputs":"x"}',
        b'{"parameters":{},"inputs":"x"}',
        Kind.SAMPLING,
        "parameters",
        "parameters",
    ),
    "stream before messages": (
        _compact({"model": "m", "stream": True} | _chat()),
        _compact({"model": "m", "stream": False} | _chat()),
        Kind.FIELD,
        "stream",
        "stream",
    ),
    "stream that only one has": (
        _compact({"model": "m", "stream": True} | _chat()),
        _compact({"model": "m"} | _chat()),
        Kind.FIELD,
        "the body",
        "stream",
    ),
    "max_tokens that only one has": (
        _compact({"model": "m"} | _chat()),
        _compact({"model": "m", "max_tokens": 1} | _chat()),
        Kind.SAMPLING,
        "the body",
        "max_tokens",
    ),
    "metadata before the prompt": (
        _compact({"metadata": {"request_id": "a"}} | _chat()),
        _compact({"metadata": {"request_id": "b"}} | _chat()),
        Kind.FIELD,
        "metadata.request_id",
        "metadata",
    ),
    "user behind the prompt": (_compact(_chat(user="a")), _compact(_chat(user="b")), Kind.AFTER_PROMPT, "user", "user"),
    "a key behind the prompt": (_compact(_chat()), _compact(_chat(seed=1)), Kind.AFTER_PROMPT, "the body", "seed"),
    "tools reordered": (
        _compact({"tools": [_tool("a"), _tool("b")]} | _chat()),
        _compact({"tools": [_tool("b"), _tool("a")]} | _chat()),
        Kind.TOOLS_REORDERED,
        "tools[0].function.name",
        None,
    ),
    "other tools": (
        _compact({"tools": [_tool("a")]} | _chat()),
        _compact({"tools": [_tool("b")]} | _chat()),
        Kind.CONTENT,
        "tools[0].function.name",
        None,
    ),
    "content": (
        _compact(_chat("You are Ann.")),
        _compact(_chat("You are Bob.")),
        Kind.CONTENT,
        "messages[0].content",
        None,
    ),
    "another question": (
        _compact(_chat(SYSTEM, "Why?")),
        _compact(_chat(SYSTEM, "How?")),
        Kind.CONTENT,
        "messages[1].content",
        None,
    ),
    "next turn": (
        _compact(_chat(SYSTEM, "Why?")),
        _compact(_chat(SYSTEM, "Why?", "So.", "Oh?")),
        Kind.NEXT_TURN,
        "messages",
        None,
    ),
    "next turn in one text": (b'{"inputs":"a"}', b'{"inputs":"a b"}', Kind.NEXT_TURN, "inputs", None),
    "next turn in one message": (
        b'{"messages":[{"role":"user","content":"a"}],"x":1}',
        b'{"messages":[{"role":"user","content":"a b"}],"x":1}',
        Kind.NEXT_TURN,
        "messages[0].content",
        None,
    ),
    "a shorter system prompt": (
        _compact(_chat("Be kind")),
        _compact(_chat("Be kind.")),
        Kind.CONTENT,
        "messages[0].content",
        None,
    ),
    "no prompt": (b'{"instances":[{"a":"x"}]}', b'{"instances":[{"a":"y"}]}', Kind.CONTENT, "instances[0].a", None),
    "cut short": (_compact(_chat()), _compact(_chat())[:40], Kind.LENGTH, "messages[0].content", None),
    "empty": (b"", b"{}", Kind.LENGTH, "the body", None),
    "not JSON": (b"text,1,2", b"text,1,3", Kind.NOT_JSON, "the body", None),
    "a list": (b'["a"]', b'["b"]', Kind.NOT_JSON, "[0]", None),
    "byte order mark": (b"\xef\xbb\xbf{}", b"{}", Kind.NOT_JSON, "the body", None),
    "utf-16": ('{"a":1}'.encode("utf-16-le"), '{"a":2}'.encode("utf-16-le"), Kind.NOT_JSON, "['\\x00a\\x00']", None),
    "invalid utf-8": (b'{"inputs":"\xff\xfe"}', b'{"inputs":"\xff\xfd"}', Kind.CONTENT, "inputs", None),
    "two values": (b"{} {}", b"{} []", Kind.NOT_JSON, "the body", None),
}


@pytest.mark.parametrize("name", CASES)
def test_kind_path_and_subject(name: str) -> None:
    left, right, kind, path, subject = CASES[name]
    for one, other in ((left, right), (right, left)):
        found = first_difference(one, other)
        assert found is not None
        assert (found.kind, found.path) == (kind, path)
        assert found.offset == shared_bytes(left, right)
    found = first_difference(left, right)
    assert found is not None
    assert found.subject == subject


def test_every_kind_has_a_case() -> None:
    assert {case[2] for case in CASES.values()} == set(DifferenceKind)


def test_equal_bodies_have_no_difference() -> None:
    assert first_difference(b"", b"") is None
    assert first_difference(b"{}", b"{}") is None


def test_the_excerpts() -> None:
    found = first_difference(b'{"inputs":"It is \n Monday"}', b'{"inputs":"It is \n Tuesday\xff"}')
    assert found is not None
    assert (found.lead, found.left, found.right) == ('{"inputs":"It is \\n ', 'Monday"}', 'Tuesday\\xff"}')


@pytest.mark.parametrize("wrong", ["{}", None, bytearray(b"{}")])
def test_only_bytes_are_compared(wrong: Any) -> None:
    with pytest.raises(PayloadError, match="differences are those of bytes: encode it as it is sent"):
        first_difference(b"{}", wrong)


JSON_LIKE = st.lists(
    st.sampled_from(
        [b"{", b"}", b"[", b"]", b",", b":", b'"', b'"a"', b'"messages"', b'"tools"', b"\\", b"\\u00e8", b"\\u"]
    )
    | st.sampled_from(
        [b" ", b"\n", b"1", b"-", b"e5", b"true", b"nul", b"\xff", b"\xc3", b"\xa8", b"\xef\xbb\xbf", b"\x00"]
    )
    | st.binary(max_size=4),
    max_size=24,
).map(b"".join)


@given(JSON_LIKE, JSON_LIKE, JSON_LIKE)
def test_no_bytes_are_more_than_a_difference(shared: bytes, left: bytes, right: bytes) -> None:
    one, other = shared + left, shared + right
    found = first_difference(one, other)
    if one == other:
        assert found is None
    else:
        assert found is not None
        assert one[: found.offset] == other[: found.offset]
        assert one[found.offset : found.offset + 1] != other[found.offset : found.offset + 1]
        assert found.path


@given(st.integers(0, 400), st.integers(0, 255))
def test_one_changed_byte_is_found_where_it_is(place: int, byte: int) -> None:
    body = _compact(_chat(SYSTEM * 3, "Perché?", model="m", tools=[_tool("a"), _tool("b")]))
    place %= len(body)
    changed = body[:place] + bytes([byte]) + body[place + 1 :]
    found = first_difference(body, changed)
    assert (found is None) == (changed == body)
    assert found is None or found.offset == place


def test_deep_and_long_bodies_are_read_in_time() -> None:
    deep = b'{"a":' + b"[" * 50_000
    found = first_difference(deep + b"1", deep + b"2")
    assert found is not None
    assert len(found.path) < 200
    wide = b'{"a":' + b"[" * 10_000 + b'"x",' * 10_000
    found = first_difference(wide + b'{"b":1}', wide + b'{"c":1}')
    assert found is not None
    assert found.kind is Kind.CONTENT
    open_text = b'{"inputs":"' + b"a\\" * 300_000
    found = first_difference(open_text + b"1", open_text + b"2")
    assert found is not None
    assert found.path == "inputs"
