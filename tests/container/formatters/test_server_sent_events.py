"""Events are the same wherever the stream was cut."""

from __future__ import annotations

import itertools

from hypothesis import example, given
from hypothesis import strategies as st

from server_sent_events import Event, EventReader


def read(parts: list[bytes]) -> list[Event]:
    reader = EventReader()
    events = [event for part in parts for event in reader.feed(part)]
    return events + reader.rest()


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    ends = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    return [stream[start:end] for start, end in itertools.pairwise(ends)]


PIECES = st.sampled_from(
    [
        b"data: {}",
        b"data:x",
        b"data",
        b"event: e",
        b": keep",
        *(b"\n", b"\r", b"\r\n", b"\n\n", b"\r\n\r\n"),
        b"\xff\xc3",
    ]
)


@given(st.lists(PIECES, max_size=12).map(b"".join), st.lists(st.integers(0, 10**6), max_size=6))
@example(b"data: a\r\n\r\ndata: b\r\r\ndata: c\n\n", [9, 10, 21, 22])
def test_any_cut_reads_the_same(stream: bytes, places: list[int]) -> None:
    whole = read([stream])
    assert read(cut(stream, places)) == whole
    assert read([bytes([one]) for one in stream]) == whole


def test_the_forms_of_an_event() -> None:
    stream = 'event: e\r\ndata: {"a": 1}\r\n\r\n: alive\n\ndata: 1\ndata:2\n\nid: 7\n\ndata: "ü"'.encode()
    found = read([stream])
    assert [one.data for one in found] == ['{"a": 1}', None, "1\n2", None, '"ü"']
    assert found[0].others == ("event: e",)
    assert found[0].with_data("x\ny") == b"event: e\ndata: x\ndata: y\n\n"
    assert found[1].raw == b": alive"


def test_a_byte_order_mark_is_no_part_of_the_first_field() -> None:
    stream = b'\xef\xbb\xbfdata: {"a": 1}\n\n'
    for parts in ([stream], [bytes([one]) for one in stream], [stream.rstrip()]):
        assert [one.data for one in read(parts)] == ['{"a": 1}']
