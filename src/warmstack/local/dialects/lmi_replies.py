"""LMI's answers: those of its Python handler, and those of the Java server before it."""

from __future__ import annotations

import json
from typing import Any

from warmstack.local.container import MemoryReply

JSON = {"content-type": "application/json"}
LINES = {"content-type": "application/jsonlines"}


class HandlerFailure(Exception):  # noqa: N818  (an answer, not a defect)
    """The Python handler refuses a request.

    Args:
        error: The text.
        code: The HTTP status.
    """

    def __init__(self, error: str, code: int = 424) -> None:
        super().__init__(error)
        self.error = error
        self.code = code

    def reply(self) -> MemoryReply:
        """Return the answer."""
        return MemoryReply(status=self.code, headers=JSON, source=encoded({"code": self.code, "error": self.error}))


class ServerFailure(Exception):  # noqa: N818  (an answer, not a defect)
    """The Java server refuses a request.

    Args:
        code: The HTTP status.
        message: What is wrong.
        kind: The name of its exception.
    """

    def __init__(self, code: int, message: str, kind: str = "BadRequestException") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.kind = kind

    def reply(self) -> MemoryReply:
        """Return the answer."""
        document = {"code": self.code, "type": self.kind, "message": self.message}
        return MemoryReply(status=self.code, headers=JSON, source=encoded(document))


class UncaughtFailure(Exception):  # noqa: N818  (an answer, not a defect)
    """The Python handler fails where nothing catches it: the client learns no reason."""

    def reply(self) -> MemoryReply:
        """Return the answer."""
        message = "Async Inference Failure service.invoke_handler_async() failure"
        return MemoryReply(status=424, headers=JSON, source=encoded({"code": 424, "message": message}))


def encoded(value: Any) -> bytes:
    """Return a value as JSON."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def line(text: str) -> bytes:
    """Return a text as the handler sends it: with a line break, also where it has one or is empty."""
    return f"{text}\n".encode("utf-8", "surrogatepass")
