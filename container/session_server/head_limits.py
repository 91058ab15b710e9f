"""uvicorn's HTTP protocol with limits for the head of a request, which httptools takes of any size and at any pace."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from session_server.errors import RequestError

MAX_HEAD_BYTES = 64 * 1024
"""Far more than clients of an endpoint send; a head is held in memory until it is whole."""
HEAD_SECONDS = 10.0


class _RefusedError(Exception):
    """Stops the parser: the head is too large."""


class BoundedHeadProtocol(HttpToolsProtocol):
    """Refuses a head that is larger than 64 KiB (431) or does not come within ten seconds (408)."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._in_head, self._head_begun = True, False
        self._head_bytes = 0
        # Bytes that have brought neither a whole head nor a part of a body. The parser keeps them without a word:
        # a header that does not end, or one behind the last chunk.
        self._silent_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the time for the first byte: uvicorn's own for idle connections, which begins after a request."""
        super().connection_made(transport)  # type: ignore[arg-type]  # uvicorn's own narrower type
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count, and let uvicorn parse."""
        if self.transport.is_closing():
            return
        self._silent_bytes += len(data)
        self._time_head()
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._silent_bytes > MAX_HEAD_BYTES:
            self._refuse(_too_large())
        else:
            self._time_head()  # the next request's, if this data had its beginning

    def on_message_begin(self) -> None:
        """Begin to count."""
        self._head_begun, self._head_bytes = True, 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Count the target."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header; those behind a chunked body come here, too."""
        self._count(len(name) + len(value) + len(": \r\n"))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """End the head's time."""
        self._in_head, self._head_begun, self._silent_bytes = False, False, 0
        self._stop_timer()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Note that the body goes on."""
        self._silent_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Wait for the next head."""
        self._in_head, self._silent_bytes = True, 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what cannot be parsed, or was refused while it was parsed."""
        if self._head_bytes > MAX_HEAD_BYTES:
            self._refuse(_too_large())
        else:
            super().send_400_response(msg)

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > MAX_HEAD_BYTES:
            raise _RefusedError

    def _time_head(self) -> None:
        if self._in_head and (self._head_begun or self._silent_bytes) and self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._on_late_head)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _on_late_head(self) -> None:
        self._head_timer = None
        if self.transport.is_closing():
            return
        if self._is_answering():
            # An answer before it is still on its way; this head has its time after that.
            self._time_head()
            return
        self._refuse(
            RequestError(
                f"the request's head did not come within {HEAD_SECONDS:g} s",
                status=HTTPStatus.REQUEST_TIMEOUT,
                code="head_timeout",
            )
        )

    def _is_answering(self) -> bool:
        # uvicorn's annotation leaves out that there is none before the first request.
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _refuse(self, error: RequestError) -> None:
        # Guard: in the middle of an answer, an error would be taken for a part of it.
        if not self._is_answering():
            body = error.body()
            reason = HTTPStatus(error.status).phrase
            head = (
                f"HTTP/1.1 {error.status:d} {reason}\r\ncontent-type: application/json\r\n"
                f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
        self.transport.close()


def _too_large() -> RequestError:
    return RequestError(
        f"the request's head is larger than {MAX_HEAD_BYTES} bytes; send fewer or shorter headers",
        status=HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
        code="head_too_large",
    )
