"""A whole answer, as any of the servers sends it → `Response`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warmstack.client.answer import Response, ToolCall
from warmstack.client.error_documents import read_error
from warmstack.client.failures import AnswerMalformed
from warmstack.client.json_values import (
    UnexpectedValueError,
    index_of,
    mappings,
    optional_text,
    read_json,
    read_usage,
    shown,
    sound,
)
from warmstack.client.mapping import map_error_document

__all__ = ["Response", "ToolCall", "read_response"]

WAY_OUT = "Where an output formatter of your own changes answers, read the bytes themselves."


def read_response(body: bytes) -> Response:
    """Return the answer that a body holds.

    The forms: OpenAI's chat and text completions (vLLM, SGLang, LMI), and the ``generated_text`` of LMI and TGI, alone
    or in a list of one. The tokens that ``details`` counts are left in ``raw``: servers count them differently.

    Args:
        body: The body of an answer with status 200.

    Raises:
        AnswerMalformed: It has none of the forms.
        EndpointError: It holds an error: the failure that this error is.
    """
    try:
        document = read_json(body)
        if isinstance(document, list) and len(document) == 1:
            document = document[0]
        if not isinstance(document, dict):
            raise UnexpectedValueError(f"it is {shown(document)}; it must be an object")
        error = read_error(document)
        if error is None:
            return _read(document)
    except ValueError as problem:
        text = f"the answer is none that a server sends: {problem}. {WAY_OUT}"
        raise AnswerMalformed(text, answer=body) from problem
    raise map_error_document(error, status=200)


def reasoning_of(message: Mapping[str, Any]) -> str | None:
    """Return what a message, or a part of one, holds of the model's thoughts; servers differ in the member's name.

    Raises:
        UnexpectedValueError: It is no text.
    """
    # Guard: vLLM sent both names with the same text for a while.
    return optional_text(message, "reasoning") or optional_text(message, "reasoning_content")


def _read(document: dict[str, Any]) -> Response:
    if "choices" in document:
        return _completion(document)
    if "generated_text" not in document:
        raise UnexpectedValueError(f"it has {shown(sorted(document))}; it must have choices or generated_text")
    details = document.get("details")
    reason = details.get("finish_reason") if isinstance(details, dict) else None
    return Response(
        text=sound(optional_text(document, "generated_text") or ""),
        finish_reason=reason if isinstance(reason, str) else None,
        raw=document,
    )


def _completion(document: dict[str, Any]) -> Response:
    choices = mappings(document["choices"], "choices")
    if not choices:
        raise UnexpectedValueError("choices is empty")
    choice = min(choices, key=lambda one: index_of(one, 0))
    message = choice.get("message")
    if message is None:
        if not isinstance(choice.get("text"), str):
            raise UnexpectedValueError(f"a choice has {shown(sorted(choice))}; it must have a message or a text")
        message = {"content": choice["text"]}
    if not isinstance(message, dict):
        raise UnexpectedValueError(f"message is {shown(message)}; it must be an object")
    reasoning = reasoning_of(message)
    return Response(
        text=sound(optional_text(message, "content") or ""),
        reasoning=sound(reasoning) if reasoning else None,
        tool_calls=tuple(_tool_call(one) for one in mappings(message.get("tool_calls") or [], "tool_calls")),
        finish_reason=optional_text(choice, "finish_reason"),
        usage=read_usage(document.get("usage")),
        id=optional_text(document, "id"),
        model=optional_text(document, "model"),
        raw=document,
    )


def _tool_call(call: Mapping[str, Any]) -> ToolCall:
    function = call.get("function")
    if not isinstance(function, dict):
        raise UnexpectedValueError(f"a call of a tool is {shown(call)}; it must have a function")
    return ToolCall(
        id=optional_text(call, "id") or "",
        name=sound(optional_text(function, "name") or ""),
        arguments=sound(optional_text(function, "arguments") or ""),
    )
