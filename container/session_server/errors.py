"""Every error that a client sees, and the ones that stop the start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from pydantic_core import to_json


class SessionServerError(Exception):
    """The base of all errors that this server raises on purpose."""


class SettingsError(SessionServerError):
    """The environment has values that the server cannot start with.

    Args:
        problems: One sentence each: the variable, its value and the rule.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class RequestError(SessionServerError):
    """A request is answered with an error.

    Args:
        message: What is wrong, the rule and the way out.
        status: The HTTP status.
        code: A stable word for programs.
        headers: Headers of the answer beside its content type.
    """

    def __init__(self, message: str, *, status: int, code: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.headers = dict(headers or {})

    @property
    def document(self) -> dict[str, object]:
        """The error as clients get it, in the form of the OpenAI API."""
        kind = "invalid_request_error" if self.status < HTTPStatus.INTERNAL_SERVER_ERROR else "server_error"
        return {"error": {"message": self.message, "type": kind, "code": self.code}}

    def body(self) -> bytes:
        """Return the document as JSON."""
        return to_json(self.document)


class BadRequestError(RequestError):
    """The request breaks a rule (400)."""

    def __init__(self, message: str, *, code: str = "invalid_request") -> None:
        super().__init__(message, status=HTTPStatus.BAD_REQUEST, code=code)


class AdapterNotFoundError(RequestError):
    """The request names an adapter that is not registered (404)."""

    def __init__(self, message: str) -> None:
        super().__init__(message, status=HTTPStatus.NOT_FOUND, code="adapter_not_found")


class FormatterFailedError(RequestError):
    """A formatter failed (424, the status that LMI uses for it)."""

    def __init__(self, message: str) -> None:
        super().__init__(message, status=HTTPStatus.FAILED_DEPENDENCY, code="formatter_failed")


class EngineUnreachableError(RequestError):
    """The engine does not answer (503)."""

    def __init__(self, message: str, *, code: str = "engine_unreachable") -> None:
        super().__init__(message, status=HTTPStatus.SERVICE_UNAVAILABLE, code=code, headers={"Retry-After": "5"})


class TooBusyError(RequestError):
    """A limit is reached that passes with time (503).

    Args:
        message: Which limit.
        code: A stable word for programs.
        retry_after_seconds: When to try again.
    """

    def __init__(self, message: str, *, code: str, retry_after_seconds: int) -> None:
        headers = {"Retry-After": str(retry_after_seconds)}
        super().__init__(message, status=HTTPStatus.SERVICE_UNAVAILABLE, code=code, headers=headers)
