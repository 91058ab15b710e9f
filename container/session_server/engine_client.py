"""The engine's HTTP: requests over the loopback, answers whole or as they come."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

import aiohttp
from pydantic_core import from_json, to_json

from session_server.errors import EngineUnreachableError

JSON_HEADERS = {"Content-Type": "application/json"}
# Guard: SGLang and vLLM close a connection that was idle for 5 s. A request on one that is closing would fail.
KEEP_ALIVE_SECONDS = 3.0
CONNECT_SECONDS = 5.0
LARGE_BODY_BYTES = 1 << 20
"""aiohttp sends larger bodies in portions only if they are files."""


class EngineAnswer:
    """An answer whose head has come.

    Args:
        response: The answer of the HTTP client.
        progress: Called whenever bytes of a successful answer come. (A refusal is no sign that the engine generates.)
    """

    def __init__(self, response: aiohttp.ClientResponse, progress: Callable[[], None]) -> None:
        self._response = response
        self._progress = progress if response.status == HTTPStatus.OK else lambda: None
        self.status = response.status
        self.content_type = response.headers.get("Content-Type", "application/json")

    @property
    def is_stream(self) -> bool:
        """Whether the body is server-sent events."""
        return self.content_type.startswith("text/event-stream")

    async def read(self) -> bytes:
        """Return the whole body."""
        try:
            body = await self._response.read()
        except aiohttp.ClientError as error:
            raise broken(error) from error
        self._progress()
        return body

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the bytes as they come.

        Raises:
            EngineUnreachableError: The connection broke.
        """
        try:
            async for data in self._response.content.iter_any():
                self._progress()
                yield data
        except aiohttp.ClientError as error:
            raise broken(error) from error

    def close(self) -> None:
        """Let go of the answer. If it has not ended, the connection is closed, and the engine aborts the request."""
        self._response.close()


class EngineClient:
    """Calls the engine.

    Args:
        url: Where the engine listens, without a path.
        progress: Called whenever bytes come from the engine.
    """

    def __init__(self, url: str, *, progress: Callable[[], None] = lambda: None) -> None:
        self._url = url
        self._progress = progress
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            # Their number is limited where requests come in, not here. No TLS: the engine is on the loopback.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS, ssl=False),
            # The engine takes as long as it takes; whoever waits goes away, and then the request is aborted.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            # Guard: without this, HTTP_PROXY in the environment or a compressed answer would come in between.
            trust_env=False,
            auto_decompress=False,
            skip_auto_headers=("Accept-Encoding", "User-Agent"),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session:
            await self._session.close()

    async def send(self, method: str, path: str, body: bytes | None = None, *, generates: bool = True) -> EngineAnswer:
        """Send a request and wait for the head of its answer.

        Args:
            method: The HTTP method.
            path: The engine's endpoint.
            body: The body; None for none.
            generates: Whether bytes of the answer show that the engine generates; metrics come from one that hangs.

        Raises:
            EngineUnreachableError: There is no connection, or it broke.
        """
        progress = self._progress if generates else lambda: None
        return EngineAnswer(await self._request(method, path, body), progress)

    async def call(self, method: str, path: str, value: object = None, *, timeout_seconds: float | None = None) -> Any:
        """Send a value as JSON and return status and answer, decoded if it is JSON.

        Its answers do not count as progress: an engine that hangs still lists its models.

        Args:
            method: The HTTP method.
            path: The engine's endpoint.
            value: The body; None for none.
            timeout_seconds: How long to wait for the whole answer.

        Raises:
            EngineUnreachableError: There is no answer in time.
        """
        try:
            async with asyncio.timeout(timeout_seconds):
                response = await self._request(method, path, None if value is None else to_json(value))
                async with response:
                    body = await response.read()
        except aiohttp.ClientError as error:
            raise broken(error) from error
        except TimeoutError as error:
            raise EngineUnreachableError(
                "the engine did not answer in time; try again", code="engine_timeout"
            ) from error
        with suppress(ValueError):
            return response.status, from_json(body)
        return response.status, body.decode("utf-8", "replace")

    async def _request(self, method: str, path: str, body: bytes | None) -> aiohttp.ClientResponse:
        if self._session is None:
            raise RuntimeError("the client is used outside of its context")
        data = io.BytesIO(body) if body is not None and len(body) > LARGE_BODY_BYTES else body
        try:
            return await self._session.request(
                method, self._url + path, data=data, headers=JSON_HEADERS if body is not None else None
            )
        except (aiohttp.ClientConnectorError, TimeoutError) as error:
            raise EngineUnreachableError(
                "the engine does not accept connections; it is starting or has ended. Try again when GET /ping is 200"
            ) from error
        except aiohttp.ClientError as error:
            raise broken(error) from error


def broken(error: Exception) -> EngineUnreachableError:
    """Return the error for a connection that broke."""
    return EngineUnreachableError(
        f"the connection to the engine broke before the answer was complete ({type(error).__name__}); try again",
        code="engine_connection_broken",
    )
