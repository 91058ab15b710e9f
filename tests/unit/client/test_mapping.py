"""Every error of the service's model, of botocore and of the network, and every known text → one failure."""

from __future__ import annotations

import inspect
import json
import string
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import botocore.session
import pytest
import urllib3
from botocore import exceptions as boto
from botocore.eventstream import ChecksumMismatch, ParserError
from botocore.parsers import ResponseParserError

from session_server.gateway import SESSIONS_OFF
from warmstack.client import failures as fail
from warmstack.client.error_documents import read_error, text_of_error
from warmstack.client.failures import EndpointError
from warmstack.client.mapping import RAISED_BY_AWS_CLIENT, from_botocore, map_error_document, map_service_error
from warmstack.local.wire import errors as texts
from warmstack.local.wire.errors import Whereabouts

WHERE = Whereabouts(endpoint="demo", account="111122223333", region="us-west-2")
OF_THE_MODEL = {
    "InternalDependencyException": fail.ServiceFailed,
    "InternalFailure": fail.ServiceFailed,
    "InternalStreamFailure": fail.ServiceFailed,
    "ModelError": fail.ModelFailed,
    "ModelNotReadyException": fail.ModelNotReady,
    "ModelStreamError": fail.ModelExited,
    "ServiceUnavailable": fail.ServiceUnavailable,
    "ValidationError": fail.RequestRefused,
}


def shapes() -> Iterator[tuple[str, int | None]]:
    """Yield each error of the three operations, and each exception of their event streams, with its status."""
    service = botocore.session.get_session().get_service_model("sagemaker-runtime")
    for name in service.operation_names:
        operation = service.operation_model(name)
        for shape in operation.error_shapes:
            yield shape.name, (shape.metadata.get("error") or {}).get("httpStatusCode")
        stream = operation.get_event_stream_output()
        for member in stream.members.values() if stream else ():
            if member.metadata.get("exception"):
                yield member.name, None


SHAPES = sorted(set(shapes()), key=str)


@pytest.mark.parametrize(("code", "status"), SHAPES)
def test_every_error_of_the_services_model_is_mapped(code: str, status: int | None) -> None:
    error = map_service_error(code, status, "some text")
    assert type(error) is OF_THE_MODEL[code]
    assert (error.code, error.status, error.message) == (code, status, "some text")
    assert "some text. " in str(error)


def test_the_table_of_the_services_model_is_whole() -> None:
    assert {code for code, _ in SHAPES} == set(OF_THE_MODEL)


def made(kind: type[Exception]) -> Exception:
    """Make an exception of botocore's with all that its text names."""
    if issubclass(kind, boto.ClientError):
        return kind({"Error": {"Code": "InternalFailure", "Message": "text"}}, "InvokeEndpoint")
    names = [name for _, name, _, _ in string.Formatter().parse(kind.fmt) if name]  # type: ignore[attr-defined]
    names += ["last_response"] if kind is boto.WaiterError else []
    return kind(**dict.fromkeys(names, "x"))


def of_botocore() -> list[type[Exception]]:
    kinds = [one for _, one in inspect.getmembers(boto, inspect.isclass)]
    return [one for one in kinds if issubclass(one, boto.BotoCoreError | boto.ClientError)]


@pytest.mark.parametrize("kind", of_botocore())
def test_every_exception_of_botocore_is_mapped(kind: type[Exception]) -> None:
    error = made(kind)
    assert isinstance(error, RAISED_BY_AWS_CLIENT)
    found = from_botocore(error)
    assert type(found) is not EndpointError
    assert str(found).endswith((".", "again", "values given."))


@pytest.mark.parametrize(
    ("kind", "expected", "retryable"),
    [
        (boto.NoCredentialsError, fail.AccessDenied, False),
        (boto.PartialCredentialsError, fail.AccessDenied, False),
        (boto.SSOTokenLoadError, fail.AccessDenied, False),
        (boto.UnauthorizedSSOTokenError, fail.AccessDenied, False),
        (boto.EndpointConnectionError, fail.NotConnected, True),
        (boto.ConnectTimeoutError, fail.NotConnected, True),
        (boto.ProxyConnectionError, fail.NotConnected, True),
        (boto.SSLError, fail.NotConnected, False),
        (boto.ReadTimeoutError, fail.ReadTimedOut, False),
        (boto.ConnectionClosedError, fail.ConnectionLost, True),
        (boto.ResponseStreamingError, fail.ConnectionLost, True),
        (boto.HTTPClientError, fail.ConnectionLost, True),
        (boto.IncompleteReadError, fail.ConnectionLost, True),
        (boto.ParamValidationError, fail.NotSent, False),
        (boto.NoRegionError, fail.NotSent, False),
        (boto.ProfileNotFound, fail.NotSent, False),
        (boto.ChecksumError, fail.AnswerMalformed, False),
    ],
)
def test_what_botocore_raises_without_an_answer(
    kind: type[Exception], expected: type[EndpointError], retryable: bool
) -> None:
    found = from_botocore(made(kind))
    assert type(found) is expected
    assert found.retryable is retryable
    assert found.status is None


POOL: Any = None


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ChecksumMismatch(1, 2), fail.AnswerMalformed),
        (ParserError("text"), fail.AnswerMalformed),
        (ResponseParserError("text"), fail.AnswerMalformed),
        (urllib3.exceptions.ProtocolError("text"), fail.ConnectionLost),
        (urllib3.exceptions.ReadTimeoutError(POOL, "/", "text"), fail.ReadTimedOut),
        (TimeoutError(), fail.ReadTimedOut),
        (ConnectionResetError("text"), fail.ConnectionLost),
        (ConnectionRefusedError("text"), fail.NotConnected),
    ],
)
def test_what_the_network_raises_while_an_answer_is_read(error: Exception, expected: type[EndpointError]) -> None:
    assert isinstance(error, RAISED_BY_AWS_CLIENT)
    assert type(from_botocore(error)) is expected


def test_a_failure_stays_what_it_is_and_an_unknown_exception_is_told_as_such() -> None:
    error = fail.NoCapacity("text")
    assert from_botocore(error) is error
    assert "in an unknown way: KeyError: 'x'" in str(from_botocore(KeyError("x")))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (WHERE.not_found(), fail.EndpointNotFound),
        (WHERE.component_not_found("legal"), fail.ComponentNotFound),
        (texts.validation_error(texts.COMPONENT_HEADER_MISSING), fail.ComponentRequired),
        (texts.validation_error(texts.COMPONENT_HEADER_NOT_ALLOWED), fail.ComponentNotAllowed),
        (texts.validation_error(texts.NO_CAPACITY), fail.NoCapacity),
        (texts.validation_error("Session abc is expired."), fail.SessionLost),
        (texts.validation_error("Session abc is on an instance that is not in service."), fail.SessionLost),
        (texts.validation_error("Request 4711 has oversize body."), fail.PayloadTooLarge),
        (texts.validation_error("1 validation error detected: …"), fail.RequestRefused),
        (texts.service_unavailable("No instance of variant primary is in service."), fail.ServiceUnavailable),
        (texts.too_large(25), fail.PayloadTooLarge),
        (WHERE.process_error(texts.TIMED_OUT), fail.ModelTimedOut),
        (WHERE.process_error(texts.PROCESS_EXITED), fail.ModelExited),
        (WHERE.model_error(200, b"so f", whole=False), fail.ModelExited),
        (WHERE.model_error(422, b'{"error": {"message": "no"}}'), fail.ModelRefused),
        (WHERE.model_error(500, b"Inference Engine Failure"), fail.ModelFailed),
        (WHERE.model_error(507, b"out of memory"), fail.ModelFailed),
        (WHERE.model_error(503, b"busy"), fail.ModelBusy),
        (WHERE.model_error(429, b"busy"), fail.ModelBusy),
        (
            WHERE.model_error(424, b'{"code":424,"error":"Input parsing failed: session not found: x"}'),
            fail.SessionLost,
        ),
        (WHERE.model_error(400, b'{"error":{"message":"Bad request: session not found: x"}}'), fail.SessionLost),
        (WHERE.model_error(400, b'{"detail":"Bad request: session not found: x"}'), fail.SessionLost),
        (
            WHERE.model_error(400, b'{"error":{"message":"session not found: x; it was closed"}}'),
            fail.SessionLost,
        ),
        (
            WHERE.model_error(424, b'{"code":424,"error":"Failed to close session: session not found: x"}'),
            fail.SessionLost,
        ),
        (
            WHERE.model_error(400, b'{"error":{"message":"Invalid payload. stateful sessions not enabled"}}'),
            fail.SessionsNotEnabled,
        ),
        (
            WHERE.model_error(
                424, b'{"code":424,"error":"Input parsing failed: invalid payload. stateful sessions not enabled, x"}'
            ),
            fail.SessionsNotEnabled,
        ),
        (
            WHERE.model_error(
                424, b"""{"error":"Input parsing failed: 'VLLMHandler' object has no attribute 'session_manager'"}"""
            ),
            fail.SessionsNotEnabled,
        ),
        (
            WHERE.model_error(
                500, b"""{"code":500,"error":"error=ErrorInfo(message='The model', type='NotFoundError', code=404)"}"""
            ),
            fail.ModelRefused,
        ),
        (WHERE.model_error(400, json.dumps({"error": {"message": SESSIONS_OFF}}).encode()), fail.SessionsNotEnabled),
        # A user's words further on decide nothing.
        (WHERE.model_error(400, b'{"error":{"message":"not so: session not found: x"}}'), fail.ModelRefused),
    ],
)
def test_the_known_texts(error: texts.ApiError, expected: type[EndpointError]) -> None:
    found = map_service_error(
        error.kind,
        error.status,
        error.message,
        original_status=error.original_status,
        original_message=error.original_message if error.original_status is not None else None,
    )
    assert type(found) is expected
    if error.original_status is not None and error.original_status > 0:
        # The same without the two members, as on the OpenAI path.
        envelope = map_service_error("model_error", error.original_status, error.message)
        assert type(envelope) is expected
        assert (envelope.original_status, envelope.original_message) == (found.original_status, found.original_message)


@pytest.mark.parametrize("origin", ["primary", "model", "i-0abc/container-1"])
def test_the_origin_of_a_relayed_error_varies(origin: str) -> None:
    text = f'Received client error (400) from {origin} with message "{{"a": "b"}}". See https://x#y in account 1 for z.'
    found = map_service_error("ModelError", 424, text)
    assert (found.original_status, found.original_message) == (400, '{"a": "b"}')


@pytest.mark.parametrize(
    ("code", "status", "expected"),
    [
        ("ThrottlingException", 400, fail.Throttled),
        ("TooManyRequestsException", 429, fail.Throttled),
        ("AccessDeniedException", 403, fail.AccessDenied),
        ("ExpiredTokenException", 403, fail.AccessDenied),
        ("UnrecognizedClientException", 403, fail.AccessDenied),
        ("InvalidSignatureException", 403, fail.AccessDenied),
        ("MissingAuthenticationTokenException", 403, fail.AccessDenied),
        ("access_denied", 403, fail.AccessDenied),
        ("413", 413, fail.PayloadTooLarge),
        ("429", 429, fail.Throttled),
        ("502", 502, fail.ServiceFailed),
        ("530", 530, fail.ServiceFailed),
        ("424", 424, fail.ModelFailed),
        ("not_found", 404, fail.RequestRefused),
        (None, 403, fail.AccessDenied),
        ("Unheard", 400, fail.RequestRefused),
        ("Unheard", 500, fail.ServiceFailed),
        (None, None, fail.ServiceFailed),
    ],
)
def test_codes_that_are_not_in_the_model(code: str | None, status: int | None, expected: type[EndpointError]) -> None:
    assert type(map_service_error(code, status, "text")) is expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (texts.STREAM_TIMED_OUT, fail.ModelTimedOut),
        (texts.PROCESS_EXITED, fail.ModelExited),
        ("anything else", fail.ModelExited),
    ],
)
def test_errors_within_a_stream(message: str, expected: type[EndpointError]) -> None:
    error = boto.EventStreamError({"Error": {"Code": "ModelStreamError", "Message": message}}, "x")
    found = from_botocore(error)
    assert type(found) is expected
    assert (found.status, found.code) == (None, "ModelStreamError")


@pytest.mark.parametrize(
    ("document", "expected", "status"),
    [
        ({"code": 424, "error": "Input parsing failed: x"}, fail.ModelRefused, 424),
        ({"code": 424, "message": "Async Inference Failure"}, fail.ModelRefused, 424),
        ({"code": 400, "type": "BadRequestException", "message": "no"}, fail.ModelRefused, 400),
        ({"error": {"message": "no", "type": "BadRequestError", "code": 400}}, fail.ModelRefused, 400),
        ({"error": {"message": "no", "type": "server_error", "code": "engine_gone"}}, fail.ModelFailed, 500),
        ({"error": {"message": "no", "code": "404"}}, fail.ModelRefused, 404),
        ({"object": "error", "message": "no", "type": "NotFoundError"}, fail.ModelRefused, 404),
        ({"error": {"message": texts.NO_CAPACITY, "code": "validation_error"}}, fail.NoCapacity, None),
        ({"error": {"message": "no", "code": "access_denied"}}, fail.AccessDenied, None),
        ({"error": "session not found: x"}, fail.SessionLost, 500),
        ({"error": {"code": "model_error", "message": WHERE.model_error(400, b"no").message}}, fail.ModelRefused, 400),
        ({"error": {}}, fail.ModelFailed, 500),
    ],
)
def test_errors_within_an_answer(document: dict[str, Any], expected: type[EndpointError], status: int | None) -> None:
    error = read_error(document)
    assert error is not None
    found = map_error_document(error)
    assert type(found) is expected
    assert found.original_status == status


@pytest.mark.parametrize("document", [{"choices": []}, {"message": "hello"}, [], None, 5, {"detail": [1]}])
def test_what_is_no_error(document: object) -> None:
    assert read_error(document) is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"error": {"message": "session not found: \\"x\\", and so', 'session not found: "x", and so'),
        ('{"code": 424, "error": "Input pars', "Input pars"),
        ("[" * 100_000, "[" * 100_000),
        ("plain", "plain"),
        ('{"choices": []}', '{"choices": []}'),
    ],
)
def test_what_a_container_says_in_an_answer_that_may_be_cut(answer: str, expected: str) -> None:
    assert text_of_error(answer) == expected


def test_a_long_text_is_cut_in_the_sentence_and_whole_in_the_message() -> None:
    found = map_service_error("ValidationError", 400, "x" * 5000, request_id="r-1")
    assert len(str(found)) < 1000
    assert "request r-1" in str(found)
    assert found.message == "x" * 5000


def test_without_botocore_the_client_says_what_to_install() -> None:
    code = """
import sys
sys.modules["botocore"] = None
try:
    import warmstack.client
except Exception as error:
    print(type(error).__name__, error, sep=": ")
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out == "NotConfigured: the client needs botocore, which is not installed: pip install 'warmstack[aws]'\n"
