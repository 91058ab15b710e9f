"""The engine's answers, as vLLM writes them: chat and completion objects, their chunks and their usage."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warmstack.local.simulated.requests import Generation
from warmstack.local.simulated.text import token_id

LOGPROB = -0.5
"""Of every token: there is no model that could have another opinion."""
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Counted tokens.

    Args:
        prompt_tokens: Of the prompt.
        completion_tokens: Of the answer.
        cached_tokens: How many of the prompt's were cached; None if that is not told.
    """

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int | None

    def document(self) -> dict[str, Any]:
        """Return the ``usage`` object."""
        details = None if self.cached_tokens is None else {"cached_tokens": self.cached_tokens}
        return {
            "prompt_tokens": self.prompt_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
            "completion_tokens": self.completion_tokens,
            "prompt_tokens_details": details,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an answer's documents share.

    Args:
        chat: Whether they are chat completions.
        identifier: The request's id.
        created: When, in seconds since the epoch.
        model: Whose answer it is.
    """

    chat: bool
    identifier: str
    created: int
    model: str

    def whole(self, words: Sequence[str], usage: Usage, wanted: Generation) -> bytes:
        """Return the answer that is not streamed."""
        text = "".join(words)
        if self.chat:
            message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None, "tool_calls": []}
            choice: dict[str, Any] = {"index": 0, "message": message, "logprobs": None}
        else:
            choice = {"index": 0, "text": wanted.prompt + text if wanted.echo else text}
            choice["logprobs"] = _logprobs(words, wanted)
            choice["prompt_logprobs"] = [None] if wanted.prompt_logprobs else None
        choice |= {"finish_reason": "length", "stop_reason": None}
        kind = "chat.completion" if self.chat else "text_completion"
        document = self._head(kind) | {"choices": [choice], "usage": usage.document()}
        return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")

    def opening(self) -> bytes:
        """Return the first event of a chat's stream, which names the role; a completion has none."""
        return self._event([{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}])

    def chunk(self, word: str, finish_reason: str | None, wanted: Generation, usage: Usage | None) -> bytes:
        """Return the event of one piece of text, with the usage until then if there is one."""
        choice: dict[str, Any] = {"index": 0, "delta": {"content": word}} if self.chat else {"index": 0, "text": word}
        choice |= {"logprobs": _logprobs([word], wanted), "finish_reason": finish_reason, "stop_reason": None}
        return self._event([choice], **({} if usage is None else {"usage": usage.document()}))

    def usage_event(self, usage: Usage) -> bytes:
        """Return the event before the last, which has no choices."""
        return self._event([], usage=usage.document())

    def _event(self, choices: list[dict[str, Any]], **more: object) -> bytes:
        kind = "chat.completion.chunk" if self.chat else "text_completion"
        document = self._head(kind) | {"choices": choices} | more
        return b"data: " + json.dumps(document, ensure_ascii=False).encode() + b"\n\n"

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.identifier, "object": kind, "created": self.created, "model": self.model}


def _logprobs(words: Sequence[str], wanted: Generation) -> dict[str, Any] | None:
    if not wanted.logprobs:
        return None
    names = [f"token_id:{token_id(word)}" if wanted.token_ids else word for word in words]
    return {"token_logprobs": [LOGPROB] * len(words), "tokens": names, "top_logprobs": [], "text_offset": []}
