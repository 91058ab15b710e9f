"""What an answer is, whole or put together from a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from warmstack.client.events import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool that the model wants called.

    Args:
        id: What the tool's result names; empty where the server gave none.
        name: The tool.
        arguments: Its arguments as the model wrote them: meant as JSON, and not checked.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallInfo:
    """How an answer came about.

    Args:
        request_id: The id that AWS support asks for.
        variant: The production variant that answered.
        session_id: The session that it ran in.
        seconds: From the first try to the last byte so far.
        ttft_seconds: From the first try to the first event of a stream; None for an answer that came whole.
        retries: How often the request was sent again because nothing had taken it.
        replays: How often the turn was sent again because its session was lost.
    """

    request_id: str | None = None
    variant: str | None = None
    session_id: str | None = None
    seconds: float
    ttft_seconds: float | None = None
    retries: int = 0
    replays: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer: the first choice of it, where there are several.

    Args:
        text: The text; empty where the model only calls tools.
        reasoning: What the model thought before; None where the server parts nothing off.
        tool_calls: The tools that it wants called.
        finish_reason: Why it ended, such as ``stop``, ``length`` or ``tool_calls``; None where that is not told.
        usage: The counted tokens; None where they are not told.
        id: The request's id at the server.
        model: Whose answer it is.
        raw: The server's whole document; None for a stream. It is not compared.
        call: How it came about; None where it was read from bytes alone. It is not compared.
    """

    text: str
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    id: str | None = None
    model: str | None = None
    raw: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)
    call: CallInfo | None = field(default=None, compare=False, repr=False)

    def message(self) -> dict[str, Any]:
        """Return the assistant's message, to append as it is to a conversation.

        Reasoning is not in it: chat templates take none in, or drop that of earlier turns, so that sending it would
        change the bytes of the conversation and nothing else.
        """
        message: dict[str, Any] = {"role": "assistant", "content": self.text or None if self.tool_calls else self.text}
        if self.tool_calls:
            message["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.tool_calls
            ]
        return message
