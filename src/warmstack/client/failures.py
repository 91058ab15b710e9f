"""Every failure that the client raises, as one tree.

::

    EndpointError
    ├── RequestRefused          the request cannot succeed as it is
    │   ├── EndpointNotFound    no such endpoint in this account and region
    │   ├── ComponentRequired   the endpoint has components, and the request names none
    │   ├── ComponentNotAllowed the endpoint has no components, and the request names one
    │   ├── ComponentNotFound   no such component or adapter on the endpoint
    │   ├── PayloadTooLarge     the body is above SageMaker's limit
    │   ├── AccessDenied        no credentials, wrong ones, expired ones, or no permission
    │   └── NotSent             no request was made of it: no region, a value of the wrong type
    │       ├── InvalidArgument an argument breaks its rule; a ValueError too
    │       └── NotConfigured   nothing says where requests go, or with what
    ├── NotReady                nothing took the request; the same one can succeed later
    │   ├── Throttled           too many requests
    │   ├── ServiceUnavailable  no instance is in service, or SageMaker itself is not
    │   ├── ModelNotReady       the model is being loaded
    │   └── NoCapacity          the component has no copy
    ├── ServiceFailed           SageMaker failed, or answered what it does not document
    ├── ModelFailed             the container failed
    │   ├── ModelRefused        it answered that the request is wrong
    │   ├── ModelBusy           it answered that it has no room now
    │   ├── ModelTimedOut       it took longer than SageMaker waits
    │   ├── ModelExited         its process ended, or broke its answer off
    │   ├── SessionLost         it does not know the session: closed, expired, or its instance was replaced
    │   └── SessionsNotEnabled  its deployment has no sessions
    ├── ConnectionFailed        the network failed
    │   ├── NotConnected        before a byte of the request was sent
    │   ├── ReadTimedOut        no byte came within the read time-out
    │   └── ConnectionLost      the connection broke after the request was sent
    ├── AnswerMalformed         the answer is none that a server of ours sends
    ├── StreamInterrupted       a stream ended before its end; carries what had arrived
    ├── DeadlineExceeded        the caller's own time is over
    ├── SessionBusy             a turn of the session is still running
    └── SessionClosed           the session was closed here

``retryable`` says whether the same request can succeed later. Whether it may be sent again is another question: only
after `NotReady` and `NotConnected` is it certain that no copy has begun with it.
"""

# ruff: noqa: N818 - the names are read in `except` clauses, where "Error" behind each would say nothing

from __future__ import annotations

from typing import Any, ClassVar

from warmstack.client.answer import Response
from warmstack.errors import WarmstackError


class EndpointError(WarmstackError):
    """The base of every failure of the client. ``str(error)`` is a whole sentence: what it means, and the way out.

    Args:
        text: The sentence.
        message: The service's own text; the sentence where there is none.
        code: The error's code as botocore gives it, such as ``ModelError``; None if no service answered.
        status: The HTTP status; None if no service answered.
        request_id: The id that AWS support asks for.
        retryable: Whether the same request can succeed later; by default, what is usual for the kind.
        original_status: The container's own status; 0 if it gave none; None if the failure is not the container's.
        original_message: What the container answered, at most 2048 characters of it.
    """

    usually_retryable: ClassVar[bool] = False

    def __init__(
        self,
        text: str,
        *,
        message: str | None = None,
        code: str | None = None,
        status: int | None = None,
        request_id: str | None = None,
        retryable: bool | None = None,
        original_status: int | None = None,
        original_message: str | None = None,
    ) -> None:
        super().__init__(text)
        self.message = text if message is None else message
        self.code = code
        self.status = status
        self.request_id = request_id
        self.retryable = self.usually_retryable if retryable is None else retryable
        self.original_status = original_status
        self.original_message = original_message

    def __reduce__(self) -> tuple[Any, ...]:
        # Guard: Exception's own would call __init__ without the keywords, and processes hand failures on.
        return type(self).__new__, (type(self), *self.args), self.__dict__


class RequestRefused(EndpointError):
    """The request cannot succeed as it is: 400, or no request at all."""


class EndpointNotFound(RequestRefused):
    """There is no such endpoint in this account and region."""


class ComponentRequired(RequestRefused):
    """The endpoint has inference components, and the request names none."""


class ComponentNotAllowed(RequestRefused):
    """The endpoint has no inference components, and the request names one."""


class ComponentNotFound(RequestRefused):
    """The endpoint has no such inference component."""


class PayloadTooLarge(RequestRefused):
    """The body is above SageMaker's limit."""


class AccessDenied(RequestRefused):
    """Credentials are missing, wrong or expired, or they lack a permission."""


class NotSent(RequestRefused):
    """No request was made of it: a value of the wrong type, no region, an unknown profile."""


class InvalidArgument(NotSent, ValueError):
    """An argument breaks its rule."""


class NotConfigured(NotSent):
    """Nothing says where requests go or with what: no such output, component or package."""


class NotReady(EndpointError):
    """Nothing took the request; the same one can succeed later."""

    usually_retryable = True


class Throttled(NotReady):
    """There are too many requests."""


class ServiceUnavailable(NotReady):
    """No instance is in service, or SageMaker itself is not."""


class ModelNotReady(NotReady):
    """The model is being loaded."""


class NoCapacity(NotReady):
    """The inference component has no copy that takes requests."""


class ServiceFailed(EndpointError):
    """SageMaker failed, or answered what it does not document."""

    usually_retryable = True


class ModelFailed(EndpointError):
    """The container failed: 424, and what its answer was."""


class ModelRefused(ModelFailed):
    """The container answered that the request is wrong."""


class ModelBusy(ModelFailed):
    """The container answered that it has no room now."""

    usually_retryable = True


class ModelTimedOut(ModelFailed):
    """The container took longer than SageMaker waits: 60 s, and 8 minutes for a stream."""


class ModelExited(ModelFailed):
    """The container's process ended, or broke its answer off."""

    usually_retryable = True


class SessionLost(ModelFailed):
    """The session is not known: it was closed, it expired, or the instance that held it was replaced."""


class SessionsNotEnabled(ModelFailed):
    """The deployment has no stateful sessions."""


class ConnectionFailed(EndpointError):
    """The network failed."""


class NotConnected(ConnectionFailed):
    """There was no connection: not a byte of the request was sent."""

    usually_retryable = True


class ReadTimedOut(ConnectionFailed):
    """No byte of the answer came within the read time-out; the copy may still be at work."""


class ConnectionLost(ConnectionFailed):
    """The connection broke after the request was sent."""

    usually_retryable = True


class AnswerMalformed(EndpointError):
    """The answer is none that a server of ours sends.

    Args:
        text: The sentence.
        answer: The beginning of what came, at most 2048 bytes.
        details: As for `EndpointError`.
    """

    def __init__(self, text: str, *, answer: bytes = b"", **details: Any) -> None:
        super().__init__(text, **details)
        self.answer = answer[:2048]


class StreamInterrupted(EndpointError):
    """A stream ended before its end, after a part of it had reached the caller.

    Args:
        text: The sentence.
        response: What had arrived; None if nothing had.
        cause: What ended it; None where it ended without a word.
        details: As for `EndpointError`; those of the cause where they are not given.
    """

    def __init__(
        self, text: str, *, response: Response | None = None, cause: EndpointError | None = None, **details: Any
    ) -> None:
        if cause is not None:
            names = ("message", "code", "status", "request_id", "retryable", "original_status", "original_message")
            details = {name: getattr(cause, name) for name in names} | details
        super().__init__(text, **details)
        self.response = response
        self.cause = cause


class DeadlineExceeded(EndpointError):
    """The time that the caller gave is over."""


class SessionBusy(EndpointError):
    """A turn of the session is still running."""


class SessionClosed(EndpointError):
    """The session was closed here."""
