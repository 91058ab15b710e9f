"""The engine's requests, read: OpenAI's chat and completion forms, and what vLLM answers to bad ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from warmstack.local.container import ContainerRequest
from warmstack.local.simulated.forms import (
    NO_PROMPT,
    Problem,
    chat_problems,
    completion_problems,
    validation_message,
)

NOT_ALLOWED = "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed"
EMPTY_CHAT = "Cannot apply chat template to an empty conversation. Provide at least one message."


class EngineRefusal(Exception):  # noqa: N818  (an answer, not a defect)
    """An error answer of the engine.

    Args:
        status: The HTTP status.
        message: What is wrong.
        kind: The type, as vLLM names it.
        param: The member that is wrong.
    """

    def __init__(self, status: int, message: str, kind: str = "BadRequestError", param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        # Guard: what a client sent may hold half of a surrogate pair, which strict UTF-8 has no bytes for.
        self.body = json.dumps(
            {"error": {"message": message, "type": kind, "param": param, "code": status}}, ensure_ascii=False
        ).encode("utf-8", "surrogatepass")


class NoSuchPath(Exception):  # noqa: N818  (an answer, not a defect)
    """A path or a method that the engine does not have: its framework answers, in a form of its own.

    Args:
        status: 404 for a path, 405 for a method.
    """

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status
        self.body = json.dumps({"detail": HTTPStatus(status).phrase}).encode()


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
        continuous_usage: Whether each event of the stream has it.
        logprobs: Whether a completion tells its tokens.
        token_ids: Whether it tells them by their ids.
        prompt_logprobs: Whether a completion tells the prompt's tokens.
        echo: Whether a completion repeats the prompt.
    """

    chat: bool
    model: str | None
    prompt: str
    max_tokens: int | None
    stream: bool
    include_usage: bool
    continuous_usage: bool = False
    logprobs: bool = False
    token_ids: bool = False
    prompt_logprobs: bool = False
    echo: bool = False


def read_generation(request: ContainerRequest, *, chat: bool) -> Generation:
    """Read a request's body.

    Args:
        request: The request.
        chat: Whether its form is that of chat completions.

    Raises:
        EngineRefusal: It is no such request.
    """
    body = read_object(request)
    if chat:
        _require_none(chat_problems(body))
        if not body["messages"]:
            raise EngineRefusal(400, EMPTY_CHAT)
        prompt = _chat_prompt(body["messages"])
    else:
        if body.get("prompt") in (None, "", []):
            raise EngineRefusal(400, NO_PROMPT, param="prompt")
        _require_none(completion_problems(body))
        prompt = _completion_prompt(body["prompt"])
    if int(body.get("n") or 1) != 1:
        raise EngineRefusal(400, "the simulated engine gives one choice; leave n out, or use a real engine")
    _check_temperature(body.get("temperature"))
    options = body.get("stream_options") or {}
    return Generation(
        chat=chat,
        model=body.get("model") or None,
        prompt=prompt,
        max_tokens=_max_tokens(body),
        stream=_flag(body.get("stream")),
        include_usage=bool(options.get("include_usage")),
        continuous_usage=bool(options.get("continuous_usage_stats")),
        logprobs=not chat and body.get("logprobs") is not None,
        token_ids=_flag(body.get("return_tokens_as_token_ids")),
        prompt_logprobs=not chat and body.get("prompt_logprobs") is not None,
        echo=not chat and _flag(body.get("echo")),
    )


def read_object(request: ContainerRequest) -> dict[str, Any]:
    """Return a body that is a JSON object.

    Args:
        request: The request.

    Raises:
        EngineRefusal: It is none.
    """
    if request.headers.get("content-type", "").lower().split(";", 1)[0] != "application/json":
        raise EngineRefusal(400, NOT_ALLOWED, "Bad Request")
    try:
        value = json.loads(request.body)
    except json.JSONDecodeError as error:
        told = {"type": "json_invalid", "loc": f"body.{error.pos}", "msg": "JSON decode error"}
        more = {"input": "<dict of 0 items>", "ctx": {"error": error.msg}}
        param = f"body.{error.pos}"
        raise EngineRefusal(400, f"1 validation error:\n  {told | more}", "Bad Request", param) from error
    except (ValueError, RecursionError) as error:
        raise EngineRefusal(400, "There was an error parsing the body", "Bad Request") from error
    if not isinstance(value, dict):
        problem = Problem(
            kind="model_attributes_type",
            at="",
            message="Input should be a valid dictionary or object to extract fields from",
            value=value,
        )
        raise EngineRefusal(400, validation_message([problem]), "Bad Request", "body")
    return value


def _require_none(problems: Sequence[Problem]) -> None:
    if problems:
        raise EngineRefusal(400, validation_message(problems), "Bad Request", f"body.{problems[0].at}")


def _check_temperature(value: Any) -> None:
    if value is not None and float(value) < 0:
        shown = f"temperature must be non-negative, got {float(value)}. (parameter=temperature, value={float(value)})"
        raise EngineRefusal(400, shown, param="temperature")


def _max_tokens(body: Mapping[str, Any]) -> int | None:
    for key in ("max_completion_tokens", "max_tokens"):
        if body.get(key) is None:
            continue
        value = int(body[key])
        if value < 1:
            shown = f"max_tokens must be at least 1, got {value}. (parameter=max_tokens, value={value})"
            raise EngineRefusal(400, shown, param="max_tokens")
        return value
    return None


def _flag(value: object) -> bool:
    return str(value).lower() == "true" or value == 1


def _completion_prompt(value: Any) -> str:
    if isinstance(value, str):
        return value
    if len(value) == 1 and isinstance(value[0], str):
        return str(value[0])
    if isinstance(value[0], str):
        raise EngineRefusal(400, "the simulated engine takes one prompt; send one, or use a real engine")
    return " ".join(map(str, value))


def _chat_prompt(messages: Sequence[Mapping[str, Any]]) -> str:
    parts = [f"<|start|>{message['role']}\n{_text(message.get('content'))}<|end|>\n" for message in messages]
    return "".join(parts) + "<|start|>assistant\n"


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(str(part.get("text", "")) for part in content)
