"""How much comes in: the size of a body and the number of requests at a time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus

from starlette.types import Receive

from session_server.adapter_references import ADAPTER_HEADER
from session_server.errors import BadRequestError, RequestError, TooBusyError
from session_server.session_protocol import SESSION_HEADER

# What is still read of a body that is too large, so that its client reads the answer and not a reset connection.
DRAIN_SECONDS = 2.0
DRAIN_BYTES = 64 * 1024 * 1024
RETRY_SECONDS = 1


class ClientGoneError(Exception):
    """The client closed the connection."""


class RequestSlots:
    """Counts the requests that run.

    Args:
        limit: How many may run at a time.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.taken = 0

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hold one of the places.

        Raises:
            TooBusyError: All are taken.
        """
        if self.taken >= self._limit:
            raise TooBusyError(
                f"{self._limit} requests are running, as many as WARMSTACK_MAX_CONCURRENT_REQUESTS allows; try again",
                code="too_many_requests",
                retry_after_seconds=RETRY_SECONDS,
            )
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1


def validated_headers(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return this server's own headers by their names in lower case, each at most once.

    Args:
        raw: The request's headers, as ASGI gives them.

    Raises:
        BadRequestError: One comes twice. What their values may be is the business of the modules that read them.
    """
    wanted = {SESSION_HEADER.lower(), ADAPTER_HEADER.lower()}
    found: dict[str, str] = {}
    for key, value in raw:
        name = key.decode("latin-1").lower()
        if name in wanted:
            if name in found:
                raise BadRequestError(f"the header {name} is sent twice; send it once")
            found[name] = value.decode("latin-1").strip()
    return found


async def read_body(receive: Receive, headers: Mapping[str, str], limit: int) -> bytes:
    """Read a request's body.

    Args:
        receive: ASGI's receive.
        headers: The request's headers, their names in lower case.
        limit: The largest body, in bytes.

    Raises:
        RequestError: It is larger (413).
        ClientGoneError: It did not come to its end.
    """
    declared = headers.get("content-length", "")
    if re.fullmatch(r"[0-9]+", declared) and (len(declared) > 15 or int(declared) > limit):
        # Guard: whoever sent `Expect: 100-continue` has not sent the body yet, and reading would ask for it.
        if "expect" not in headers:
            await _discard(receive)
        raise _too_large(limit)
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            parts.clear()
            if message.get("more_body"):
                await _discard(receive)
            raise _too_large(limit)
        if not message.get("more_body"):
            return parts[0] if len(parts) == 1 else b"".join(parts)


async def _discard(receive: Receive) -> None:
    size = 0
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            while size < DRAIN_BYTES:
                message = await receive()
                size += len(message.get("body", b""))
                if not message.get("more_body"):
                    return
    except TimeoutError:
        return


def _too_large(limit: int) -> RequestError:
    return RequestError(
        f"the body is larger than {limit} bytes (WARMSTACK_MAX_BODY_BYTES); send a smaller one",
        status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        code="body_too_large",
        headers={"Connection": "close"},
    )
