"""HTTP to a process on the loopback, in the form of a container: answers come as they are made."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Self

from warmstack.local.container import ContainerGoneError, ContainerRequest
from warmstack.local.errors import missing_package

try:
    import aiohttp
    from yarl import URL
except ModuleNotFoundError as error:
    raise missing_package(error) from error

# Guard: vLLM closes a connection that was idle for 5 s. A request on one that is closing would fail.
KEEP_ALIVE_SECONDS = 3.0
CONNECT_SECONDS = 5.0
LARGE_BODY_BYTES = 1 << 20
"""aiohttp sends larger bodies in portions only if they are files."""
OF_THE_TRANSPORT = frozenset(
    {
        "connection",
        "content-encoding",
        "content-length",
        "date",
        "host",
        "keep-alive",
        "proxy-connection",
        "server",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers of one connection, which do not belong to a message that another one carries on."""


class HttpReply:
    """An answer whose head has come.

    Args:
        response: The answer of the HTTP client.
    """

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status = response.status
        named: dict[str, str] = {}
        for name, value in response.headers.items():
            key = name.lower()
            if key not in OF_THE_TRANSPORT:
                named[key] = f"{named[key]}, {value}" if key in named else value
        self.headers: Mapping[str, str] = named

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes.

        Raises:
            ContainerGoneError: The connection broke.
        """
        try:
            async for data in self._response.content.iter_any():
                yield data
        except (aiohttp.ClientError, OSError) as error:
            raise _broken(error) from error

    async def close(self) -> None:
        """Let go of the answer. If it has not ended, the connection is closed, and the engine aborts the request."""
        self._response.close()


class HttpContainer:
    """A container that is asked over HTTP.

    Args:
        url: Where it listens, without a path.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: ContainerRequest) -> HttpReply:
        """Send a request and wait for the head of its answer.

        Raises:
            ContainerGoneError: There is no connection, or it broke.
        """
        body: bytes | io.BytesIO | None = request.body or None
        if len(request.body) > LARGE_BODY_BYTES:
            body = io.BytesIO(request.body)
        headers = {name: value for name, value in request.headers.items() if name not in OF_THE_TRANSPORT}
        try:
            response = await self._open().request(
                request.method, URL(self.url + request.path, encoded=True), data=body, headers=headers
            )
        except (aiohttp.ClientError, OSError) as error:
            raise _broken(error) from error
        return HttpReply(response)

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                # Their number is limited where requests come in, not here. No TLS: the engine is on the loopback.
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS, ssl=False),
                # The engine takes as long as it takes; whoever waits goes away, and then the request is aborted.
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
                # Guard: without this, HTTP_PROXY in the environment or a compressed answer would come in between.
                trust_env=False,
                auto_decompress=False,
                skip_auto_headers=("Accept-Encoding", "Content-Type", "User-Agent"),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        if self._session.closed:
            raise ContainerGoneError(f"the engine at {self.url} was stopped")
        return self._session

    async def close(self) -> None:
        """Close every connection; requests that are under way break. Any number of times."""
        if self._session is not None:
            await self._session.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _broken(error: Exception) -> ContainerGoneError:
    if isinstance(error, (aiohttp.ClientConnectorError, TimeoutError)):
        return ContainerGoneError("the engine does not accept connections; it is starting or has ended")
    return ContainerGoneError(
        f"the connection to the engine broke before the answer was complete ({type(error).__name__})"
    )
