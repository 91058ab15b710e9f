"""What the client's commands write: answers for a terminal, without what would steer it, and facts of a call."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from warmstack.client import EndpointError, InvalidArgument, Response

# Guard: escapes in a model's answer could move the cursor, set the window's title or write to the clipboard.
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def shown(text: str) -> str:
    """Return a text as a terminal may get it; a pipe gets every character."""
    return _STEERING.sub("�", text) if sys.stdout.isatty() else text


def read_argument(text: str | None, name: str) -> str | None:
    """Return a text, or with ``@`` before it what is in a file.

    Args:
        text: The option's value.
        name: Its name, for errors.

    Raises:
        InvalidArgument: The file cannot be read.
    """
    return read_file(Path(text[1:]), name) if text is not None and text.startswith("@") else text


def read_file(path: Path, name: str) -> str:
    """Return a file's text, or that of standard input where its name is ``-``.

    Raises:
        InvalidArgument: It cannot be read, or is no UTF-8.
    """
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        return data.decode("utf-8")
    except OSError as error:
        raise InvalidArgument(f"{name}: {path} cannot be read ({error.strerror})") from error
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


def error_document(error: EndpointError) -> dict[str, Any]:
    """Return a failure as JSON for scripts."""
    return {
        "error": {
            "kind": type(error).__name__,
            "message": str(error),
            "status": error.status,
            "code": error.code,
            "original_status": error.original_status,
            "original_message": error.original_message,
            "request_id": error.request_id,
            "retryable": error.retryable,
        }
    }
