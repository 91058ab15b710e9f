"""What a service, a container, botocore or the network says → the one failure that it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from re import Pattern
from typing import Final

from warmstack.client import failures as fail
from warmstack.client.error_documents import ErrorDocument, text_of_error
from warmstack.client.service_texts import (
    CONTAINER,
    DENIED,
    KINDS,
    NO_ANSWER,
    PLATFORM,
    RELAYED,
    THROTTLED,
    WORDS,
)

try:
    from botocore import exceptions as boto
    from botocore.eventstream import ParserError
    from botocore.parsers import ResponseParserError
    from urllib3 import exceptions as urllib
except ImportError as missing:
    raise fail.NotConfigured(
        f"the client needs {missing.name}, which is not installed: pip install 'warmstack[aws]'"
    ) from missing

SHOWN_LENGTH = 600
"""How much of a service's text a failure's sentence repeats; ``message`` has all of it."""
MODEL_CODES: Final = frozenset({"ModelError", "ModelStreamError", "model_error"})

RAISED_BY_AWS_CLIENT: Final[tuple[type[Exception], ...]] = (
    boto.ClientError,
    boto.BotoCoreError,
    ParserError,
    ResponseParserError,
    urllib.HTTPError,
    OSError,
)
"""What a call of botocore's, and reading its answer, can raise: for ``except``, to hand to `from_botocore`."""

_Kind = type[fail.EndpointError]
_CREDENTIALS: Final = (
    boto.CredentialRetrievalError,
    boto.InfiniteLoopConfigError,
    boto.LoginError,
    boto.MetadataRetrievalError,
    boto.NoAuthTokenError,
    boto.NoCredentialsError,
    boto.PartialCredentialsError,
    boto.RefreshWithMFAUnsupportedError,
    boto.SSOError,
    boto.TokenRetrievalError,
    boto.UnknownCredentialError,
    boto.UnknownTokenProviderError,
)
_BROKEN: Final = (boto.ChecksumError, boto.FlexibleChecksumError, ParserError, ResponseParserError)


def map_service_error(
    code: str | None,
    status: int | None,
    message: str | None,
    *,
    request_id: str | None = None,
    original_status: int | None = None,
    original_message: str | None = None,
) -> fail.EndpointError:
    """Return the failure that an error answer is.

    Args:
        code: The error's code: a shape of the service's model, a code of the OpenAI path, or another of AWS's.
        status: The HTTP status; None within a stream.
        message: The text.
        request_id: The request's id.
        original_status: The container's status, where the error tells it.
        original_message: The container's answer, where the error tells it.
    """
    message = message or ""
    relayed = RELAYED.match(message)
    if relayed is not None:
        original_status = int(relayed["status"]) if original_status is None else original_status
        original_message = relayed["text"] if original_message is None else original_message
    said = message if original_message is None else text_of_error(original_message)
    if code in MODEL_CODES or original_status is not None:
        kind = _model_kind(code, original_status, said)
    else:
        kind = _platform_kind(code or "", status, message)
    retryable: bool | None = None
    if kind is fail.ModelFailed:
        # A container that fails may do so for this request alone, or because of its state: a retry can help.
        retryable = original_status is None or original_status >= 500 or original_status == 0
    facts = (
        code,
        f"HTTP {status}" if status is not None else None,
        f"the container's status {original_status}" if original_status else None,
        f"request {request_id}" if request_id else None,
    )
    return kind(
        _sentence(kind, said or message, facts),
        message=message,
        code=code,
        status=status,
        request_id=request_id,
        retryable=retryable,
        original_status=original_status,
        original_message=original_message,
    )


def map_error_document(error: ErrorDocument, *, status: int | None = None) -> fail.EndpointError:
    """Return the failure that an error within an answer is: one that came with status 200, or in a stream.

    Args:
        error: The error.
        status: The HTTP status that it came with.
    """
    if error.code is not None and error.code not in MODEL_CODES and (error.code in KINDS or error.code in DENIED):
        return map_service_error(error.code, status, error.message)
    # Guard: a relayed error names the container's status itself.
    original = None if RELAYED.match(error.message) else 500 if error.status is None else error.status
    text = error.message if original is not None else None
    return map_service_error("ModelError", status, error.message, original_status=original, original_message=text)


def from_botocore(error: Exception) -> fail.EndpointError:
    """Return the failure that an exception of botocore's, or of the network below it, is.

    Args:
        error: One of `RAISED_BY_AWS_CLIENT`; another one becomes an `EndpointError` that says so.
    """
    if isinstance(error, fail.EndpointError):
        return error
    if isinstance(error, boto.ClientError):
        return _from_response(error.response)
    said = str(error) or type(error).__name__
    if isinstance(error, _CREDENTIALS):
        means, way_out = WORDS[fail.AccessDenied]
        return fail.AccessDenied(f"{means}: {_ended(said)} {way_out}", message=said)
    if isinstance(error, _BROKEN):
        text = f"the answer cannot be read: {_ended(said)} Send the request again; a proxy between may change answers."
        return fail.AnswerMalformed(text, message=said)
    network = _network_failure(error, said)
    if network is not None:
        return network
    if isinstance(error, boto.BotoCoreError):
        text = f"the AWS client sent no request: {_ended(said)} Check the region, the profile and the values given."
        return fail.NotSent(text, message=said)
    return fail.EndpointError(f"the request failed in an unknown way: {type(error).__name__}: {said}", message=said)


def _from_response(response: Mapping[str, object]) -> fail.EndpointError:
    error, metadata = _mapping(response.get("Error")), _mapping(response.get("ResponseMetadata"))
    status, original = metadata.get("HTTPStatusCode"), response.get("OriginalStatusCode")
    request_id, answer = metadata.get("RequestId"), response.get("OriginalMessage")
    return map_service_error(
        str(error.get("Code") or "") or None,
        status if isinstance(status, int) else None,
        str(error.get("Message") or ""),
        request_id=request_id if isinstance(request_id, str) else None,
        original_status=original if isinstance(original, int) else None,
        original_message=answer if isinstance(answer, str) else None,
    )


def _network_failure(error: Exception, said: str) -> fail.EndpointError | None:
    """Return the failure of a connection; None where it is none."""
    certificate = isinstance(error, boto.SSLError)
    if isinstance(error, boto.ConnectionError | urllib.NewConnectionError | urllib.ConnectTimeoutError):
        way_out = "Check the certificate's authority." if certificate else _way_to(said)
        text = f"there is no connection to the endpoint: {_ended(said)} {way_out}"
        return fail.NotConnected(text, message=said, retryable=not certificate)
    if isinstance(error, ConnectionRefusedError):
        return fail.NotConnected(
            f"there is no connection to the endpoint: {_ended(said)} {_way_to(said)}", message=said
        )
    if isinstance(error, boto.ReadTimeoutError | urllib.ReadTimeoutError | TimeoutError):
        way_out = "SageMaker gives a model 60 s, so wait 70; a stream has 8 minutes."
        return fail.ReadTimedOut(f"no answer came within the read time-out: {_ended(said)} {way_out}", message=said)
    if isinstance(error, boto.HTTPClientError | boto.IncompleteReadError | urllib.HTTPError | OSError):
        way_out = "The request may have been served; send it again if that does no harm."
        return fail.ConnectionLost(f"the connection broke: {_ended(said)} {way_out}", message=said)
    return None


def _way_to(said: str) -> str:
    if "://127.0.0.1" in said or "://localhost" in said:
        return "Does `warmstack local up` run there?"
    return "Check the region, the address and the VPC."


def _model_kind(code: str | None, original_status: int | None, said: str) -> _Kind:
    found = _first(NO_ANSWER, said) if original_status in (None, 0) else None
    found = found or _first(CONTAINER, said)
    if found is not None:
        return found
    if code == "ModelStreamError":
        return fail.ModelExited
    if original_status in (429, 503):
        return fail.ModelBusy
    if original_status is not None and 200 <= original_status < 300:
        return fail.ModelExited  # it began its answer and did not end it
    if original_status is not None and 400 <= original_status < 500:
        return fail.ModelRefused
    return fail.ModelFailed


def _platform_kind(code: str, status: int | None, message: str) -> _Kind:
    found: _Kind | None = None
    if code in THROTTLED:
        found = fail.Throttled
    elif code in DENIED:
        found = fail.AccessDenied
    else:
        kind = KINDS.get(code)
        found = _first(PLATFORM, message) if kind in (None, fail.RequestRefused) else None
        found = found or kind
    return found or _kind_of_status(status)


def _kind_of_status(status: int | None) -> _Kind:
    known: dict[int, _Kind] = {
        401: fail.AccessDenied,
        403: fail.AccessDenied,
        413: fail.PayloadTooLarge,
        424: fail.ModelFailed,
        429: fail.Throttled,
        503: fail.ServiceUnavailable,
    }
    if status in known:
        return known[status]
    return fail.RequestRefused if status is not None and 400 <= status < 500 else fail.ServiceFailed


def _first(texts: Iterable[tuple[Pattern[str], _Kind]], said: str) -> _Kind | None:
    return next((kind for pattern, kind in texts if pattern.match(said)), None)


def _sentence(kind: _Kind, said: str, facts: Iterable[str | None]) -> str:
    means, way_out = WORDS[kind]
    told = ", ".join(fact for fact in facts if fact)
    shown = said if len(said) <= SHOWN_LENGTH else f"{said[:SHOWN_LENGTH]}…"
    return f"{means}{f' ({told})' if told else ''}: {_ended(shown or 'no reason is given')} {way_out}"


def _ended(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
