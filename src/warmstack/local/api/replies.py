"""Answers as ASGI sends them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from warmstack.local.container import ContainerGoneError
from warmstack.local.platform.dispatch import Flight
from warmstack.local.wire import errors
from warmstack.local.wire.errors import ApiError, Whereabouts, gone_away, too_large

JSON = "application/json"


def error_response(error: ApiError, request_id: str) -> Response:
    """Return an error of the runtime API."""
    headers = {"x-amzn-ErrorType": error.kind, "x-amzn-RequestId": request_id}
    if error.kind.isdigit():
        # No error of the service's model: what stands before it refuses bodies that are too large.
        return Response(error.message, error.status, {"x-amzn-RequestId": request_id}, "text/plain")
    return Response(error.body(), error.status, headers, JSON)


def openai_error(status: int, message: str, *, kind: str, code: str | None) -> Response:
    """Return an error of the OpenAI path."""
    return json_response({"error": {"message": message, "type": kind, "code": code}}, status)


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a value as JSON."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return Response(body, status, headers, JSON)


async def read_request(request: Request, limit_bytes: int) -> bytes:
    """Return a request's body.

    Raises:
        ApiError: It is too large, and nothing more of it is kept; or its client has gone away.
    """
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > limit_bytes:
        raise too_large(limit_bytes)
    pieces: list[bytes] = []
    size = 0
    try:
        async for piece in request.stream():
            size += len(piece)
            if size > limit_bytes:
                raise too_large(limit_bytes)
            pieces.append(piece)
    except ClientDisconnect as error:
        raise gone_away() from error
    return b"".join(pieces)


async def read_answer(flight: Flight, where: Whereabouts, limit_bytes: int) -> bytes:
    """Return the body of an answer, or raise what becomes of it.

    Raises:
        ApiError: The container answered with an error, broke off, or with too much.
    """
    pieces: list[bytes] = []
    size = 0
    whole = True
    try:
        async for piece in flight.pieces():
            size += len(piece)
            pieces.append(piece)
            if size > limit_bytes:
                # Own words, and own choice: what SageMaker answers to a response that is too large is not documented.
                raise where.model_error(flight.status, too_large(limit_bytes).message.encode(), whole=False)
    except ContainerGoneError:
        whole = False
    body = b"".join(pieces)
    if 200 <= flight.status < 300 and whole:
        return body
    if not whole and flight.status < 300:
        raise where.process_error(errors.PROCESS_EXITED)
    raise where.model_error(flight.status, body, whole=whole)
