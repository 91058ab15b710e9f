"""ASGI applications as containers: their answers, their failures, and readers that are slow or gone."""

from __future__ import annotations

import asyncio

import pytest

from warmstack.local.container import ContainerGoneError, ContainerRequest, read_body
from warmstack.local.dialects.asgi import WAITING_PIECES, AsgiContainer, ContainerApp, Message, Receive, Scope, Send

ASKED = ContainerRequest(method="POST", path="/a%20b/c?x=1", headers={"x-y": "z"}, body=b"body")


async def mirror(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with what was asked."""
    message = await receive()
    headers = {key.decode(): value.decode() for key, value in scope["headers"]}
    told = [scope["method"], scope["path"], scope["query_string"].decode(), headers["x-y"], headers["content-length"]]
    sent = [(b"X-Told", "|".join(told).encode()), (b"content-length", b"4"), (b"content-type", b"text/x")]
    await send({"type": "http.response.start", "status": 201, "headers": sent})
    await send({"type": "http.response.body", "body": message["body"]})


def test_a_request_and_its_answer() -> None:
    async def scenario() -> tuple[int, dict[str, str], bytes]:
        reply = await AsgiContainer(mirror).send(ASKED)
        return reply.status, dict(reply.headers), await read_body(reply)

    told = {"x-told": "POST|/a b/c|x=1|z|4", "content-type": "text/x"}
    assert asyncio.run(scenario()) == (201, told, b"body")


def test_a_container_within_an_application_is_the_same() -> None:
    async def scenario() -> tuple[int, dict[str, str], bytes]:
        reply = await AsgiContainer(ContainerApp(AsgiContainer(mirror))).send(ASKED)
        return reply.status, dict(reply.headers), await read_body(reply)

    assert asyncio.run(scenario())[1:] == ({"x-told": "POST|/a b/c|x=1|z|4", "content-type": "text/x"}, b"body")


def test_an_application_that_fails_before_its_answer() -> None:
    async def failing(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise ContainerGoneError("gone")

    async def silent(_scope: Scope, _receive: Receive, _send: Send) -> None:
        return

    for app, message in ((failing, "gone"), (silent, "without an answer")):
        with pytest.raises(ContainerGoneError, match=message):
            asyncio.run(AsgiContainer(app).send(ASKED))


class Streaming:
    """Sends pieces without end."""

    def __init__(self) -> None:
        self.sent = 0
        self.ended = False

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        start: Message = {"type": "http.response.start", "status": 200, "headers": []}
        await send(start)
        try:
            while True:
                await send({"type": "http.response.body", "body": b"x", "more_body": True})
                self.sent += 1
        finally:
            self.ended = True


def test_it_waits_for_a_slow_reader_and_ends_with_one_who_goes() -> None:
    app = Streaming()

    async def scenario() -> tuple[int, int]:
        reply = await AsgiContainer(app).send(ASKED)
        for _ in range(50):
            await asyncio.sleep(0)
        before, pieces = app.sent, reply.pieces()
        await anext(pieces)
        await asyncio.sleep(0)
        after = app.sent
        await reply.close()
        await reply.close()
        return before, after

    assert asyncio.run(scenario()) == (WAITING_PIECES, WAITING_PIECES + 1)
    assert app.ended
