"""The forms of vLLM's requests: which body is a chat, which a completion, and what it says of one that is neither.

vLLM 0.32 holds a body to pydantic models. What is checked here are the members that clients get wrong; the texts are
those that a running one gave (2026-11-30).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

NO_PROMPT = "Either prompt or prompt_embeds must be provided and non-empty. (parameter=prompt)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong with a member of a body.

    Args:
        kind: pydantic's name for it.
        at: The member, with a dot before each member within.
        message: pydantic's sentence.
        value: What was there.
    """

    kind: str
    at: str
    message: str
    value: object

    def __str__(self) -> str:
        return str(
            {"type": self.kind, "loc": f"body.{self.at}".rstrip("."), "msg": self.message, "input": _shown(self.value)}
        )


def chat_problems(body: Mapping[str, Any]) -> list[Problem]:
    """Return why a body is no chat; nothing if it is one."""
    return [*_messages(body), *_members(body)]


def completion_problems(body: Mapping[str, Any]) -> list[Problem]:
    """Return why a body that has a prompt is no completion; nothing if it is one."""
    prompt = body.get("prompt")
    found = list(_members(body))
    if not _is_prompt(prompt):
        found.insert(
            0, Problem(kind="string_type", at="prompt", message="Input should be a valid string", value=prompt)
        )
    return found


def validation_message(problems: Iterable[Problem]) -> str:
    """Return vLLM's message for a body that has not the form of its path."""
    listed = list(problems)
    count = f"{len(listed)} validation error{'s' if len(listed) > 1 else ''}"
    return "\n".join([f"{count}:", *(f"  {one}" for one in listed)])


def _messages(body: Mapping[str, Any]) -> Iterable[Problem]:
    messages = body.get("messages")
    if "messages" not in body:
        yield Problem(kind="missing", at="messages", message="Field required", value=body)
    elif not isinstance(messages, list):
        yield Problem(kind="list_type", at="messages", message="Input should be a valid list", value=messages)
    else:
        for at, message in enumerate(messages):
            yield from _message(message, f"messages.{at}")


def _message(message: object, at: str) -> Iterable[Problem]:
    if not isinstance(message, Mapping):
        yield Problem(kind="dict_type", at=at, message="Input should be a valid dictionary", value=message)
        return
    if not isinstance(message.get("role"), str):
        yield Problem(kind="missing", at=f"{at}.role", message="Field required", value=message)
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    if not (content is None or isinstance(content, str | list)) or not all(isinstance(one, Mapping) for one in parts):
        yield Problem(
            kind="string_type", at=f"{at}.content", message="Input should be a valid string", value=message["content"]
        )


def _members(body: Mapping[str, Any]) -> Iterable[Problem]:
    for names, fits, kind, message in _MEMBERS:
        for name in names:
            value = body.get(name)
            if value is not None and not fits(value):
                yield Problem(kind=kind, at=name, message=message, value=value)


def _is_prompt(value: object) -> bool:
    if isinstance(value, str):
        return True
    if not isinstance(value, list):
        return False
    strings = all(isinstance(one, str) for one in value)
    return strings or all(_is_whole(one) and not isinstance(one, bool) for one in value)


def _is_whole(value: object) -> bool:
    # As pydantic takes them: a text of digits is a number, and so is a float without a fraction.
    if isinstance(value, str):
        return value.strip().removeprefix("-").isdigit()
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, int | float) or (isinstance(value, str) and float(value) is not None)
    except ValueError:
        return False


def _is_flag(value: object) -> bool:
    return isinstance(value, bool) or value in (0, 1) or str(value).lower() in ("true", "false")


_Fits = Callable[[object], bool]
_WHOLE = "Input should be a valid integer, unable to parse string as an integer"
_NUMBER = "Input should be a valid number, unable to parse string as a number"
_FLAG = "Input should be a valid boolean, unable to interpret input"
_MEMBERS: tuple[tuple[tuple[str, ...], _Fits, str, str], ...] = (
    (("model",), lambda value: isinstance(value, str), "string_type", "Input should be a valid string"),
    (("max_tokens", "max_completion_tokens", "n", "seed"), _is_whole, "int_parsing", _WHOLE),
    (("temperature", "top_p", "frequency_penalty", "presence_penalty"), _is_number, "float_parsing", _NUMBER),
    (("stream", "echo"), _is_flag, "bool_parsing", _FLAG),
    (
        ("stream_options",),
        lambda value: isinstance(value, Mapping),
        "model_attributes_type",
        "Input should be a valid dictionary or object to extract fields from",
    ),
)


def _shown(value: object) -> str:
    if isinstance(value, Mapping | list):
        return f"<{'dict' if isinstance(value, Mapping) else 'list'} of {len(value)} items>"
    return str(value)
