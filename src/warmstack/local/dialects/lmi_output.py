"""LMI's output: formatters applied to it, and vLLM's events as lines of JSON."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from warmstack.local.container import ContainerGoneError, ContainerReply
from warmstack.local.dialects.lmi_inputs import InputsRequest, StreamedAnswer
from warmstack.local.dialects.lmi_replies import LINES, UncaughtFailure, encoded, line

_DONE = "[DONE]"


def formatted_line(function: Callable[..., Any], value: Any) -> bytes:
    """Return what an output formatter makes of an answer, with the line break that LMI puts behind it.

    Raises:
        UncaughtFailure: It fails, or returns what cannot be sent.
    """
    try:
        result = function(value)
        if hasattr(result, "model_dump_json"):
            result = result.model_dump_json()
        elif isinstance(result, dict):
            result = json.dumps(result, ensure_ascii=False)
        # As LMI adds it: a class of the formatter's own may have an opinion on that.
        return bytes((result + "\n").encode("utf-8", "surrogatepass"))
    except Exception as error:  # a user's function may raise anything
        raise UncaughtFailure from error


class StreamedLines:
    """vLLM's stream of events as LMI's stream of lines; the last one is empty, as LMI sends it.

    Args:
        reply: vLLM's answer.
        output: The output formatter, or None.
        inputs: What was asked, in the form with ``inputs``; None in OpenAI's forms.
    """

    status = 200
    headers = LINES

    def __init__(self, reply: ContainerReply, output: Callable[..., Any] | None, inputs: InputsRequest | None) -> None:
        self._reply = reply
        self._output = output
        self._inputs = inputs

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the lines as their events come.

        Raises:
            ContainerGoneError: The engine broke off, or a formatter failed.
        """
        async for one in self._formatted(self._output) if self._output is not None else self._lines():
            if one:
                yield one

    async def close(self) -> None:
        """Abort the request."""
        await self._reply.close()

    async def _formatted(self, output: Callable[..., Any]) -> AsyncIterator[bytes]:
        async for event in self._events():
            try:
                yield formatted_line(output, event)
            except UncaughtFailure as error:
                # LMI sends nothing more, and closes the connection after 120 s; here it is closed at once.
                raise ContainerGoneError("an output formatter failed within a stream") from error
        yield line("")

    async def _lines(self) -> AsyncIterator[bytes]:
        answer = StreamedAnswer(request=self._inputs) if self._inputs is not None else None
        async for event in self._events():
            data = event[6:].strip()
            if data == _DONE:
                yield line("")
                return
            try:
                text = data if answer is None else answer.line(data)
            except (KeyError, TypeError, ValueError, IndexError) as error:
                yield encoded({"code": 424, "error": str(error)})
                return
            yield line(text)

    async def _events(self) -> AsyncIterator[str]:
        waiting = b""
        async for piece in self._reply.pieces():
            *whole, waiting = (waiting + piece).split(b"\n\n")
            for event in whole:
                yield event.decode("utf-8", "surrogatepass") + "\n\n"
