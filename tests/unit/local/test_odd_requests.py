"""Requests that no client of AWS makes: an answer for each, and nothing told as a defect."""

from __future__ import annotations

import http.client
import json
import logging
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.unit.local.clients import chat
from tests.unit.local.definitions import component, endpoint
from tests.unit.local.running import Local, running

INVOKE = "/endpoints/demo/invocations"


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    definitions = endpoint(), endpoint("parts", components=(component(),))
    with running(*definitions, folder=tmp_path_factory.mktemp("local")) as local:
        yield local


@pytest.fixture(autouse=True)
def _nothing_is_told_as_a_defect(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.ERROR):
        yield
    assert caplog.records == []


def ask(local: Local, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(urlsplit(local.url).netloc, timeout=30)
    try:
        given = {"Authorization": "AWS4-HMAC-SHA256 x", "Content-Type": "application/json"}
        connection.request(method, path, body, given | {name.replace("_", "-"): one for name, one in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_are_no_operation(local: Local, method: str) -> None:
    status, body = ask(local, method, INVOKE)
    assert status == 404
    assert method == "HEAD" or json.loads(body)["Message"].startswith(f"{method} {INVOKE}: no operation")


@pytest.mark.parametrize("path", [f"{INVOKE}/", "/_warmstack/status.css/", "/_warmstack/../api/app.py", "//other/"])
def test_paths_have_one_form(local: Local, path: str) -> None:
    assert ask(local, "POST", path, chat())[0] == 404


@pytest.mark.parametrize("name", ["%ff%fe", "%E2%82%AC", "%00", "%0d%0aX-Other:1", "a" * 20_000])
def test_a_name_that_is_none(local: Local, name: str) -> None:
    status, body = ask(local, "POST", f"/endpoints/{name}/invocations", chat())
    assert status == 400
    assert "at 'endpointName' failed to satisfy constraint" in json.loads(body)["Message"]


def test_the_journal_keeps_no_more_of_a_name_than_a_name_is_long(local: Local) -> None:
    ask(
        local, "POST", f"/endpoints/{'a' * 20_000}/invocations", chat(), X_Amzn_SageMaker_Inference_Component="b" * 9999
    )
    entry = next(local.services.journal.newest_first())
    assert (entry.endpoint, entry.component, entry.status) == ("a" * 63, "b" * 63, 400)


@pytest.mark.parametrize("operation", ["DescribeEndpoint", "DescribeInferenceComponent", "DescribeEndpointConfig"])
def test_half_of_a_surrogate_pair_is_a_name_that_is_not_found(local: Local, operation: str) -> None:
    names = ("EndpointName", "InferenceComponentName", "EndpointConfigName")
    body = json.dumps(dict.fromkeys(names, "\ud800")).encode()
    status, answer = ask(local, "POST", "/", body, X_Amz_Target=f"SageMaker.{operation}")
    assert status == 400
    assert json.loads(answer)["__type"] == "ValidationException"


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"[" * 200_000, b'{"max_tokens":' + b"9" * 5000 + b"}", b"null"])
def test_a_body_that_the_container_refuses_is_the_models_error(local: Local, body: bytes) -> None:
    status, answer = ask(local, "POST", INVOKE, body)
    assert status == 424
    assert json.loads(answer)["OriginalStatusCode"] == 400
