"""A response on its way to the client, with an output formatter applied: whole, or event by event."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from server_sent_events import Event, EventReader
from warmstack_formatters import FormatterError, Formatters, error_body, is_result, to_text

Message = MutableMapping[str, Any]
Headers = Iterable[tuple[bytes, bytes]]
_LOG = logging.getLogger("warmstack")


class _GoneError(OSError):
    """Tells the application that no one listens: an ASGI server raises an OSError for a client that has gone."""


class Client:
    """What is sent to the client.

    Args:
        send: the server's way to send a message.
    """

    def __init__(self, send: Callable[[Message], Awaitable[None]]) -> None:
        self.forward = send

    async def whole(self, status: int, headers: Headers, body: bytes, kind: bytes | None = None) -> None:
        """Send a whole response; without ``kind`` its content type is the one in the headers."""
        await self.start(status, [*headers, (b"content-length", str(len(body)).encode())], kind)
        await self.body(body, last=True)

    async def start(self, status: int, headers: Headers, kind: bytes | None = None) -> None:
        """Send the status and the headers."""
        sent = [(key, value) for key, value in headers if kind is None or key.lower() != b"content-type"]
        if kind is not None:
            sent.append((b"content-type", kind))
        await self.forward({"type": "http.response.start", "status": status, "headers": sent})

    async def body(self, body: bytes, *, last: bool) -> None:
        """Send a part of the body."""
        await self.forward({"type": "http.response.body", "body": body, "more_body": not last})


class FormattedResponse:
    """An ASGI way to send. Errors, and what is neither JSON nor a stream of events, pass as they are.

    Args:
        formatters: what formats.
        client: whom to send to.
    """

    def __init__(self, formatters: Formatters, client: Client) -> None:
        self._formatters, self._client = formatters, client
        self._mode = "as it is"
        self._status = 200
        self._headers: list[tuple[bytes, bytes]] = []
        self._whole = bytearray()
        self._reader = EventReader()
        self._started = False
        self.broken = False
        """Whether a formatter failed and the client has been told the end."""

    async def __call__(self, message: Message) -> None:
        """Take one message of the application's."""
        if self.broken:
            raise _GoneError("a formatter failed; the response has ended")
        if message["type"] == "http.response.start":
            await self._start(message)
        elif message["type"] != "http.response.body" or self._mode == "as it is":
            await self._client.forward(message)
        elif self._mode == "whole":
            await self._take_whole(message.get("body", b""), last=not message.get("more_body", False))
        else:
            await self._take_events(message.get("body", b""), last=not message.get("more_body", False))

    async def _start(self, message: Message) -> None:
        headers = [(bytes(key), bytes(value)) for key, value in message.get("headers", ())]
        named = {key.lower(): value.lower() for key, value in headers}
        kind = named.get(b"content-type", b"")
        if message["status"] < 300 and named.get(b"content-encoding", b"identity") == b"identity":
            if kind.startswith(b"text/event-stream"):
                self._mode = "events"
            elif b"json" in kind:
                self._mode = "whole"
        if self._mode == "as it is":
            await self._client.forward(message)
            return
        # The start waits for the first output: until then a formatter that fails can still change the status.
        self._status = message["status"]
        self._headers = [(key, value) for key, value in headers if key.lower() != b"content-length"]

    async def _take_whole(self, part: bytes, *, last: bool) -> None:
        self._whole += part
        if not last:
            return
        body = bytes(self._whole)
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            document = None
        if is_result(document):
            try:
                body = to_text(self._formatters.output(document)).encode()
            except FormatterError as error:
                await self._break(error)
                return
        await self._client.whole(self._status, self._headers, body)

    async def _take_events(self, part: bytes, *, last: bool) -> None:
        events = self._reader.feed(part)
        if last:
            events += self._reader.rest()
        sent = bytearray()
        for event in events:
            try:
                sent += self._formatted(event)
            except FormatterError as error:
                await self._send_events(bytes(sent), last=False)
                await self._break(error)
                return
        await self._send_events(bytes(sent), last=last)

    async def _send_events(self, sent: bytes, *, last: bool) -> None:
        if not sent and not last:
            return
        if not self._started:
            self._started = True
            await self._client.start(self._status, self._headers)
        await self._client.body(sent, last=last)

    def _formatted(self, event: Event) -> bytes:
        if event.data is None or event.data.strip() == "[DONE]":
            return event.raw + b"\n\n"
        try:
            chunk = json.loads(event.data)
        except (ValueError, RecursionError):
            return event.raw + b"\n\n"
        if not is_result(chunk):
            return event.raw + b"\n\n"
        formatted = self._formatters.chunk(chunk)
        return b"" if formatted is None else event.with_data(to_text(formatted))

    async def _break(self, error: FormatterError) -> None:
        """Tell the client of a failed formatter: by the status where nothing was sent, else by an event and the end."""
        self.broken = True
        _LOG.error("%s", error)
        text = to_text(error_body(error))
        if self._started:
            await self._client.body(f"data: {text}\n\ndata: [DONE]\n\n".encode(), last=True)
        else:
            await self._client.whole(424, self._headers, text.encode(), b"application/json")
