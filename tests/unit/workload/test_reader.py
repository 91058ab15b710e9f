"""Every format is read as it was sent; every broken file has a message that names the line and the way out."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.workload.files import agent_row, captured, chat, compact
from warmstack.workload import WorkloadError, WorkloadFormat, read_requests
from warmstack.workload.lines import Line

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def file(*rows: bytes, name: str = "requests.jsonl", end: bytes = b"\n") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = b"".join(row + end for row in rows)
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return file


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n  \n"])
@pytest.mark.parametrize("name", ["requests.jsonl", "requests.jsonl.gz"])
def test_jsonl_bodies_are_verbatim(write: Write, name: str, end: bytes) -> None:
    bodies = [json.dumps(chat("Perché?")).encode(), compact(chat("Perché?")) + b" ", rb'{"inputs": "a\/b", "x": NaN}']
    path = write(*bodies, name=name, end=end)
    found = list(read_requests(path))
    assert [one.body for one in found] == bodies
    assert {one.format for one in found} == {WorkloadFormat.JSONL}
    assert (found[0].place, found[0].conversation, found[0].time) == (f"{path}:1", None, None)


def test_data_capture(write: Write) -> None:
    body = json.dumps(chat("Perché?")).encode()
    path = write(captured(body), captured(body, "BASE64"), captured(b"1,2", "CSV", time="no time"))
    found = list(read_requests(str(path)))
    assert [one.body for one in found] == [body, body, b"1,2"]
    assert [one.time for one in found] == [1782900000.0, 1782900000.0, None]
    assert {one.format for one in found} == {WorkloadFormat.CAPTURE}


def test_a_captured_body_that_is_json_and_not_its_text(write: Write) -> None:
    row = json.loads(captured(b"{}"))
    row["captureData"]["endpointInput"]["data"] = {"inputs": "è"}
    del row["captureData"]["endpointInput"]["encoding"]
    del row["eventMetadata"]
    (found,) = read_requests(write(compact(row)))
    assert (found.body, found.time) == ('{"inputs":"è"}'.encode(), None)


@pytest.mark.parametrize("name", ["trace.jsonl", "trace.jsonl.gz"])
def test_agent_traces_in_the_order_of_their_times(write: Write, name: str) -> None:
    rows = [agent_row(3_000_000, "abc"), agent_row(1_000_000, "a"), b"", agent_row(2_500_000, 'a\n"è')]
    found = list(read_requests(write(*rows, name=name)))
    assert [one.body.decode() for one in found] == [
        '{"messages":[{"role":"user","content":"a"}]}',
        '{"messages":[{"role":"user","content":"a\\n\\"è"}]}',
        '{"messages":[{"role":"user","content":"abc"}]}',
    ]
    assert [(one.line, one.time, one.conversation) for one in found] == [(2, 1.0, "s"), (4, 2.5, "s"), (1, 3.0, "s")]


def test_a_folder_in_the_order_of_names(write: Write, tmp_path: Path) -> None:
    write(compact({"inputs": "2"}), name="all/b.jsonl")
    write(captured(b'{"inputs":"1"}'), name="all/a/x.jsonl")
    write(compact({"inputs": "3"}), name="all/c.jsonl.gz")
    write(b"not read", name="all/.hidden/x.jsonl")
    write(name="all/d-empty.jsonl")
    assert [one.body for one in read_requests(tmp_path / "all")] == [
        b'{"inputs":"1"}',
        b'{"inputs":"2"}',
        b'{"inputs":"3"}',
    ]


def test_one_request_at_a_time(write: Write) -> None:
    found = read_requests(write(compact({"inputs": "1"}), b"broken"))
    assert next(found).body == b'{"inputs":"1"}'
    with pytest.raises(WorkloadError):
        next(found)


AGENT = agent_row(1, "a")
CAPTURED = captured(b"{}")
BROKEN: dict[str, tuple[list[bytes], WorkloadFormat | None, str]] = {
    "no JSON": ([b'{"inputs":"x"}', b'{"inputs": x}'], None, ":2: the line is no JSON: "),
    "cut": ([b'{"inputs":"x"}', b"{"], None, ":2: the line is no JSON: "),
    "pretty": (
        [b"{", b'"inputs": "x"', b"}"],
        None,
        ":1: one JSON document over several lines; there must be one object",
    ),
    "array": (
        [b'[{"inputs":"x"}]'],
        None,
        ":1: the line is a JSON array, and a request is an object; write one object a",
    ),
    "text": ([b'"x"'], None, ":1: the line is a JSON string,"),
    "number": ([b"1"], None, ":1: the line is a JSON number,"),
    "boolean": ([b"true"], None, ":1: the line is a JSON boolean,"),
    "null": ([b"null"], None, ":1: the line is a JSON null,"),
    "deep": ([b"[" * 100_000], None, ":1: the line is no JSON: "),
    "mark": ([b'\xef\xbb\xbf{"inputs":"x"}'], None, ":1: the file begins with a byte order mark,"),
    "utf-16": (['{"inputs":"x"}'.encode("utf-16")], None, ":1: the line is no JSON: "),
    "csv": ([b"TIMESTAMP,ContextTokens"], None, ":1: the line is no JSON: "),
    "mooncake": (
        [b'{"timestamp":0,"input_length":10,"output_length":5,"hash_ids":[1]}'],
        None,
        ":1: this is a trace of lengths and block hashes (Mooncake's form) without bodies; bytes can be",
    ),
    "two formats": (
        [b'{"inputs":"x"}', CAPTURED],
        None,
        ":2: the line has captureData, and is no body; keep each format in files of its own, or name --format",
    ),
    "two formats, recorded": ([b'{"inputs":"x"}', b'{"warmstack_request":1}'], None, ":2: the line has warmstack_requ"),
    "not captured": ([b"{}"], WorkloadFormat.CAPTURE, ":1: captureData is missing;"),
    "no input": (
        [b'{"captureData":{"endpointOutput":{}}}'],
        None,
        ":1: captureData.endpointInput is missing; the endpoint",
    ),
    "encoding": (
        [CAPTURED.replace(b'"JSON"', b'["x"]')],
        None,
        ":1: captureData.endpointInput.encoding is ['x']; it must",
    ),
    "base64": ([CAPTURED.replace(b'"JSON"', b'"BASE64"')], None, ":1: captureData.endpointInput.data is no base64: "),
    "agent": ([b'{"input":"x","session_id":"s","timestamp":"now"}'], None, ":1: timestamp is no number;"),
    "agent time": (
        [b'{"input":"x","session_id":"s","timestamp":' + b"9" * 400 + b"}"],
        None,
        ":1: timestamp is no number;",
    ),
    "agent input": ([AGENT, b'{"input":1,"timestamp":1}'], None, ":2: input or session_id is no text;"),
    "agent surrogate": (
        [AGENT.replace(b'"a"', rb'"\ud800"')],
        None,
        ":1: messages[0].content holds half of a surrogate",
    ),
    "recorded": (
        [b'{"warmstack_request":2}'],
        None,
        ":1: warmstack_request is 2; this version reads 1: upgrade Warmstack",
    ),
    "recorded body": (
        [b'{"warmstack_request":1}'],
        None,
        ":1: neither body nor body_base64 is text; leave the line out",
    ),
    "recorded base64": ([b'{"warmstack_request":1,"body_base64":"!"}'], None, ":1: body_base64 is no base64: "),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_read(write: Write, name: str) -> None:
    rows, form, message = BROKEN[name]
    path = write(*rows)
    with pytest.raises(WorkloadError) as caught:
        list(read_requests(path, form=form))
    assert str(caught.value).startswith(f"{path}{message}")


def test_files_that_are_not_there_or_hold_nothing(tmp_path: Path, write: Write) -> None:
    with pytest.raises(WorkloadError, match=r"absent\.jsonl cannot be read: No such file or directory"):
        list(read_requests(tmp_path / "absent.jsonl"))
    with pytest.raises(WorkloadError, match="holds no file; name a file of recorded requests"):
        list(read_requests(tmp_path))
    assert list(read_requests(write())) == []


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    for number, (row, told) in enumerate(
        [(b'{"inputs":"x"}', None), (agent_row(1, "x"), "is no file, and an agent trace")]
    ):
        path = tmp_path / str(number)
        os.mkfifo(path)
        writer = threading.Thread(target=path.write_bytes, args=(row + b"\n",))
        writer.start()
        if told is None:
            assert [one.body for one in read_requests(path)] == [row]
        else:
            with pytest.raises(WorkloadError, match=told):
                list(read_requests(path))
        writer.join()


@pytest.mark.parametrize("row", [compact(chat("x" * 9000)), agent_row(1, "x" * 9000)])
def test_damaged_archives(tmp_path: Path, row: bytes) -> None:
    path = tmp_path / "a.jsonl.gz"
    whole = gzip.compress(b"\n".join([row] * 9), compresslevel=0)
    for data in (whole[: len(whole) // 2], whole[:30000] + b"y" * 100 + whole[30100:], whole[:6]):
        path.write_bytes(data)
        with pytest.raises(WorkloadError, match="copy the file again"):
            list(read_requests(path))


def test_a_line_without_end(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warmstack.workload.lines._LONGEST_LINE", 50)
    with pytest.raises(
        WorkloadError, match=r":2: the line is longer than 50 bytes, and SageMaker takes bodies of up to"
    ):
        list(read_requests(write(b"{}", b"x" * 60)))


@settings(deadline=None)
@given(
    st.binary(max_size=60)
    | st.sampled_from([AGENT, CAPTURED]).flatmap(lambda row: st.binary(max_size=9).map(row.__add__))
)
def test_no_line_is_more_than_a_typed_error(data: bytes) -> None:
    from warmstack.workload.formats import format_of, request_of

    line = Line(source="f", number=1, data=data)
    for form in (None, *WorkloadFormat):
        with contextlib.suppress(WorkloadError):
            request_of(line, form or format_of(line))
