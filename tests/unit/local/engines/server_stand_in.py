"""Stands in for vLLM's server: the flags and the endpoints that a copy's start uses, and nothing generated.

The model's name says what it does: ``crash``, ``refuse``, ``deaf`` (never healthy), ``taken`` (the port, once).
"""

from __future__ import annotations

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


def argument(name: str) -> str:
    return sys.argv[sys.argv.index(name) + 1]


KIND = Path(argument("--model")).name


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        """Stay quiet."""

    def do_GET(self) -> None:
        if self.path == "/health":
            self._answer(503 if KIND == "deaf" else 200, b"")
        elif self.path == "/v1/models":
            self._answer(200, b'{"data": [{"id": "served"}]}')
        else:
            self._answer(200, json.dumps({"environment": dict(os.environ), "arguments": sys.argv}).encode())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        refused = KIND == "refuse" or body["model"] != "served"
        self._answer(500 if refused else 200, b"no AMX" if refused else b"{}")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if KIND == "crash":
    sys.exit("ValueError: no such model\nand more")
once = Path("was-here")
if KIND == "taken" and not once.exists():
    once.touch()
    sys.exit("OSError: [Errno 98] Address already in use")
time.sleep(0.2)
ThreadingHTTPServer((argument("--host"), int(argument("--port"))), Handler).serve_forever()
