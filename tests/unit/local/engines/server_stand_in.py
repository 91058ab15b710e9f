"""Stands in for vLLM's and LMCache's servers: the flags and endpoints that a start uses, and nothing generated.

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


LMCACHE = "--http-port" in sys.argv
KIND = "lmcache" if LMCACHE else Path(argument("--model")).name


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        """Stay quiet."""

    def do_GET(self) -> None:
        if self.path in ("/health", "/healthcheck"):
            self._answer(503 if KIND == "deaf" else 200, b"")
        elif self.path == "/metrics":
            self._answer(200, b"lmcache_mp_chunks 1")
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
port = argument("--http-port" if LMCACHE else "--port")
ThreadingHTTPServer((argument("--http-host" if LMCACHE else "--host"), int(port)), Handler).serve_forever()
