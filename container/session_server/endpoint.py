"""The HTTP side of an inference: its body in, its reply out, and nothing left behind when the client goes away.

A plain ASGI endpoint: FastAPI's own request handling costs more than the rest of this server, and gives nothing to a
request that is passed on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from starlette.types import Receive, Scope, Send

from session_server.adapter_references import ADAPTER_HEADER
from session_server.bodies import Bodies, ClientGoneError
from session_server.errors import RequestError
from session_server.forms import Form
from session_server.gateway import Gateway, Incoming
from session_server.limits import RequestSlots, validated_headers
from session_server.replies import Reply, StreamReply, error_reply
from session_server.session_protocol import SESSION_HEADER

_log = logging.getLogger(__name__)


class InferenceEndpoint:
    """Answers POST on one path.

    Args:
        gateway: Answers the requests.
        slots: Counts those that run.
        bodies: Reads what comes in.
        only: The one form that this path takes; None for each.
    """

    def __init__(self, *, gateway: Gateway, slots: RequestSlots, bodies: Bodies, only: Form | None = None) -> None:
        self._gateway = gateway
        self._slots = slots
        self._bodies = bodies
        self._only = only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI calls it."""
        try:
            own = validated_headers(scope["headers"])
            headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
            request = Incoming(
                raw=await self._bodies.read(receive, headers),
                session=own.get(SESSION_HEADER.lower()),
                adapter=own.get(ADAPTER_HEADER.lower()),
                only=self._only,
            )
            # Guard: after the body. Half-sent ones would take every place, and no request would run.
            with self._slots.slot():
                await self._until_gone(request, receive, send)
        except ClientGoneError:
            return
        except RequestError as error:
            await send_reply(send, error_reply(error))

    async def _until_gone(self, request: Incoming, receive: Receive, send: Send) -> None:
        """Answer, and stop when the client goes away: the engine then aborts what it computes for it."""
        work = asyncio.ensure_future(self._answer(request, send))
        gone = asyncio.ensure_future(_disconnected(receive))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            if not work.done():
                work.cancel()
            with suppress(asyncio.CancelledError):
                await work

    async def _answer(self, request: Incoming, send: Send) -> None:
        try:
            reply = await self._gateway.answer(request)
        except RequestError as error:
            reply = error_reply(error)
        except Exception:
            # The log has the traceback; the client gets none.
            _log.exception("a request failed unexpectedly")
            reply = error_reply(unexpected())
        if isinstance(reply, Reply):
            await send_reply(send, reply)
        else:
            await _send_stream(send, reply)


async def send_reply(send: Send, reply: Reply) -> None:
    """Send a whole answer."""
    headers = [*_head(reply), (b"content-length", str(len(reply.body)).encode())]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})


async def _send_stream(send: Send, reply: StreamReply) -> None:
    last = b""
    try:
        await send({"type": "http.response.start", "status": reply.status, "headers": _head(reply)})
        async for chunk in reply.chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    except RequestError as error:
        last = reply.error(error)
    except Exception:
        _log.exception("a stream failed unexpectedly")
        last = reply.error(unexpected())
    finally:
        reply.close()
    await send({"type": "http.response.body", "body": last})


def _head(reply: Reply | StreamReply) -> list[tuple[bytes, bytes]]:
    named: Mapping[str, str] = {"content-type": reply.content_type, **reply.headers}
    return [(key.lower().encode("latin-1"), value.encode("latin-1")) for key, value in named.items()]


async def _disconnected(receive: Receive) -> None:
    while True:
        message: Any = await receive()
        if message["type"] == "http.disconnect":
            return


def unexpected() -> RequestError:
    """Return the error for what nobody foresaw."""
    return RequestError(
        "the session server failed; its log says why", status=HTTPStatus.INTERNAL_SERVER_ERROR, code="internal_error"
    )
