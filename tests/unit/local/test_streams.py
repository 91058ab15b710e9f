"""InvokeEndpointWithResponseStream by a real boto3."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError, EventStreamError

from tests.unit.local.clients import chat, parts, runtime
from tests.unit.local.definitions import component, endpoint
from tests.unit.local.running import Local, running
from warmstack.local.platform.fault_orders import FaultOrder, inflict
from warmstack.local.simulated import Latency
from warmstack.local.wire.limits import Limits
from warmstack.local.wire.parts import Cut


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    with running(endpoint(), endpoint("parts", components=(component(copies=1),)), folder=tmp_path) as local:
        yield local


def stream(local: Local, body: bytes | None = None, **arguments: str) -> dict[str, object]:
    names = {"EndpointName": "demo", "ContentType": "application/json"} | arguments
    return runtime(local.url).invoke_endpoint_with_response_stream(Body=body or chat(stream=True), **names)


def until_error(response: dict[str, object]) -> tuple[list[bytes], dict[str, str]]:
    """Return what arrived before the stream's error, and the error."""
    received: list[bytes] = []
    try:
        for part in parts(response):
            received.append(part)  # noqa: PERF402  (what arrived before the error counts)
    except EventStreamError as error:
        return received, error.response["Error"]
    finally:
        response["Body"].close()  # type: ignore[attr-defined]
    raise AssertionError("the stream came to its end")


def test_a_stream_is_the_containers_own_bytes_in_parts(local: Local) -> None:
    response = stream(local)
    assert response["InvokedProductionVariant"] == "primary"
    assert response["ContentType"] == "text/event-stream; charset=utf-8"
    body = b"".join(parts(response))
    assert body.startswith(b"data: {")
    assert body.endswith(b"data: [DONE]\n\n")
    events = [json.loads(line[6:]) for line in body.splitlines() if line.startswith(b"data: {")]
    assert [event["choices"][0]["finish_reason"] for event in events] == [None, None, None, None, "length"]


@pytest.mark.parametrize("cut", [Cut.EVERY_BYTE, Cut.RANDOM])
def test_where_parts_end_can_be_chosen(tmp_path: Path, cut: Cut) -> None:
    with running(endpoint(), folder=tmp_path, cut=cut) as local:
        found = list(parts(stream(local)))
        whole = b"".join(found)
        assert whole.endswith(b"data: [DONE]\n\n")
        assert len(found) == len(whole) if cut is Cut.EVERY_BYTE else len(found) > 6


def test_a_body_that_asks_for_no_stream_comes_in_parts_all_the_same(local: Local) -> None:
    body = b"".join(parts(stream(local, chat())))
    assert json.loads(body)["object"] == "chat.completion"


def test_an_error_before_the_first_byte_is_an_ordinary_error(local: Local) -> None:
    with pytest.raises(ClientError) as raised:
        stream(local, chat(stream=True, max_tokens=0))
    assert raised.value.response["Error"]["Code"] == "ModelError"
    assert raised.value.response["OriginalStatusCode"] == 400


def test_no_session_is_opened_on_a_stream(local: Local) -> None:
    with pytest.raises(ClientError) as raised:
        stream(local, SessionId="NEW_SESSION")
    assert "failed to satisfy constraint" in raised.value.response["Error"]["Message"]


def test_a_stream_that_breaks_ends_with_stream_broken(local: Local) -> None:
    copies = list(local.platform.endpoints["demo"].copies)
    for name in copies:
        local.run(inflict(local.platform, FaultOrder(fault="cut", target=name, pieces=2)))
    received, error = until_error(stream(local))
    assert received[0].startswith(b"data: {")
    assert error["Code"] == "ModelStreamError"
    assert "the model process exited" in error["Message"]


def test_a_stream_that_takes_too_long_ends_with_its_own_text(tmp_path: Path) -> None:
    limits = Limits(stream_seconds=0.4)
    with running(endpoint(), folder=tmp_path, limits=limits, latency=Latency(decode_seconds_per_token=0.05)) as local:
        received, error = until_error(stream(local, chat(stream=True, max_tokens=1000)))
        assert received
        assert error == {
            "Code": "ModelStreamError",
            "Message": "Your model primary did not complete sending the inference response in the allotted time.",
        }


def test_a_client_that_goes_away_frees_its_copy(tmp_path: Path) -> None:
    with running(endpoint(), folder=tmp_path, latency=Latency(decode_seconds_per_token=0.02)) as local:
        response = stream(local, chat(stream=True, max_tokens=10_000))
        next(iter(response["Body"]))
        copies = list(local.platform.endpoints["demo"].copies.values())
        assert sum(copy.in_flight for copy in copies) == 1
        response["Body"].close()
        local.until(lambda: sum(copy.in_flight for copy in copies) == 0)
