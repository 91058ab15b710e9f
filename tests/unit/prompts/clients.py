"""Bodies as real clients write them, by the shape of their bytes: which keys come first, spaces, escapes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Turns = list[tuple[str, str]]
"""Role and text."""


def _compact(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _spaced(body: Any) -> bytes:
    return json.dumps(body).encode()


def openai(turns: Turns, *, max_tokens: int, stream: bool) -> bytes:
    messages = [{"role": role, "content": text} for role, text in turns]
    return _compact({"messages": messages, "model": "assistant", "max_tokens": max_tokens, "stream": stream})


def langchain_openai(turns: Turns, *, max_tokens: int, stream: bool) -> bytes:
    messages = [{"content": text, "role": role} for role, text in turns]
    return _compact({"model": "assistant", "stream": stream, "max_completion_tokens": max_tokens, "messages": messages})


def strands_openai(turns: Turns, *, max_tokens: int, stream: bool) -> bytes:
    messages = [{"role": role, "content": [{"text": text, "type": "text"}]} for role, text in turns]
    body = {"model": "assistant", "stream": stream, "messages": messages, "tools": [], "max_tokens": max_tokens}
    return _compact(body)


def strands_sagemaker(turns: Turns, *, max_tokens: int, stream: bool) -> bytes:
    messages = [{"role": role, "content": text} for role, text in turns]
    return _spaced({"messages": messages, "max_tokens": max_tokens, "temperature": 0.2, "stream": stream})


def litellm_sagemaker_chat(turns: Turns, *, max_tokens: int, stream: bool) -> bytes:
    messages = [{"role": role, "content": text} for role, text in turns]
    return _spaced({"model": "assistant", "messages": messages, "max_tokens": max_tokens, "stream": stream})


def litellm_sagemaker(turns: Turns, *, max_tokens: int, stream: bool) -> bytes:
    text = "\n".join(f"{role}: {text}" for role, text in turns)
    return _spaced({"parameters": {"max_new_tokens": max_tokens}, "inputs": text, "stream": stream})


CLIENTS: dict[str, Callable[..., bytes]] = {
    client.__name__: client
    for client in (
        openai,
        langchain_openai,
        strands_openai,
        strands_sagemaker,
        litellm_sagemaker_chat,
        litellm_sagemaker,
    )
}
