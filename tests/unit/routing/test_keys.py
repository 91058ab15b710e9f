"""Prefixes and keys."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstack.routing import ShortBodies, TextParts, body_prefix, messages_prefix, route_key


def test_the_prefix_of_a_body_is_its_first_bytes() -> None:
    assert body_prefix(b"abcdef", 4).data == b"abcd"
    assert not body_prefix(b"abcd", 4).short
    assert body_prefix(b"abc", 4).short


def test_messages_count_by_characters_of_their_texts() -> None:
    messages = [
        {"role": "system", "content": "caffè"},
        {"role": "user", "content": [{"type": "text", "text": "uno"}, {"type": "image_url", "image_url": {}}]},
        {"role": "user", "content": [{"type": "text", "text": "due"}]},
    ]
    assert messages_prefix(messages, 7).data == "caffèun".encode()
    assert messages_prefix(messages, 11).data == "caffèunodue".encode()
    assert not messages_prefix(messages, 11).short
    assert messages_prefix(messages, 12).short


def test_texts_are_joined_as_chosen() -> None:
    messages = [{"role": "user", "content": "ab"}, {"role": "user", "content": "cd"}]
    assert messages_prefix(messages, 4, text_parts=TextParts.CONCATENATED).data == b"abcd"
    assert messages_prefix(messages, 4, text_parts=TextParts.LINES).data == b"ab\nc"
    assert messages_prefix(messages, 3, text_parts=TextParts.LINES).data == b"ab\n"


def test_roles_and_names_do_not_count() -> None:
    one = messages_prefix([{"role": "user", "name": "ada", "content": "x"}], 8)
    assert one == messages_prefix([{"content": "x"}], 8)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(["\ud800"]),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["role", "content", "text", "type"]), inner),
    max_leaves=12,
)


@given(messages=json_values, length=st.integers(1, 20), joined=st.sampled_from(TextParts))
def test_any_json_has_a_prefix(messages: object, length: int, joined: TextParts) -> None:
    prefix = messages_prefix(messages, length, text_parts=joined)
    characters = len(prefix.data.decode("utf-8", "surrogatepass"))
    assert characters <= length
    assert prefix.short == (characters < length)
    assert prefix == messages_prefix(json.loads(json.dumps(messages)), length, text_parts=joined)


def test_a_key_is_of_the_prefix_and_the_identifier() -> None:
    def key(body: bytes, name: str | None) -> object:
        return route_key(body_prefix(body, 64), name)

    assert key(b"c", "ab") != key(b"bc", "a")
    assert key(b"c", "ab") == key(b"c", "ab")
    assert key(b"c", "xy") != key(b"c", "ab")
    assert key(b"c", None) != key(b"c", "ab")
    assert key(b"c", None) != key(b"c", "")
    assert key(b"c" * 64 + b"one", "ab") == key(b"c" * 64 + b"two", "ab")


def test_a_key_holds_nothing_of_the_body() -> None:
    key = route_key(body_prefix(b"secret" * 100, 4096))
    assert key is not None
    assert len(key.digest) == 16
    assert b"secret" not in key.digest
    assert str(key) == f"{key.digest.hex()[:8]}…"


@pytest.mark.parametrize(("body", "choice", "keyed"), [
    (b"abc", ShortBodies.WHOLE_BODY, True),
    (b"abc", ShortBodies.UNKEYED, False),
    (b"abcd", ShortBodies.UNKEYED, True),
    (b"", ShortBodies.WHOLE_BODY, True),
])  # fmt: skip
def test_short_bodies_have_a_key_by_choice(body: bytes, choice: ShortBodies, keyed: bool) -> None:
    assert (route_key(body_prefix(body, 4), "id", short_bodies=choice) is not None) == keyed
