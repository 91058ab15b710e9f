"""From a line of a file to a request, for each format, and which format a file has."""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from warmstack.payload import PayloadError, canonical
from warmstack.workload.lines import Line
from warmstack.workload.requests import RecordedRequest, WorkloadFormat

MARK = "warmstack_request"
"""The key that says that a line was written by the recorder, with the version of the form."""
VERSION = 1
_MICROSECONDS = 1_000_000


def format_of(line: Line) -> WorkloadFormat:
    """Return the format of a file by its first line.

    Raises:
        WorkloadError: the line is no JSON object, or one of a trace without bodies.
    """
    row = line.parsed()
    if "hash_ids" in row and "messages" not in row:
        raise line.error(
            "this is a trace of lengths and block hashes (Mooncake's form) without bodies; bytes can be compared in "
            "JSONL bodies, SageMaker data capture, agent traces and the files of warmstack.workload.Recorder"
        )
    if MARK in row:
        return WorkloadFormat.RECORDED
    if "captureData" in row:
        return WorkloadFormat.CAPTURE
    if isinstance(row.get("input"), str) and "session_id" in row and "timestamp" in row:
        return WorkloadFormat.AGENT
    return WorkloadFormat.JSONL


def request_of(line: Line, form: WorkloadFormat) -> RecordedRequest:
    """Return the request of a line.

    Raises:
        WorkloadError: the line has not that format.
    """
    return _READERS[form](line)


def agent_time(line: Line) -> float:
    """Return when a row of an agent trace was sent, in seconds since 1970."""
    stamp = _number(line.parsed().get("timestamp"))
    if stamp is None:
        raise line.error("timestamp is no number; agent traces hold microseconds since 1970: name another --format")
    return stamp / _MICROSECONDS


def _jsonl(line: Line) -> RecordedRequest:
    row = line.parsed()
    # Guard: taken for bodies, such lines would be requests of a form that no server gets, and count as such.
    other = next((name for name in (MARK, "captureData") if name in row), None)
    if other is not None:
        raise line.error(
            f"the line has {other}, and is no body; keep each format in files of its own, or name --format"
        )
    return RecordedRequest(body=line.data, source=line.source, line=line.number, format=WorkloadFormat.JSONL)


def _capture(line: Line) -> RecordedRequest:
    row = line.parsed()
    captured, event = row.get("captureData"), row.get("eventMetadata")
    if not isinstance(captured, dict):
        raise line.error("captureData is missing; each line of SageMaker's data capture has it: name another --format")
    given = captured.get("endpointInput")
    if not isinstance(given, dict) or "data" not in given:
        raise line.error(
            "captureData.endpointInput is missing; the endpoint captures no requests: add Input to the CaptureOptions "
            "of its DataCaptureConfig"
        )
    encoding = given.get("encoding", "JSON")
    return RecordedRequest(
        body=_captured_body(line, given["data"], encoding),
        source=line.source,
        line=line.number,
        format=WorkloadFormat.CAPTURE,
        time=_event_time(event if isinstance(event, dict) else {}),
    )


def _captured_body(line: Line, data: object, encoding: object) -> bytes:
    if encoding == "BASE64" and isinstance(data, str):
        return _from_base64(line, data, "captureData.endpointInput.data")
    if encoding in ("JSON", "CSV"):
        # Guard: some tools write the body as JSON and not as its text; how its bytes looked is lost then.
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "surrogatepass")
    raise line.error(
        f"captureData.endpointInput.encoding is {encoding!r}; it must be JSON, CSV or BASE64: leave the line out"
    )


def _event_time(event: Mapping[str, Any]) -> float | None:
    try:
        time = dt.datetime.fromisoformat(str(event.get("inferenceTime")))
    except ValueError:
        return None
    return (time if time.tzinfo else time.replace(tzinfo=dt.UTC)).timestamp()


def _agent(line: Line) -> RecordedRequest:
    row = line.parsed()
    given, session = row.get("input"), row.get("session_id")
    if not isinstance(given, str) or not isinstance(session, str):
        raise line.error("input or session_id is no text; each row of an agent trace has both: name another --format")
    try:
        # The trace holds the conversation so far as one text, without roles: one message is the least that it can be.
        body = canonical({"messages": [{"role": "user", "content": given}]})
    except PayloadError as error:
        raise line.error(str(error)) from error
    return RecordedRequest(
        body=body,
        source=line.source,
        line=line.number,
        format=WorkloadFormat.AGENT,
        conversation=session,
        time=agent_time(line),
    )


def _recorded(line: Line) -> RecordedRequest:
    row = line.parsed()
    if row.get(MARK) != VERSION:
        raise line.error(f"{MARK} is {row.get(MARK)!r}; this version reads {VERSION}: upgrade Warmstack")
    if isinstance(row.get("body"), str):
        body = row["body"].encode("utf-8", "surrogatepass")
    elif isinstance(row.get("body_base64"), str):
        body = _from_base64(line, row["body_base64"], "body_base64")
    else:
        raise line.error("neither body nor body_base64 is text; leave the line out")
    return RecordedRequest(
        body=body,
        source=line.source,
        line=line.number,
        format=WorkloadFormat.RECORDED,
        conversation=_text(row.get("session_id")),
        time=_number(row.get("time")),
        prefix_aware_id=_text(row.get("prefix_aware_id")),
        endpoint=_text(row.get("endpoint")),
        component=_text(row.get("component")),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _from_base64(line: Line, data: str, key: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise line.error(f"{key} is no base64: {error}; leave the line out") from None


_READERS: Mapping[WorkloadFormat, Callable[[Line], RecordedRequest]] = {
    WorkloadFormat.JSONL: _jsonl,
    WorkloadFormat.CAPTURE: _capture,
    WorkloadFormat.AGENT: _agent,
    WorkloadFormat.RECORDED: _recorded,
}
