"""What a stream yields."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """Some more text.

    Args:
        text: The text, never empty.
        choice: Which of several answers it belongs to.
    """

    text: str
    choice: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningDelta:
    """Some more of what the model thinks before it answers.

    Args:
        text: The text, never empty.
        choice: Which of several answers it belongs to.
    """

    text: str
    choice: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallDelta:
    """A part of a call of a tool: the first one names the tool, the others bring more of its arguments.

    Args:
        position: Which of the answer's calls it belongs to.
        id: The call's id; None where this part has none.
        name: The tool; None where this part has none.
        arguments: Some more of the arguments; may be empty.
        choice: Which of several answers it belongs to.
    """

    position: int
    id: str | None = None
    name: str | None = None
    arguments: str = ""
    choice: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Counted tokens. A server may tell them several times in a stream; the last time counts.

    Args:
        prompt_tokens: Of the prompt.
        completion_tokens: Of the answer, or of so much of it as there is.
        total_tokens: Of both.
        cached_tokens: How many of the prompt's were cached; None where that is not told.
    """

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """An answer has come to its end.

    Args:
        reason: Why, such as ``stop``, ``length`` or ``tool_calls``; None where that is not told.
        choice: Which of several answers.
    """

    reason: str | None = None
    choice: int = 0


StreamEvent = TextDelta | ReasoningDelta | ToolCallDelta | Usage | Finish
"""One event of a stream."""
