"""A server that keeps the bodies of what it is asked, and answers enough of OpenAI's and SageMaker's paths.

It runs in the clients' environment: the standard library, and this project's frames of the event stream.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.clients.conversation import ANSWER, MODEL
from warmstack.local.wire.event_stream import CONTENT_TYPE, payload_part

_USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}


class Recorder(BaseHTTPRequestHandler):
    """Keeps the body of each request, and answers it."""

    bodies: list[bytes]
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.bodies.append(body)
        document = json.loads(body)
        if self.path.endswith("/invocations-response-stream"):
            frames = b"".join(payload_part(event) for event in _events(document))
            self._answer(CONTENT_TYPE, frames, {"X-Amzn-SageMaker-Content-Type": "text/event-stream"})
        elif document.get("stream") is True:
            self._answer("text/event-stream", b"".join(_events(document)))
        else:
            self._answer("application/json", json.dumps(_whole(document)).encode())

    def _answer(self, media: str, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(200)
        for name, value in {"content-type": media, "content-length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@contextmanager
def recording() -> Iterator[tuple[str, list[bytes]]]:
    """Serve until the block ends; yield the address, and the bodies as they come."""
    bodies: list[bytes] = []
    handler = type("Handler", (Recorder,), {"bodies": bodies})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", bodies
        finally:
            server.shutdown()
            thread.join()


def _whole(document: dict[str, object]) -> object:
    if "inputs" in document:
        return [{"generated_text": ANSWER}]
    choice = {"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}
    return {**_head("chat.completion"), "choices": [choice], "usage": _USAGE}


def _events(document: dict[str, object]) -> Iterator[bytes]:
    if "inputs" in document:
        line = {"token": {"text": ANSWER}, "generated_text": ANSWER}
        yield b"data:" + json.dumps(line).encode() + b"\n\n"
        return
    for delta, reason in (({"role": "assistant", "content": ""}, None), ({"content": ANSWER}, None), ({}, "stop")):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        yield _event({**_head("chat.completion.chunk"), "choices": [choice]})
    yield _event({**_head("chat.completion.chunk"), "choices": [], "usage": _USAGE})
    yield b"data: [DONE]\n\n"


def _event(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _head(kind: str) -> dict[str, object]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1764500000, "model": MODEL}
