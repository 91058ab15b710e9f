"""The chunks of a stream → events, and the answer that they make together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from warmstack.client.answer import Response, ToolCall
from warmstack.client.error_documents import read_error
from warmstack.client.events import Finish, ReasoningDelta, StreamEvent, TextDelta, ToolCallDelta, Usage
from warmstack.client.json_values import (
    UnexpectedValueError,
    index_of,
    mappings,
    optional_text,
    read_usage,
    shown,
    sound,
)
from warmstack.client.mapping import map_error_document
from warmstack.client.responses import reasoning_of

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@dataclass(slots=True)
class _Text:
    """A text that grows. Half of a surrogate pair waits for its other half."""

    pieces: list[str] = field(default_factory=list)
    half: str = ""

    def add(self, piece: str) -> str:
        """Add a piece, and return what of the text is new and whole."""
        if self.half or not piece.isascii():
            piece = self.half + piece
            self.half = ""
            if "\ud800" <= piece[-1] <= "\udbff":
                self.half = piece[-1]
                piece = piece[:-1]
            piece = sound(piece)
        if piece:
            self.pieces.append(piece)
        return piece

    def end(self) -> str:
        """Return what the end makes of a half that still waits."""
        if not self.half:
            return ""
        self.half = ""
        self.pieces.append(_REPLACEMENT)
        return _REPLACEMENT

    def __str__(self) -> str:
        return "".join(self.pieces)


@dataclass(slots=True)
class _Tool:
    id: str = ""
    name: str = ""
    arguments: _Text = field(default_factory=_Text)


@dataclass(slots=True)
class _Choice:
    text: _Text = field(default_factory=_Text)
    reasoning: _Text = field(default_factory=_Text)
    tools: dict[int, _Tool] = field(default_factory=dict)
    finish: Finish | None = None


class StreamedAnswer:
    """Takes the chunks of one stream."""

    def __init__(self) -> None:
        self._choices: dict[int, _Choice] = {}
        self._open = 0
        self._usage: Usage | None = None
        self._id: str | None = None
        self._model: str | None = None

    @property
    def finished(self) -> bool:
        """Whether there was an answer, and each one that began has come to its end."""
        return self._open == 0 and bool(self._choices)

    def add(self, chunk: object) -> list[StreamEvent]:
        """Return the events of a chunk.

        Args:
            chunk: A parsed document of the stream.

        Raises:
            UnexpectedValueError: It is no chunk of any server.
            EndpointError: It is an error: the failure that this error is.
        """
        if not isinstance(chunk, dict):
            raise UnexpectedValueError(f"a chunk is {shown(chunk)}; it must be an object")
        choices = chunk.get("choices")
        if choices is None or chunk.get("error") is not None:
            return self._without_choices(chunk)
        events: list[StreamEvent] = []
        if self._id is None:
            self._id = optional_text(chunk, "id")
            self._model = optional_text(chunk, "model")
        for choice in mappings(choices, "choices"):
            self._add_choice(choice, events)
        if (usage := chunk.get("usage")) is not None:
            self._usage = read_usage(usage)
            assert self._usage is not None
            events.append(self._usage)
        return events

    def end(self) -> list[StreamEvent]:
        """Return the events that the end of the stream stands for, once the server has said that it is the end."""
        events: list[StreamEvent] = []
        for index in self._choices or (0,):
            choice = self._choice(index)
            if choice.finish is None:
                self._finish(index, choice, None, events)
        return events

    def response(self) -> Response:
        """Return the answer, or what there is of it: of the first choice, where there are several."""
        choice = self._choices[min(self._choices)] if self._choices else _Choice()
        return Response(
            text=str(choice.text),
            reasoning=str(choice.reasoning) or None,
            tool_calls=tuple(
                ToolCall(id=tool.id, name=tool.name, arguments=str(tool.arguments))
                for _, tool in sorted(choice.tools.items())
            ),
            finish_reason=choice.finish.reason if choice.finish is not None else None,
            usage=self._usage,
            id=self._id,
            model=self._model,
        )

    def _add_choice(self, choice: dict[str, Any], events: list[StreamEvent]) -> None:
        index = index_of(choice, 0)
        state = self._choice(index)
        delta = choice.get("delta")
        if delta is None:
            # A text completion; or a whole chat, from a server that was asked for a stream and does not stream.
            delta = choice.get("message")
        if delta is None:
            if text := optional_text(choice, "text"):
                self._add_text(index, state, text, events)
        elif isinstance(delta, dict):
            self._add_delta(index, state, delta, events)
        else:
            raise UnexpectedValueError(f"delta is {shown(delta)}; it must be an object")
        reason = optional_text(choice, "finish_reason")
        if reason is not None and state.finish is None:
            self._finish(index, state, reason, events)

    def _add_delta(self, index: int, state: _Choice, delta: dict[str, Any], events: list[StreamEvent]) -> None:
        # Guard: most chunks have no thoughts; asking for both names of them would be a fifth of this work.
        thinks = "reasoning" in delta or "reasoning_content" in delta
        if thinks and (thought := reasoning_of(delta)) and (thought := state.reasoning.add(thought)):
            events.append(ReasoningDelta(text=thought, choice=index))
        if text := optional_text(delta, "content"):
            self._add_text(index, state, text, events)
        if calls := delta.get("tool_calls"):
            for number, call in enumerate(mappings(calls, "tool_calls")):
                self._add_call(index, state, index_of(call, number), call, events)

    def _add_text(self, index: int, state: _Choice, text: str, events: list[StreamEvent]) -> None:
        if text := state.text.add(text):
            events.append(TextDelta(text=text, choice=index))

    def _add_call(
        self, index: int, state: _Choice, position: int, call: dict[str, Any], events: list[StreamEvent]
    ) -> None:
        function = call.get("function") or {}
        if not isinstance(function, dict):
            raise UnexpectedValueError(f"function is {shown(function)}; it must be an object")
        tool = state.tools.setdefault(position, _Tool())
        identifier, name = optional_text(call, "id") or None, optional_text(function, "name") or None
        tool.id = tool.id or identifier or ""
        tool.name = tool.name or sound(name or "")
        arguments = tool.arguments.add(text) if (text := optional_text(function, "arguments")) else ""
        if identifier or name or arguments:
            events.append(
                ToolCallDelta(
                    position=position,
                    id=identifier,
                    name=sound(name) if name else None,
                    arguments=arguments,
                    choice=index,
                )
            )

    def _without_choices(self, chunk: dict[str, Any]) -> list[StreamEvent]:
        """Return the events of a line of LMI's ``inputs`` form, or raise the error that a chunk is."""
        error = read_error(chunk)
        if error is not None:
            raise map_error_document(error, status=200)
        token = chunk.get("token")
        if not isinstance(token, dict) and "generated_text" not in chunk:
            raise UnexpectedValueError(f"a chunk has {shown(sorted(chunk))}; it must have choices, a token or an error")
        events: list[StreamEvent] = []
        # Guard: a line's index is the choice in LMI and the token in TGI; neither streams several choices of this form.
        index = 0
        state = self._choice(index)
        # Special tokens are not part of the text; TGI streams them all the same.
        if isinstance(token, dict) and not token.get("special") and (text := optional_text(token, "text")):
            self._add_text(index, state, text, events)
        whole = optional_text(chunk, "generated_text")
        if whole is not None and state.finish is None:
            if whole and not state.text.pieces and not state.text.half:
                self._add_text(index, state, whole, events)
            details = chunk.get("details")
            reason = details.get("finish_reason") if isinstance(details, dict) else None
            self._finish(index, state, reason if isinstance(reason, str) else None, events)
        return events

    def _choice(self, index: int) -> _Choice:
        state = self._choices.get(index)
        if state is None:
            state = self._choices[index] = _Choice()
            self._open += 1
        return state

    def _finish(self, index: int, state: _Choice, reason: str | None, events: list[StreamEvent]) -> None:
        if thought := state.reasoning.end():
            events.append(ReasoningDelta(text=thought, choice=index))
        if text := state.text.end():
            events.append(TextDelta(text=text, choice=index))
        for position, tool in state.tools.items():
            if rest := tool.arguments.end():
                events.append(ToolCallDelta(position=position, arguments=rest, choice=index))
        state.finish = Finish(reason=reason, choice=index)
        self._open -= 1
        events.append(state.finish)
