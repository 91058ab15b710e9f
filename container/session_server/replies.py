"""What a request is answered with: whole, or as a stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field

from pydantic_core import PydanticSerializationError, to_json

from session_server.errors import FormatterFailedError, RequestError
from session_server.sse import json_event

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole answer."""

    body: bytes
    status: int = 200
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamReply:
    """An answer that is sent as it comes.

    Args:
        chunks: The bytes to send.
        close: Lets go of the engine's answer, also if not one chunk was taken.
        error: Encodes an error that comes after the head is sent, in the form of the stream.
    """

    chunks: AsyncIterator[bytes]
    close: Callable[[], None]
    error: Callable[[RequestError], bytes]
    status: int = 200
    content_type: str
    headers: Mapping[str, str] = field(default_factory=dict)


def json_reply(value: object, headers: Mapping[str, str] | None = None, *, status: int = 200) -> Reply:
    """Return a value as a whole answer."""
    return Reply(body=to_json(value), status=status, headers=headers or {})


def error_reply(error: RequestError) -> Reply:
    """Return an error as a whole answer."""
    return Reply(body=error.body(), status=error.status, headers=error.headers)


def formatted_reply(value: dict[str, object] | list[object] | str) -> Reply:
    """Return what an output formatter made: JSON, or text as it is.

    Raises:
        FormatterFailedError: It is no JSON.
    """
    if isinstance(value, str):
        return Reply(body=value.encode(), content_type=TEXT)
    return Reply(body=formatted_json(value))


def formatted_json(value: object) -> bytes:
    """Encode what a formatter made.

    Raises:
        FormatterFailedError: It is no JSON.
    """
    try:
        return to_json(value)
    except (PydanticSerializationError, UnicodeError) as error:
        raise FormatterFailedError(f"a formatter returned what cannot be written as JSON: {error}") from error


def sse_error(error: RequestError) -> bytes:
    """Return an error as a server-sent event."""
    return json_event(error.document)


def line_error(error: RequestError) -> bytes:
    """Return an error as a JSON line."""
    return error.body() + b"\n"
