"""The recorded bodies: whole, and with the order of members that decides what PREFIX_AWARE sees first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conversation import CASES, SYSTEM, TURNS, messages
from warmstack.payload import canonical

RECORDED = Path(__file__).parents[1] / "data" / "client_bodies"
FIRST = {
    "boto3": ("messages", "messages"),
    "huggingface": ("model, messages", "model, messages"),
    "langchain-aws": ("inputs", "inputs"),
    "langchain-openai": ("model, stream, messages", "model, stream, messages"),
    "litellm-openai": ("model, messages", "model, messages"),
    "litellm-sagemaker": ("parameters, inputs", "parameters, stream, inputs"),
    "litellm-sagemaker-chat": ("model, messages", "model, messages"),
    "openai": ("model, messages", "model, stream, messages"),
    "strands-openai": ("model, stream, messages", "model, stream, messages"),
    "strands-sagemaker": ("messages", "messages"),
}
"""The members up to the one that holds the conversation, whole and streamed."""


def bodies(client: str) -> list[bytes]:
    return (RECORDED / f"{client}.jsonl").read_bytes().splitlines()


def test_every_client_is_recorded() -> None:
    assert sorted(path.stem for path in RECORDED.iterdir()) == sorted(FIRST)


@pytest.mark.parametrize("client", FIRST)
def test_a_recording_holds_the_turns_of_each_case(client: str) -> None:
    found: list[dict[str, Any]] = [json.loads(body) for body in bodies(client)]
    assert len(found) in (len(TURNS) * len(CASES), len(TURNS) * 2)
    for number, document in enumerate(found):
        turn, case = number % len(TURNS), CASES[number // len(TURNS)]
        assert (document.get("tools") not in (None, [])) is (case == "tools")
        assert str(TURNS[turn].temperature) in json.dumps(document)
        if "messages" in document:
            roles = [one["role"] for one in document["messages"]]
            assert roles == [one["role"] for one in messages(turn)]
            assert document["messages"][0]["content"] == SYSTEM
        else:
            assert SYSTEM in document["inputs"]


@pytest.mark.parametrize("client", FIRST)
def test_what_stands_before_the_conversation(client: str) -> None:
    found = []
    for body in (bodies(client)[0], bodies(client)[len(TURNS)]):
        members = list(json.loads(body))
        at = next(members.index(name) for name in ("messages", "inputs") if name in members)
        found.append(", ".join(members[: at + 1]))
    assert tuple(found) == FIRST[client]


@pytest.mark.parametrize("client", FIRST)
def test_a_body_is_ascii_with_spaces_or_utf_8_without(client: str) -> None:
    by_hand = client.startswith(("boto3", "langchain-aws", "litellm-sagemaker", "strands-sagemaker"))
    for body in bodies(client):
        assert (b"\\u00e9" in body, b'": ' in body) == (by_hand, by_hand)


def test_canonical_bytes_begin_alike_for_all_chats_and_all_their_turns() -> None:
    found = {
        canonical(document)[:1024]
        for client in FIRST
        for body in bodies(client)
        if "messages" in (document := json.loads(body))
    }
    assert len(found) == 1
