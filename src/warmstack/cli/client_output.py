"""What the client's commands write: answers for a terminal, without what would steer it, and facts of a call."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from warmstack.cli.console import print_json
from warmstack.cli.steering import shown
from warmstack.client import InvalidArgument, Response
from warmstack.errors import WarmstackError


class LogLines(logging.Handler):
    """Writes what the client logs to standard error, without what would steer a terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        print(shown(record.getMessage(), sys.stderr), file=sys.stderr)


def read_argument(text: str | None, name: str) -> str | None:
    """Return a text, or with ``@`` before it what is in a file.

    Args:
        text: The option's value.
        name: Its name, for errors.

    Raises:
        InvalidArgument: The file cannot be read.
    """
    return read_file(Path(text[1:]), name) if text is not None and text.startswith("@") else text


def read_bytes(path: Path, name: str) -> bytes:
    """Return what is in a file, or on standard input where its name is ``-``.

    Raises:
        InvalidArgument: It cannot be read.
    """
    try:
        return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise InvalidArgument(f"{name}: {path} cannot be read ({error.strerror})") from error


def read_file(path: Path, name: str) -> str:
    """Return a file's text, or that of standard input where its name is ``-``.

    Raises:
        InvalidArgument: It cannot be read, or is no UTF-8.
    """
    data = read_bytes(path, name)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"{name}: {path} is no UTF-8 (byte {error.start}); save it as UTF-8") from error


def counted(count: int, what: str) -> str:
    """Return a count of things: ``1 turn``, ``2 turns``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def figures(response: Response) -> str:
    """Return a line with the figures of an answer."""
    call, usage = response.call, response.usage
    told = []
    if call is not None and call.ttft_seconds is not None:
        told.append(f"TTFT {call.ttft_seconds:.2f} s")
    if call is not None:
        told.append(f"{call.seconds:.2f} s in all")
    if usage is not None:
        cached = "cached not told"
        if usage.cached_tokens is not None:
            share = usage.cached_tokens / usage.prompt_tokens if usage.prompt_tokens else 0
            cached = f"{usage.cached_tokens:,} cached ({share:.0%})"
        told.append(f"{usage.prompt_tokens:,} prompt tokens, {cached}")
        told.append(f"{usage.completion_tokens:,} of the answer")
    if call is not None and call.retries:
        told.append(f"sent again {counted(call.retries, 'time')}")
    if call is not None and call.replays:
        told.append("session lost, turn sent again")
    return "; ".join(told)


def response_document(response: Response) -> dict[str, Any]:
    """Return an answer as JSON for scripts."""
    usage, call = response.usage, response.call
    return {
        "text": response.text,
        "reasoning": response.reasoning,
        "tool_calls": [{"id": one.id, "name": one.name, "arguments": one.arguments} for one in response.tool_calls],
        "finish_reason": response.finish_reason,
        "usage": None
        if usage is None
        else {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "cached_tokens": usage.cached_tokens,
        },
        "call": None
        if call is None
        else {
            "request_id": call.request_id,
            "variant": call.variant,
            "session_id": call.session_id,
            "seconds": round(call.seconds, 6),
            "ttft_seconds": None if call.ttft_seconds is None else round(call.ttft_seconds, 6),
            "retries": call.retries,
            "replays": call.replays,
        },
    }


@contextmanager
def errors_for_scripts(*, as_json: bool) -> Iterator[None]:
    """Write what a command cannot do as JSON too, before it is told on standard error.

    Args:
        as_json: Whether the command writes JSON.
    """
    try:
        yield
    except WarmstackError as error:
        if as_json:
            print_json(error_document(error))
        raise


def error_document(error: WarmstackError) -> dict[str, Any]:
    """Return a failure as JSON for scripts; what no service has told is null."""
    told = ("status", "code", "original_status", "original_message", "request_id")
    return {
        "error": {
            "kind": type(error).__name__,
            "message": str(error),
            **{name: getattr(error, name, None) for name in told},
            "retryable": getattr(error, "retryable", False),
        }
    }
