"""A stand-in for AWS Secrets Manager: answers GetSecretValue and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

TOKEN = "hf_a-token-that-must-not-be-in-an-image"


class SecretsManager:
    """A server on 127.0.0.1 that has one secret."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def environment(self) -> dict[str, str]:
        """What leads the AWS SDK here, with credentials that are none."""
        return {
            "AWS_ENDPOINT_URL_SECRETS_MANAGER": f"http://127.0.0.1:{self._server.server_address[1]}",
            "AWS_ACCESS_KEY_ID": "AKIASTANDIN",
            "AWS_SECRET_ACCESS_KEY": "stand-in",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                asked.append({"target": self.headers["X-Amz-Target"], "body": json.loads(body)})
                answer = json.dumps({"SecretString": TOKEN, "Name": "hub-token"}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/x-amz-json-1.1")
                self.send_header("Content-Length", str(len(answer)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler
