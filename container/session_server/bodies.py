"""The bodies of requests on their way in: how large, how long, and how many bytes of them at a time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from http import HTTPStatus

from starlette.types import Receive

from session_server.errors import RequestError, TooBusyError

# What is still read of a body that is too large, so that its client reads the answer and not a reset connection.
DRAIN_SECONDS = 2.0
DRAIN_BYTES = 64 * 1024 * 1024
RETRY_SECONDS = 1
LAST_SECONDS = 3.0
"""How long a body may still take after SIGTERM: what arrives then must leave time for its answer."""
CLOSE = {"Connection": "close"}


class ClientGoneError(Exception):
    """The client closed the connection."""


class Bodies:
    """Reads bodies within limits.

    Args:
        max_bytes: The largest body.
        seconds: How long one may take to come.
        arriving_bytes: How many bytes of bodies that are not whole yet may be held.
    """

    def __init__(self, *, max_bytes: int, seconds: float, arriving_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._arriving_bytes = arriving_bytes
        self._deadlines: set[asyncio.Timeout] = set()
        self.held_bytes = 0

    def hasten(self) -> None:
        """Give what arrives, now and later, a few seconds only: the server is about to end."""
        self._seconds = min(self._seconds, LAST_SECONDS)
        latest = asyncio.get_running_loop().time() + self._seconds
        for deadline in self._deadlines:
            when = deadline.when()
            if not deadline.expired() and (when is None or when > latest):
                deadline.reschedule(latest)

    async def read(self, receive: Receive, headers: Mapping[str, str]) -> bytes:
        """Read a request's body.

        Args:
            receive: ASGI's receive.
            headers: The request's headers, their names in lower case.

        Raises:
            RequestError: It is larger (413), or did not come in time (408).
            TooBusyError: Too much is arriving at once (503).
            ClientGoneError: It did not come to its end.
        """
        deadline = asyncio.timeout(self._seconds)
        self._deadlines.add(deadline)
        try:
            async with deadline:
                return await self._read(receive, headers)
        except TimeoutError as error:
            raise RequestError(
                f"the body did not come within {self._seconds:g} s (WARMSTACK_BODY_SECONDS); send it faster",
                status=HTTPStatus.REQUEST_TIMEOUT,
                code="body_timeout",
                headers=CLOSE,
            ) from error
        finally:
            self._deadlines.discard(deadline)

    async def _read(self, receive: Receive, headers: Mapping[str, str]) -> bytes:
        declared = headers.get("content-length", "")
        if re.fullmatch(r"[0-9]+", declared) and (len(declared) > 15 or int(declared) > self._max_bytes):
            # Guard: whoever sent `Expect: 100-continue` has not sent the body yet, and reading would ask for it.
            if "expect" not in headers:
                await _discard(receive)
            raise self._too_large()
        parts: list[bytes] = []
        size = 0
        try:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientGoneError
                part = message.get("body", b"")
                parts.append(part)
                size += len(part)
                self.held_bytes += len(part)
                if size > self._max_bytes:
                    parts.clear()
                    if message.get("more_body"):
                        await _discard(receive)
                    raise self._too_large()
                if not message.get("more_body"):
                    return parts[0] if len(parts) == 1 else b"".join(parts)
                if self.held_bytes > self._arriving_bytes:
                    raise self._too_much()
        finally:
            self.held_bytes -= size

    def _too_large(self) -> RequestError:
        return RequestError(
            f"the body is larger than {self._max_bytes} bytes (WARMSTACK_MAX_BODY_BYTES); send a smaller one",
            status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            code="body_too_large",
            headers=CLOSE,
        )

    def _too_much(self) -> TooBusyError:
        error = TooBusyError(
            f"{self._arriving_bytes} bytes of bodies are arriving, as many as WARMSTACK_MAX_ARRIVING_BYTES allows; "
            "try again",
            code="too_many_bytes",
            retry_after_seconds=RETRY_SECONDS,
        )
        error.headers |= CLOSE
        return error


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
