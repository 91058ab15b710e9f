"""Canonical bytes: what they are, that they hold the same value, and what is refused."""

from __future__ import annotations

import collections
import copy
import dataclasses
import datetime as dt
import enum
import json
import random
import re
import sys
import threading
import types
import uuid
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warmstack.payload import PayloadError, canonical

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | st.sampled_from(["null", "NaN", "\u2028", "è", "😀", "\x00"])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=8
)
PARTS = st.dictionaries(st.sampled_from(["type", "text", "image_url", "cache_control"]) | TEXTS, VALUES, max_size=3)
FUNCTIONS = st.dictionaries(st.sampled_from(["name", "arguments", "description", "parameters"]), VALUES, max_size=4)
CALLS = st.fixed_dictionaries(
    {}, optional={"id": TEXTS, "type": TEXTS, "function": FUNCTIONS | VALUES, "index": VALUES}
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["system", "user", "assistant", "tool"]) | VALUES,
        "content": TEXTS | st.lists(PARTS | VALUES, max_size=3) | VALUES,
        "name": TEXTS,
        "tool_calls": st.lists(CALLS, max_size=2) | VALUES,
        "tool_call_id": TEXTS,
        "reasoning_content": TEXTS,
    },
)
TOOLS = st.lists(st.fixed_dictionaries({"type": st.just("function"), "function": FUNCTIONS}) | VALUES, max_size=3)
BODIES = st.fixed_dictionaries(
    {},
    optional={
        "messages": st.lists(MESSAGES, max_size=4) | VALUES,
        "tools": TOOLS | VALUES,
        "inputs": VALUES,
        "prompt": TEXTS,
        "parameters": VALUES,
        "model": TEXTS,
        "stream": st.booleans(),
        "temperature": st.floats(0, 2),
        "seed": st.integers(0, 9),
        "zebra": VALUES,
        "\U0001f600": VALUES,
    },
)


def _shuffled(value: Any, rng: random.Random) -> Any:
    if isinstance(value, dict):
        items = [(key, _shuffled(one, rng)) for key, one in value.items()]
        rng.shuffle(items)
        return dict(items)
    return [_shuffled(one, rng) for one in value] if isinstance(value, list) else value


def _without_tool_order(body: Any) -> Any:
    tools = body.get("tools")
    if isinstance(tools, list):
        return body | {"tools": sorted(map(json.dumps, tools))}
    return body


@settings(deadline=None)
@given(BODIES)
def test_it_parses_to_the_same_value(body: dict[str, Any]) -> None:
    read = json.loads(canonical(body))
    expected = json.loads(json.dumps(body))
    assert sorted(map(repr, read)) == sorted(map(repr, expected))
    sort = {"sort_keys": True}
    if isinstance(body.get("tools"), list):
        assert sorted(json.dumps(one, **sort) for one in read.pop("tools")) == sorted(
            json.dumps(one, **sort) for one in expected.pop("tools")
        )
    # As text, so that 1, 1.0 and True differ, and -0.0 and 0.0.
    assert json.dumps(read, **sort) == json.dumps(expected, **sort)


@settings(deadline=None)
@given(BODIES)
def test_it_is_idempotent_and_changes_nothing(body: dict[str, Any]) -> None:
    before = copy.deepcopy(body)
    order = json.dumps(body)
    once = canonical(body)
    assert canonical(json.loads(once)) == once
    assert body == before
    assert json.dumps(body) == order


@settings(deadline=None)
@given(BODIES, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(body: dict[str, Any], rng: random.Random) -> None:
    assert canonical(_shuffled(body, rng)) == canonical(body)


@settings(deadline=None)
@given(BODIES)
def test_it_is_compact_utf_8_without_needless_escapes(body: dict[str, Any]) -> None:
    text = canonical(body).decode()
    strings = re.findall(r'"(?:[^"\\]|\\.)*"', text)
    assert not re.search(r"\s", re.sub(r'"(?:[^"\\]|\\.)*"', "", text))
    for escape in re.findall(r"\\(?:u[0-9a-f]{4}|.)", "".join(strings)):
        assert escape[1] in '"\\bfnrt' or int(escape[2:], 16) < 0x20


def _keys(body: dict[str, Any]) -> list[str]:
    return list(json.loads(canonical(body)))


def test_the_order_on_the_outside() -> None:
    body = {
        "stream": True, "seed": 7, "user": "u", "metadata": {}, "max_tokens": 5, "temperature": 0.1, "model": "m",
        "response_format": {}, "tools": [], "messages": [], "chat_template_kwargs": {}, "prompt_cache_key": "k",
        "stream_options": {},
    }  # fmt: skip
    assert _keys(body) == [
        "messages", "tools", "chat_template_kwargs", "response_format", "max_tokens", "temperature", "model", "stream",
        "stream_options", "user", "metadata", "prompt_cache_key", "seed",
    ]  # fmt: skip
    assert _keys({"stream": True, "parameters": {}, "inputs": "x"}) == ["inputs", "parameters", "stream"]
    assert _keys({"model": "m", "echo": True, "max_tokens": 1, "suffix": "}", "prompt": "x"}) == [
        "prompt", "suffix", "echo", "max_tokens", "model",
    ]  # fmt: skip


def test_the_order_in_messages_parts_and_calls() -> None:
    message = {
        "tool_call_id": "c",
        "tool_calls": [
            {"function": {"strict": 1, "arguments": "{}", "name": "f"}, "index": 0, "type": "function", "id": "1"}
        ],
        "reasoning_content": "r",
        "content": [
            {"text": "t", "cache_control": {"type": "x", "a": 1}, "type": "text"},
            {"image_url": {"url": "u", "detail": "low"}, "type": "image_url"},
        ],
        "name": "n",
        "role": "assistant",
    }
    assert canonical({"messages": [message, {"content": "c", "role": "user"}]}).decode() == (
        '{"messages":[{"role":"assistant","name":"n","content":[{"type":"text","text":"t","cache_control":{"a":1,'
        '"type":"x"}},{"type":"image_url","image_url":{"detail":"low","url":"u"}}],"tool_calls":[{"id":"1","type":'
        '"function","function":{"name":"f","arguments":"{}","strict":1},"index":0}],"tool_call_id":"c",'
        '"reasoning_content":"r"},{"role":"user","content":"c"}]}'
    )


def _tool(name: str | None, **more: object) -> dict[str, object]:
    return {"type": "function", "function": ({"name": name} if name else {}) | more}


def test_tools_are_sorted_by_name_and_the_rest_keeps_its_order() -> None:
    tools = [
        _tool("b"),
        _tool(None, x=1),
        {"name": "a"},
        _tool("b", x=2),
        _tool(None),
        "odd",
        _tool("b", x=1),
        {"name": 3},
    ]
    read = json.loads(canonical({"messages": [], "tools": tools}))["tools"]
    assert read == [
        {"name": "a"}, _tool("b"), _tool("b", x=2), _tool("b", x=1), _tool(None, x=1), _tool(None), "odd", {"name": 3},
    ]  # fmt: skip


def test_the_same_tools_in_any_order_are_the_same_bytes_also_in_turns() -> None:
    first, second = [_tool("b", z=1, a=2), _tool("a")], [_tool("a"), _tool("b", a=2, z=1)]
    other = [_tool("c")]
    made = [canonical({"tools": tools}) for tools in (first, second, other, first, first, second)]
    assert made[0] == made[1] == made[3] == made[4] == made[5] != made[2]


def test_a_nan_in_tools_is_refused_also_after_the_same_tools_with_none() -> None:
    assert canonical({"tools": [{"name": "a", "default": None}]}) == canonical(
        {"tools": [{"default": None, "name": "a"}]}
    )
    with pytest.raises(PayloadError, match=r"tools\[0\]\.default is nan"):
        canonical({"tools": [{"name": "a", "default": float("nan")}]})


def test_a_request_for_a_session_is_a_body_too() -> None:
    assert canonical({"requestType": "NEW_SESSION"}) == b'{"requestType":"NEW_SESSION"}'


def test_mappings_tuples_enumerations_and_uuids_count_as_what_they_hold() -> None:
    class Role(enum.StrEnum):
        user = "user"

    class Key(enum.StrEnum):
        model = "model"

    one = uuid.UUID("2c776661-eb5f-4d5e-9f83-23b731f32556")
    expected = canonical({"messages": [{"role": "user", "content": "x"}], "model": str(one)})
    ordered = collections.OrderedDict(content="x", role=Role.user)
    assert canonical(types.MappingProxyType({Key.model: one, "messages": (ordered,)})) == expected
    assert canonical({Key.model: one, "messages": [ordered]}) == canonical({"messages": [ordered], "model": one})


def test_numbers_stay_as_they_are() -> None:
    body = {"parameters": {"a": 1.0, "b": 1, "c": -0.0, "e": 2**64 - 1, "f": -(2**63), "g": True}}
    assert canonical(body) == (
        b'{"parameters":{"a":1.0,"b":1,"c":-0.0,"e":18446744073709551615,"f":-9223372036854775808,"g":true}}'
    )


@dataclasses.dataclass
class Point:
    x: int


class Color(enum.Enum):
    bad = float("inf")


class Degrees(float):
    """What numpy.float64 is: a float that the serializer takes for none."""


class Pair(NamedTuple):
    a: int


class Odd:
    """Something that knows how to become a dict."""

    def model_dump(self) -> dict[str, object]:
        return {}


CIRCLE: dict[str, Any] = {"messages": [{"role": "user", "content": []}]}
CIRCLE["messages"][0]["content"].append(CIRCLE["messages"])
DEEP: Any = "x"
for _ in range(300):
    DEEP = [DEEP]

REFUSED = {
    "nan": ({"temperature": float("nan")}, "temperature is nan; JSON has no NaN and no infinities: leave the key out"),
    "infinity": ({"messages": [{"role": "user", "w": [1, -float("inf")]}]}, "messages[0].w[1] is -inf;"),
    "nan content": ({"messages": [{"role": "user", "content": float("nan")}]}, "messages[0].content is nan;"),
    "nan role": ({"messages": [{"role": float("nan"), "content": "x"}]}, "messages[0].role is nan;"),
    "nan part": ({"messages": [{"content": [{"text": float("nan")}]}]}, "messages[0].content[0].text is nan;"),
    "nan enumeration": ({"parameters": {"x": Color.bad}}, "parameters.x is inf;"),
    "surrogate": (
        {"messages": [{"role": "user", "content": "ab\ud800"}]},
        "messages[0].content holds half of a surrogate pair, \\ud800 at character 2; UTF-8 has no bytes for it:",
    ),
    "surrogate key": ({"metadata": {"\udfff": 1}}, "metadata has the key '\\udfff', which holds half of a"),
    "surrogate at the top": ({"\udfff": 1}, "the body has the key '\\udfff', which holds half of a surrogate pair"),
    "key": ({"metadata": {1: 2}}, "metadata has the key 1 of type int; keys in JSON are text: write str(key)"),
    "top key": ({1: 2, "messages": []}, "the body has the key 1 of type int; keys in JSON are text: write str(key)"),
    "message key": ({"messages": [{2: 1, "role": "user"}]}, "messages[0] has the key 2 of type int;"),
    "none as a key": ({"a": {None: 1}}, "a has the key None of type NoneType;"),
    "large": ({"seed": 2**64}, "seed is a whole number beyond 64 bits; JSON readers lose its digits: send it as text"),
    "small": ({"parameters": {"seed": -(2**63) - 1}}, "parameters.seed is a whole number beyond 64 bits;"),
    "date": (
        {"metadata": {"at": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)}},
        "metadata.at is a datetime.datetime; JSON has no such type: send value.isoformat(), and never before the",
    ),
    "dataclass": ({"parameters": Point(x=1)}, "; JSON has no such type: send dataclasses.asdict(value)"),
    "bytes": ({"inputs": b"x"}, "inputs is a bytes; JSON has no such type: send text, or the base64 of the bytes"),
    "set": ({"stop": {"x"}}, "stop is a set; JSON has no such type: send sorted(value)"),
    "model": ({"messages": [Odd()]}, "; JSON has no such type: send value.model_dump()"),
    "object": ({"messages": [object()]}, "messages[0] is an object; JSON has no such type: build the body of"),
    "mapping within": ({"metadata": types.MappingProxyType({})}, "metadata is a mappingproxy; JSON has no such type:"),
    "circle": (CIRCLE, "contains itself; JSON has no cycles: send a copy of the inner value"),
    "deep": ({"metadata": DEEP}, " is nested 251 levels deep; at most 250 can be written: flatten it"),
    "kind of float": (
        {"a": [{"temperature": Degrees(0.5)}]},
        "Degrees; only a plain float is a number of JSON: send fl",
    ),
    "kind of tuple": ({"metadata": {"at": Pair(1)}}, "metadata.at is a tests.unit.payload.test_canonical.Pair; only a"),
    "odd key": ({"a b": {"c-d": {"e": [set()]}}}, "['a b'].c-d.e[0] is a set;"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_json_cannot_say_is_refused(name: str) -> None:
    body, message = REFUSED[name]
    with pytest.raises(PayloadError) as caught:
        canonical(body)  # type: ignore[arg-type]
    assert message in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(("body", "shown"), [([], "of type list"), ("{}", "'{}'"), (None, "None")])
def test_a_body_is_an_object(body: Any, shown: str) -> None:
    with pytest.raises(PayloadError) as caught:
        canonical(body)
    assert str(caught.value) == f"the body is {shown}; a request is a JSON object: build a dict"


def test_what_only_the_serializer_refuses_is_told_in_its_words() -> None:
    class Text(str):
        __slots__ = ()

    with pytest.raises(PayloadError, match=r"metadata has the key 'a' of type Text; keys in JSON are text"):
        canonical({"metadata": {Text("a"): 1}})
    almost: Any = "x"
    for _ in range(245):
        almost = [almost]
    assert canonical({"metadata": almost}).count(b"[") == 245


def test_a_long_null_text_is_no_nan() -> None:
    body = {"tools": [{"name": "null", "default": None}], "messages": [{"role": "user", "content": ["null", None]}]}
    assert json.loads(canonical(body)) == body


class Name(enum.Enum):
    a = "a"
    b = "b"


def test_names_that_are_members_of_an_enumeration_are_sorted_by_their_value() -> None:
    members: list[dict[str, object]] = [{"name": Name.b}, {"name": "c"}, {"name": Name.a}]
    texts = [{"name": "a"}, {"name": "b"}, {"name": "c"}]
    assert canonical({"tools": members}) == canonical({"tools": texts}) == canonical({"tools": members})


def test_threads_get_their_own_tools() -> None:
    wrong: list[bytes] = []

    def work(number: int) -> None:
        body = {"tools": [_tool(f"{number}-{place}") for place in range(20)]}
        expected = json.dumps(body["tools"][0], separators=(",", ":"), sort_keys=True).encode()
        wrong.extend(made for made in (canonical(body) for _ in range(300)) if expected not in made)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []
