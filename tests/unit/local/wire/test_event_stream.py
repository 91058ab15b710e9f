"""The event stream that is written here is what botocore reads."""

from __future__ import annotations

import json

from botocore.eventstream import EventStreamBuffer
from hypothesis import given
from hypothesis import strategies as st

from warmstack.local.wire.event_stream import (
    MODEL_INVOCATION_TIME_EXCEEDED,
    model_stream_error,
    payload_part,
)


@given(st.lists(st.binary(max_size=2000), max_size=8), st.integers(1, 64))
def test_parts_come_through_in_any_pieces(parts: list[bytes], size: int) -> None:
    wire = b"".join(payload_part(part) for part in parts)
    buffer = EventStreamBuffer()
    read = []
    for at in range(0, len(wire), size):
        buffer.add_data(wire[at : at + size])
        read += list(buffer)
    assert [event.payload for event in read] == parts
    for event in read:
        assert event.headers == {
            ":message-type": "event",
            ":event-type": "PayloadPart",
            ":content-type": "application/octet-stream",
        }


def test_errors_are_exceptions_with_their_members() -> None:
    buffer = EventStreamBuffer()
    buffer.add_data(model_stream_error("ü" * 3000, MODEL_INVOCATION_TIME_EXCEEDED))
    (first,) = list(buffer)
    assert first.headers[":exception-type"] == "ModelStreamError"
    assert json.loads(first.payload) == {"Message": "ü" * 2048, "ErrorCode": "ModelInvocationTimeExceeded"}
    assert first.headers[":message-type"] == "exception"
