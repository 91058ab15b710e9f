"""LMI's output: formatters applied to it, and vLLM's events as lines of JSON."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from warmstack.local.container import ContainerGoneError, ContainerReply
from warmstack.local.dialects.lmi_inputs import InputsRequest, StreamedAnswer
from warmstack.local.dialects.lmi_replies import UncaughtFailure, encoded, line

_DONE = "[DONE]"


def formatted_text(function: Callable[..., Any], value: Any) -> str:
    """Return what an output formatter makes of an answer.

    Raises:
        UncaughtFailure: It fails, or returns what cannot be sent.
    """
    try:
        result = function(value)
        if hasattr(result, "model_dump_json"):
            return str(result.model_dump_json())
        if isinstance(result, dict):
            return json.dumps(result, ensure_ascii=False)
    except Exception as error:  # a user's function may raise anything
        raise UncaughtFailure from error
    if not isinstance(result, str):
        raise UncaughtFailure
    return result + ""


async def stream_lines(
    reply: ContainerReply, output: Callable[..., Any] | None, inputs: InputsRequest | None
) -> AsyncIterator[bytes]:
    """Turn vLLM's events into lines; the last one is empty, as LMI sends it.

    Args:
        reply: vLLM's answer.
        output: The output formatter, or None.
        inputs: What was asked, in the form with ``inputs``; None in OpenAI's forms.

    Raises:
        ContainerGoneError: The engine broke off, or a formatter failed.
    """
    answer = StreamedAnswer(request=inputs) if inputs is not None else None
    try:
        async for event in _events(reply):
            data = event[6:].strip()
            if output is not None:
                try:
                    yield line(formatted_text(output, event))
                except UncaughtFailure as error:
                    # LMI sends nothing more, and closes the connection after 120 s; here it is closed at once.
                    raise ContainerGoneError("an output formatter failed within a stream") from error
            elif data == _DONE:
                yield line("")
                return
            elif answer is None:
                yield line(data)
            else:
                try:
                    text = answer.line(data)
                except (KeyError, TypeError, ValueError, IndexError) as error:
                    yield encoded({"code": 424, "error": str(error)})
                    return
                yield line(text)
        if output is not None:
            yield line("")
    finally:
        await reply.close()


async def _events(reply: ContainerReply) -> AsyncIterator[str]:
    waiting = b""
    async for piece in reply.pieces():
        *whole, waiting = (waiting + piece).split(b"\n\n")
        for event in whole:
            yield event.decode("utf-8", "surrogatepass") + "\n\n"
