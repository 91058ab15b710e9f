"""The texts that SageMaker and the containers give their errors, and what each means.

Sources: texts of the runtime API as public tests and issues show them (collected 2026-11-30); of sessions,
``session_manager.py`` of DJL Serving d21927c4, model-hosting-container-standards 0.1.16, and the project's own session
server. What AWS answers for an expired or lost session is not documented; the local endpoint's words are known here.
"""

from __future__ import annotations

import re
from typing import Final

from warmstack.client import failures as fail

RELAYED: Final = re.compile(
    r"Received (?:client|server) error \((?P<status>\d{1,3})\) from .{1,200}? with message "
    r'"(?P<text>.*?)"?(?P<cut> and could not load the entire response body)?(?:\. See https?://[^"]*|\.?)\Z',
    re.DOTALL,
)
"""What SageMaker makes of a container's error. The origin is ``primary``, ``model``, or an id."""

PLATFORM: Final = (
    (re.compile(r"Endpoint \S+ of account \S+ not found"), fail.EndpointNotFound),
    (re.compile(r"Inference Component Name header is required"), fail.ComponentRequired),
    (re.compile(r"Inference Component Name header is not allowed"), fail.ComponentNotAllowed),
    (re.compile(r"Inference Component has no capacity"), fail.NoCapacity),
    (re.compile(r"Inference Component \S+ of account \S+ not found"), fail.ComponentNotFound),
    (re.compile(r"Request \S+ has oversize body"), fail.PayloadTooLarge),
    (re.compile(r"HTTP content length exceeded \d+ bytes"), fail.PayloadTooLarge),
    (re.compile(r"Session \S+ is (?:expired|lost|unknown)\."), fail.SessionLost),
    (re.compile(r"Session \S+ is on an instance that is not in service"), fail.SessionLost),
)
"""How SageMaker's own texts begin, and what they are."""

CONTAINER: Final = (
    (
        re.compile(r"(?:(?:Bad request|Input parsing failed|Failed to close session): )*session not found: ", re.I),
        fail.SessionLost,
    ),
    (
        re.compile(r"(?:(?:Bad request|Input parsing failed): )*invalid payload\. stateful sessions not enabled", re.I),
        fail.SessionsNotEnabled,
    ),
    (re.compile(r"sessions are off here"), fail.SessionsNotEnabled),
    # LMI with sessions switched off: each request fails so.
    (re.compile(r"Input parsing failed: '\w+' object has no attribute 'session_manager'"), fail.SessionsNotEnabled),
    # LMI makes a 500 of a model that vLLM does not know.
    (re.compile(r"error=ErrorInfo\(.*type='NotFoundError'", re.DOTALL), fail.ModelRefused),
)
"""How the containers' texts begin. They are held to their beginning: further on they may repeat what a user wrote."""

NO_ANSWER: Final = (
    (re.compile(r"Your invocation timed out while waiting for a response"), fail.ModelTimedOut),
    (re.compile(r".{0,200}did not complete sending the inference response in the allotted time"), fail.ModelTimedOut),
    (re.compile(r".{0,200}ModelInvocationTimeExceeded"), fail.ModelTimedOut),
    (re.compile(r"An error occurred while handling request as the model process exited"), fail.ModelExited),
)
"""What SageMaker says in the place of a container that gave no answer, or not the whole one."""

THROTTLED: Final = frozenset(
    {
        "BandwidthLimitExceeded",
        "EC2ThrottledException",
        "LimitExceededException",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionInProgressException",
    }
)
"""The codes of a service that has had too many requests: those that botocore's own retries know."""

DENIED: Final = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "IncompleteSignatureException",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "NotAuthorized",
        "OptInRequired",
        "RequestExpired",
        "SignatureDoesNotMatch",
        "UnauthorizedOperation",
        "UnrecognizedClientException",
        "access_denied",
    }
)
"""The codes of a request that was not let in."""

KINDS: Final = {
    "InternalDependencyException": fail.ServiceFailed,
    "InternalFailure": fail.ServiceFailed,
    "InternalServerError": fail.ServiceFailed,
    "InternalServerException": fail.ServiceFailed,
    "InternalStreamFailure": fail.ServiceFailed,
    "ModelNotReadyException": fail.ModelNotReady,
    "RequestEntityTooLarge": fail.PayloadTooLarge,
    "RequestEntityTooLargeException": fail.PayloadTooLarge,
    "ServiceUnavailable": fail.ServiceUnavailable,
    "ServiceUnavailableException": fail.ServiceUnavailable,
    "ValidationError": fail.RequestRefused,
    "ValidationException": fail.RequestRefused,
    "service_unavailable": fail.ServiceUnavailable,
    "validation_error": fail.RequestRefused,
}
"""What a code means where its text says nothing more."""

WORDS: Final[dict[type[fail.EndpointError], tuple[str, str]]] = {
    fail.RequestRefused: ("SageMaker refused the request", "Change what it names."),
    fail.EndpointNotFound: (
        "there is no such endpoint",
        "Check its name, the region, the account of the credentials, and that its deployment has ended.",
    ),
    fail.ComponentRequired: ("the endpoint has inference components", "Name one of them: component=."),
    fail.ComponentNotAllowed: ("the endpoint has no inference components", "Leave the component out."),
    fail.ComponentNotFound: (
        "the endpoint has no such inference component",
        "Check its physical name: the stack's outputs list those of components and adapters.",
    ),
    fail.PayloadTooLarge: ("the body is too large", "Send less: SageMaker documents 25 MB, and 6 MB in older regions."),
    fail.AccessDenied: (
        "access was denied",
        "Check that the credentials are there and not expired, and allow sagemaker:InvokeEndpoint on the endpoint.",
    ),
    fail.Throttled: ("there are too many requests", "Send it again after a pause, or fewer at a time."),
    fail.ServiceUnavailable: ("no instance takes requests", "Send it again after a pause."),
    fail.ModelNotReady: ("the model is being loaded", "Send it again after a pause."),
    fail.NoCapacity: (
        "the inference component has no copy",
        "Wait while it scales out from zero, or raise its number of copies.",
    ),
    fail.ServiceFailed: ("SageMaker failed", "Send it again after a pause; if it stays so, give AWS the request's id."),
    fail.ModelFailed: (
        "the container failed",
        "Read its log: CloudWatch, log group /aws/sagemaker/Endpoints/ and the endpoint's name.",
    ),
    fail.ModelRefused: ("the container refused the request", "Change what it names."),
    fail.ModelBusy: ("the container has no room", "Send it again after a pause, or add copies."),
    fail.ModelTimedOut: (
        "the container took longer than SageMaker waits",
        "Ask for fewer tokens, or stream: a stream has 8 minutes, a whole answer 60 seconds.",
    ),
    fail.ModelExited: (
        "the container broke off",
        "Send it again: another copy answers, or this one once it is back. Its log says why it ended.",
    ),
    fail.SessionLost: (
        "the session is not known",
        "It was closed, it expired, or its instance was replaced: open a new one and send the conversation again.",
    ),
    fail.SessionsNotEnabled: (
        "the deployment has no stateful sessions",
        "Give the spec endpoint.sessions and deploy again, or leave the session out.",
    ),
}
"""What each failure of the service means, and the way out."""
