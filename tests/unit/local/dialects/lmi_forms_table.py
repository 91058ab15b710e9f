"""What LMI answers: forms, streams and errors.

Sources: A5, A7, B1, B3, C2 are sections of the facts on containers that were collected on 2026-11-30; DJL is
djl-serving d21927c4, read on that day. No real LMI was asked: its image needs a GPU.
"""

from __future__ import annotations

import re
from typing import Any

from tests.unit.local.dialects.golden import (
    ATTRIBUTES,
    CHAT,
    COMPLETION,
    NEW_SESSION,
    SESSION,
    Row,
)

JSON = {"content-type": "application/json"}
LINES = {"content-type": "application/jsonlines"}
INPUTS = {"inputs": "Copies live", "parameters": {"max_new_tokens": 3, "temperature": 0}}
TOKEN = {"id": int, "text": str, "logprob": float}
# How many there are of a few tokens: an engine puts those that wait for a slower reader into one.
CHUNK = r"\{\"id\":.*\}\n"


def failed(error: Any, code: int = 424) -> dict[str, Any]:
    """The handler's form of an error."""
    return {"code": code, "error": error}


def parsing(error: str) -> dict[str, Any]:
    return failed(f"Input parsing failed: {error}")


def refused(code: int, message: Any, kind: str = "BadRequestException") -> dict[str, Any]:
    """The Java server's form of an error."""
    return {"code": code, "type": kind, "message": message}


def with_parameters(**parameters: Any) -> dict[str, Any]:
    return INPUTS | {"parameters": INPUTS["parameters"] | parameters}  # type: ignore[operator]


CHATTED = {"object": "chat.completion", "model": "{model}", "choices": [{"finish_reason": "length"}]}
COMPLETED = {"object": "text_completion", "choices": [{"text": str}]}
SILENT = {"code": 424, "message": "Async Inference Failure service.invoke_handler_async() failure"}
NO_SESSION = parsing("session not found: abc")

ROWS: tuple[Row, ...] = (
    Row(name="ping", source="A7", method="GET", path="/ping", status=200),
    Row(name="prompt", source="A7", body=COMPLETION, status=200, headers=JSON, expected=COMPLETED),
    Row(name="inputs", source="A7", body=INPUTS, status=200, headers=JSON, expected={"generated_text": str}),
    Row(name="messages", source="A7", body=CHAT, status=200, headers=JSON, expected=CHATTED),
    Row(
        name="messages on the OpenAI path",
        source="A7",
        path="/v1/chat/completions",
        body=CHAT,
        status=200,
        expected=CHATTED,
    ),
    Row(
        name="the other paths",
        source="A7",
        path="/models/model/invoke",
        body=INPUTS,
        status=200,
        expected={"generated_text": str},
    ),
    Row(name="prompt before inputs", source="A7, order", body=COMPLETION | INPUTS, status=200, expected=COMPLETED),
    Row(
        name="inputs before messages",
        source="A7, order",
        body=CHAT | INPUTS,
        status=200,
        expected={"generated_text": str},
    ),
    Row(name="messages before requestType", source="C2", body=CHAT | NEW_SESSION, status=200, expected=CHATTED),
    Row(name="the model's name", source="A5", body=CHAT | {"model": "{model}"}, status=200, expected=CHATTED),
    Row(
        name="a whole answer ends with a line break",
        source="DJL",
        body=INPUTS,
        status=200,
        expected=re.compile(r'\{"generated_text": .*\}\n'),
    ),
    Row(
        name="a chat's stream",
        source="A7",
        body=CHAT | {"stream": True},
        status=200,
        headers=LINES,
        expected=re.compile(rf"({CHUNK}){{2,}}\n"),
    ),
    Row(
        name="a completion's stream",
        source="A7",
        body=COMPLETION | {"stream": True},
        status=200,
        headers=LINES,
        expected=re.compile(rf"({CHUNK}){{1,3}}\n"),
    ),
    Row(
        name="a stream on the OpenAI path",
        source="A7",
        path="/v1/chat/completions",
        body=CHAT | {"stream": True},
        status=200,
        headers=LINES,
        expected=re.compile(rf"({CHUNK}){{2,}}\n"),
    ),
    Row(
        name="a stream of tokens",
        source="A7",
        body=INPUTS | {"stream": True},
        status=200,
        headers=LINES,
        expected=re.compile(
            r'(\{"index": 0, "token": \{"id": \d+, "text": .*, "logprob": -[\d.]+\}, "generated_text": null, '
            r'"details": null\}\n){0,2}\{"index": 0, "token": .*, "generated_text": ".+", "details": null\}\n\n\n'
        ),
    ),
    Row(
        name="a stream of tokens with details",
        source="DJL",
        body=with_parameters(details=True) | {"stream": True},
        status=200,
        expected=re.compile(
            r'(?:.+\n){0,2}.+"generated_text": ".+", "details": \{"finish_reason": "length", "seed": null, '
            r'"generated_tokens": 4, "input_length": \d+\}\}\n\n\n'
        ),
    ),
    Row(
        name="a stream that repeats the prompt",
        source="DJL",
        body=with_parameters(return_full_text=True) | {"stream": True},
        status=200,
        expected=re.compile(r'(?:.+\n){0,2}.+"generated_text": "Copies live.+\n\n\n'),
    ),
    Row(
        name="details",
        source="A7",
        body=with_parameters(details=True, seed=7),
        status=200,
        expected={
            "generated_text": str,
            "details": {"finish_reason": None, "generated_tokens": 3, "seed": 7, "prefill": [], "tokens": [TOKEN] * 3},
        },
    ),
    Row(
        name="the whole text",
        source="DJL",
        body=with_parameters(return_full_text=True),
        status=200,
        expected={"generated_text": re.compile("^Copies live")},
    ),
    Row(
        name="plain text",
        source="DJL",
        body=b"Copies live",
        send={"content-type": "text/plain"},
        status=200,
        expected={"generated_text": str},
    ),
    Row(
        name="no content type",
        source="DJL",
        body=INPUTS,
        send={"content-type": ""},
        status=200,
        expected={"generated_text": str},
    ),
    # Errors.
    Row(
        name="no form",
        source="A7",
        body={"text": "x"},
        status=424,
        headers=JSON,
        expected=parsing("invalid payload. must contain prompt, inputs, or messages"),
    ),
    Row(
        name="no JSON",
        source="A7",
        body=b"{oops",
        status=424,
        expected=parsing("Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    ),
    Row(
        name="nothing",
        source="DJL",
        body=b"",
        status=424,
        expected=parsing("Expecting value: line 1 column 1 (char 0)"),
    ),
    Row(
        name="a list",
        source="DJL",
        body=[1],
        status=424,
        expected=parsing("list indices must be integers or slices, not str"),
    ),
    Row(
        name="a string",
        source="DJL",
        body="x",
        status=424,
        expected=parsing("'str' object does not support item assignment"),
    ),
    Row(name="a number", source="DJL", body=1, status=424, expected=parsing("argument of type 'int' is not iterable")),
    Row(
        name="parameters that are null",
        source="DJL",
        body={"inputs": "x", "parameters": None},
        status=424,
        expected=parsing("'NoneType' object has no attribute 'pop'"),
    ),
    Row(
        name="messages that are no list",
        source="A7",
        body={"messages": "oops"},
        status=424,
        expected=failed(re.compile("^Input parsing failed: 1 validation error")),
    ),
    Row(
        name="an empty prompt",
        source="DJL",
        body={"prompt": ""},
        status=424,
        expected=parsing("Either prompt or prompt_embeds must be provided and non-empty. (parameter=prompt)"),
    ),
    Row(
        name="another model",
        source="DJL",
        body=CHAT | {"model": "absent"},
        status=500,
        expected=failed(
            re.compile(
                r"^error=ErrorInfo\(message='The model `absent` does not exist.*type='NotFoundError', "
                r"param='model', code=404\)$"
            ),
            500,
        ),
    ),
    Row(
        name="a prompt that is too long",
        source="DJL",
        body={"prompt": "hello " * 20000, "max_tokens": 1},
        status=424,
        headers=JSON,
        expected=SILENT,
    ),
    Row(name="a temperature below 0", source="DJL", body=CHAT | {"temperature": -1}, status=424, expected=SILENT),
    Row(
        name="no messages in a stream",
        source="DJL",
        body={"messages": [], "stream": True},
        status=424,
        headers=JSON,
        expected=SILENT,
    ),
    Row(
        name="an error of a stream",
        source="DJL",
        body=CHAT | {"model": "absent", "stream": True},
        status=500,
        headers=JSON,
        expected=failed(str, 500),
    ),
    Row(
        name="another path",
        source="DJL",
        method="GET",
        path="/nowhere",
        status=404,
        expected=refused(
            404, "Requested resource is not found, please refer to API document.", "ResourceNotFoundException"
        ),
    ),
    # Custom attributes.
    Row(
        name="custom attributes", source="A7", body=CHAT, send={ATTRIBUTES: "a=1; b=2;c"}, status=200, expected=CHATTED
    ),
    Row(
        name="a handler among them",
        source="A7",
        body=CHAT,
        send={ATTRIBUTES: "a=1;handler=other"},
        status=400,
        expected=refused(400, "The handler can't be overridden in a request"),
    ),
    Row(
        name="a header among them",
        source="DJL",
        body=CHAT,
        send={ATTRIBUTES: f"{SESSION}=abc"},
        status=424,
        expected=NO_SESSION,
    ),
)
