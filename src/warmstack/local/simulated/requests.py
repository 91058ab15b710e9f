"""The engine's requests, read: OpenAI's chat and completion forms, and what vLLM answers to bad ones."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warmstack.local.container import ContainerRequest


class EngineRefusal(Exception):  # noqa: N818  (an answer, not a defect)
    """An error answer of the engine.

    Args:
        status: The HTTP status.
        message: What is wrong.
        kind: The type, as vLLM names it.
    """

    def __init__(self, status: int, message: str, kind: str = "BadRequestError") -> None:
        super().__init__(message)
        self.status = status
        self.body = json.dumps(
            {"error": {"message": message, "type": kind, "param": None, "code": status}}, ensure_ascii=False
        ).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """What is to be generated.

    Args:
        chat: Whether the form is that of chat completions.
        model: The name that was asked for; None for the base.
        prompt: The whole prompt, as text.
        max_tokens: How long the answer is; None for as long as the model does.
        stream: Whether it is streamed.
        include_usage: Whether the stream ends with the usage.
    """

    chat: bool
    model: str | None
    prompt: str
    max_tokens: int | None
    stream: bool
    include_usage: bool


def read_generation(request: ContainerRequest, *, chat: bool) -> Generation:
    """Read a request's body.

    Args:
        request: The request.
        chat: Whether its form is that of chat completions.

    Raises:
        EngineRefusal: It is no such request.
    """
    body = read_object(request.body)
    prompt = _chat_prompt(body.get("messages")) if chat else _completion_prompt(body.get("prompt"))
    model = body.get("model")
    if model is not None and not isinstance(model, str):
        raise EngineRefusal(400, "model must be a string")
    if body.get("n", 1) not in (1, None):
        raise EngineRefusal(400, "the simulated engine gives one choice; leave n out, or use a real engine")
    stream = body.get("stream") or False
    options = body.get("stream_options") or {}
    if not isinstance(stream, bool) or not isinstance(options, Mapping):
        raise EngineRefusal(400, "stream must be a boolean, and stream_options an object")
    return Generation(
        chat=chat,
        model=model or None,
        prompt=prompt,
        max_tokens=_max_tokens(body),
        stream=stream,
        include_usage=bool(options.get("include_usage")),
    )


def read_object(raw: bytes) -> dict[str, Any]:
    """Return a body that is a JSON object.

    Args:
        raw: The body.

    Raises:
        EngineRefusal: It is none.
    """
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise EngineRefusal(400, f"the body is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise EngineRefusal(400, "the body must be a JSON object")
    return value


def _max_tokens(body: Mapping[str, Any]) -> int | None:
    for key in ("max_completion_tokens", "max_tokens"):
        value = body.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 1:
            raise EngineRefusal(400, f"{key} must be at least 1, got {value!r}.")
        return int(value)
    return None


def _completion_prompt(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return str(value[0])
    if isinstance(value, list) and value and all(isinstance(one, int) and not isinstance(one, bool) for one in value):
        return " ".join(map(str, value))
    raise EngineRefusal(400, "prompt must be a string, a list of one string or a list of token ids")


def _chat_prompt(messages: object) -> str:
    if not isinstance(messages, list) or not messages:
        raise EngineRefusal(400, "messages must be a list of at least one message")
    parts = []
    for at, message in enumerate(messages):
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise EngineRefusal(400, f"messages[{at}] must be an object with a role")
        parts.append(f"<|start|>{message['role']}\n{_text(message.get('content'), at)}<|end|>\n")
    return "".join(parts) + "<|start|>assistant\n"


def _text(content: object, at: int) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, Mapping) for part in content):
        return "".join(str(part.get("text", "")) for part in content)
    raise EngineRefusal(400, f"messages[{at}].content must be a string or a list of parts")
