"""The tree of failures: as it is drawn, each with its facts, and whole after a journey between processes."""

from __future__ import annotations

import inspect
import pickle
import re

import pytest

from warmstack.client import failures
from warmstack.client.answer import Response
from warmstack.client.failures import AnswerMalformed, EndpointError, ModelExited, NotReady, StreamInterrupted
from warmstack.errors import WarmstackError

KINDS = [one for _, one in inspect.getmembers(failures, inspect.isclass) if issubclass(one, EndpointError)]


def drawn() -> dict[str, str]:
    """Return each failure of the drawing, and the one above it."""
    above: dict[int, str] = {}
    found: dict[str, str] = {}
    for line in (failures.__doc__ or "").splitlines():
        match = re.match(r"    ((?:│   |    )*)(?:[├└]── )?([A-Z]\w+)", line)
        if match is None:
            continue
        depth = len(match[1]) // 4 + ("── " in line)
        above[depth] = match[2]
        found[match[2]] = above[depth - 1] if depth else WarmstackError.__name__
    return found


def test_the_tree_is_as_it_is_drawn() -> None:
    assert drawn() == {one.__name__: one.__bases__[0].__name__ for one in KINDS}


def test_every_failure_is_documented() -> None:
    assert all(one.__doc__ for one in KINDS)


def test_a_failure_tells_its_facts() -> None:
    error = ModelExited("it ended", code="ModelError", status=424, request_id="r", original_status=0)
    assert str(error) == error.message == "it ended"
    assert (error.code, error.status, error.request_id, error.original_status) == ("ModelError", 424, "r", 0)
    assert error.original_message is None
    assert error.retryable
    assert not ModelExited("it ended", retryable=False).retryable


def test_what_was_not_taken_can_be_sent_again() -> None:
    assert all(one("x").retryable for one in KINDS if issubclass(one, NotReady))


@pytest.mark.parametrize("kind", KINDS)
def test_a_failure_survives_a_journey_between_processes(kind: type[EndpointError]) -> None:
    error = kind("text", code="Code", status=500, retryable=True)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert (str(copy), vars(copy)) == (str(error), vars(error))


def test_an_interrupted_stream_has_what_arrived_and_the_facts_of_its_cause() -> None:
    cause = ModelExited("it ended", code="ModelStreamError", message="exited", original_message="bye")
    error = StreamInterrupted("the stream broke", response=Response(text="so f"), cause=cause)
    assert error.response == Response(text="so f")
    assert (error.code, error.message, error.original_message, error.retryable) == (
        "ModelStreamError",
        "exited",
        "bye",
        True,
    )
    assert StreamInterrupted("the stream broke").cause is None


def test_a_malformed_answer_keeps_its_beginning() -> None:
    assert AnswerMalformed("what is this", answer=b"x" * 5000).answer == b"x" * 2048
