"""What the vLLM image answers: forms, streams and errors.

Sources: C3 and D are sections of the facts on containers that were collected on 2026-11-30; 0.32 was measured on that
day at vLLM 0.32.0 with the standards 0.1.16.
"""

from __future__ import annotations

import re

from tests.unit.local.dialects.golden import (
    CHAT,
    COMPLETION,
    Row,
    error,
)

NO_PROMPT = error(
    400,
    "Either prompt or prompt_embeds must be provided and non-empty. (parameter=prompt)",
    "BadRequestError",
    "prompt",
)
NO_MEDIA = error(400, "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed")
CHATTED = {"object": "chat.completion", "choices": [{"finish_reason": "length", "message": {"role": "assistant"}}]}
COMPLETED = {"object": "text_completion", "choices": [{"finish_reason": "length", "text": str}]}

ROWS: tuple[Row, ...] = (
    Row(name="ping", source="D", method="GET", path="/ping", status=200, expected=""),
    Row(name="ping by POST", source="D", path="/ping", status=200, expected=""),
    Row(name="chat", source="D", body=CHAT, status=200, expected=CHATTED | {"model": "{model}"}),
    Row(name="completion", source="D", body=COMPLETION, status=200, expected=COMPLETED),
    Row(name="both forms", source="D, order", body=CHAT | COMPLETION, status=200, expected=CHATTED),
    Row(
        name="messages that fit no chat, and a prompt",
        source="0.32",
        body=COMPLETION | {"messages": "oops"},
        status=200,
        expected=COMPLETED,
    ),
    Row(
        name="a stream",
        source="D",
        body=CHAT | {"stream": True},
        status=200,
        headers={"content-type": "text/event-stream; charset=utf-8"},
        expected=re.compile(r"(data: \{.*\}\n\n){2,}data: \[DONE\]\n\n"),
    ),
    Row(name="neither form", source="0.32", body={"inputs": "x"}, status=400, expected=NO_PROMPT),
    Row(name="an empty object", source="0.32", body={}, status=400, expected=NO_PROMPT),
    Row(name="messages that fit no chat", source="0.32", body={"messages": "oops"}, status=400, expected=NO_PROMPT),
    Row(
        name="a member that fits no form",
        source="0.32",
        body=CHAT | {"max_tokens": "x"},
        status=400,
        expected=NO_PROMPT,
    ),
    Row(
        name="a prompt that fits no completion",
        source="0.32",
        body={"prompt": 5},
        status=400,
        expected=error(
            400,
            "Cannot find suitable handler for request. Expected one of: ['ChatCompletionRequest', 'CompletionRequest']",
            "BadRequestError",
        ),
    ),
    Row(
        name="no messages",
        source="0.32",
        body={"messages": []},
        status=400,
        expected=error(
            400, "Cannot apply chat template to an empty conversation. Provide at least one message.", "BadRequestError"
        ),
    ),
    Row(
        name="no tokens",
        source="0.32",
        body=CHAT | {"max_tokens": 0},
        status=400,
        expected=error(
            400,
            "max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)",
            "BadRequestError",
            "max_tokens",
        ),
    ),
    Row(
        name="more tokens than the model has",
        source="0.32",
        body=CHAT | {"max_tokens": 100000},
        status=400,
        expected=error(
            400, re.compile("^max_tokens=100000 cannot be greater than max_model_len="), "BadRequestError", "max_tokens"
        ),
    ),
    Row(
        name="a prompt that is too long",
        source="0.32",
        body={"prompt": "hello " * 20000, "max_tokens": 1},
        status=400,
        expected=error(
            400, re.compile("maximum context length is 8192 tokens.*value=8193"), "BadRequestError", "input_tokens"
        ),
    ),
    Row(
        name="prompt and answer together too long",
        source="0.32",
        body={"prompt": [5] * 8190, "max_tokens": 8000},
        status=200,
        expected={"usage": {"completion_tokens": int}},
    ),
    Row(
        name="a negative temperature",
        source="0.32",
        body=CHAT | {"temperature": -1},
        status=400,
        expected=error(
            400,
            "temperature must be non-negative, got -1.0. (parameter=temperature, value=-1.0)",
            "BadRequestError",
            "temperature",
        ),
    ),
    Row(
        name="no JSON",
        source="C3",
        body=b"{oops",
        status=400,
        expected=error(
            400, "JSON decode error: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
        ),
    ),
    Row(
        name="nothing",
        source="0.32",
        body=b"",
        status=400,
        expected=error(400, "JSON decode error: Expecting value: line 1 column 1 (char 0)"),
    ),
    Row(
        name="no UTF-8",
        source="0.32",
        body=b'{"prompt":"\xff"}',
        status=400,
        expected=error(
            400, "'utf-8' codec can't decode byte 0xff in position 11: invalid start byte", "BadRequestError"
        ),
    ),
    Row(
        name="a list",
        source="0.32",
        body=[1],
        status=400,
        expected=error(400, "list indices must be integers or slices, not str", "BadRequestError"),
    ),
    Row(
        name="a string",
        source="0.32",
        body="x",
        status=400,
        expected=error(400, "'str' object does not support item assignment", "BadRequestError"),
    ),
    Row(
        name="a number",
        source="0.32",
        body=1,
        status=400,
        expected=error(400, "argument of type 'int' is not iterable", "BadRequestError"),
    ),
    Row(
        name="null",
        source="0.32",
        body=None,
        status=400,
        expected=error(400, "argument of type 'NoneType' is not iterable", "BadRequestError"),
    ),
    Row(
        name="another type",
        source="0.32 (D: 415/400)",
        body=CHAT,
        send={"content-type": "text/plain"},
        status=400,
        expected=NO_MEDIA,
    ),
    Row(name="no type", source="0.32", body=CHAT, send={"content-type": ""}, status=400, expected=NO_MEDIA),
    Row(
        name="a type with a charset",
        source="0.32",
        body=CHAT,
        send={"content-type": "application/json; charset=utf-8"},
        status=200,
        expected=CHATTED,
    ),
    Row(
        name="a type with a space before its charset",
        source="0.32",
        body=CHAT,
        send={"content-type": "application/json ; charset=utf-8"},
        status=400,
        expected=NO_MEDIA,
    ),
    Row(name="another method", source="0.32", method="GET", status=405, expected={"detail": "Method Not Allowed"}),
    Row(
        name="another path", source="0.32", method="GET", path="/nowhere", status=404, expected={"detail": "Not Found"}
    ),
    Row(
        name="a model in the body is lost",
        source="C3",
        body=CHAT | {"model": "absent"},
        status=200,
        expected={"model": "{model}"},
    ),
    Row(
        name="a model on the OpenAI path",
        source="0.32",
        path="/v1/chat/completions",
        body=CHAT | {"model": "absent"},
        status=404,
        expected=error(404, "The model `absent` does not exist. Valid aliases: {model}.", "NotFoundError", "model"),
    ),
    Row(
        name="no messages on the OpenAI path",
        source="0.32",
        path="/v1/chat/completions",
        body={"model": "{model}"},
        status=400,
        expected=error(
            400,
            "1 validation error:\n  {'type': 'missing', 'loc': 'body.messages', 'msg': 'Field required', 'input': "
            "'<dict of 1 items>'}",
            param="body.messages",
        ),
    ),
    Row(
        name="no JSON on the OpenAI path",
        source="0.32",
        path="/v1/completions",
        body=b"{oops",
        status=400,
        expected=error(
            400, re.compile("^1 validation error:\n  {'type': 'json_invalid', 'loc': 'body.1'"), param="body.1"
        ),
    ),
    Row(
        name="no object on the OpenAI path",
        source="0.32",
        path="/v1/completions",
        body=[1],
        status=400,
        expected=error(
            400,
            re.compile(
                "'loc': 'body', 'msg': 'Input should be a valid dictionary or object to extract "
                "fields from', 'input': '<list of 1 items>'}$"
            ),
            param="body",
        ),
    ),
    Row(
        name="messages that are no list on the OpenAI path",
        source="0.32",
        path="/v1/chat/completions",
        body={"messages": "oops"},
        status=400,
        expected=error(
            400,
            "1 validation error:\n  {'type': 'list_type', 'loc': 'body.messages', 'msg': 'Input should be a valid "
            "list', 'input': 'oops'}",
            param="body.messages",
        ),
    ),
    Row(
        name="max_tokens that are no number on the OpenAI path",
        source="0.32",
        path="/v1/chat/completions",
        body=CHAT | {"max_tokens": "x"},
        status=400,
        expected=error(
            400,
            "1 validation error:\n  {'type': 'int_parsing', 'loc': 'body.max_tokens', 'msg': 'Input should be a "
            "valid integer, unable to parse string as an integer', 'input': 'x'}",
            param="body.max_tokens",
        ),
    ),
    Row(
        name="a stream that is no flag on the OpenAI path",
        source="0.32",
        path="/v1/completions",
        body={"prompt": "x", "stream": "maybe"},
        status=400,
        expected=error(
            400,
            "1 validation error:\n  {'type': 'bool_parsing', 'loc': 'body.stream', 'msg': 'Input should be a valid "
            "boolean, unable to interpret input', 'input': 'maybe'}",
            param="body.stream",
        ),
    ),
    Row(
        name="another type on the OpenAI path",
        source="0.32",
        path="/v1/completions",
        body=COMPLETION,
        send={"content-type": "text/plain"},
        status=400,
        expected=NO_MEDIA,
    ),
    Row(
        name="another method on the OpenAI path",
        source="0.32",
        method="GET",
        path="/v1/completions",
        status=405,
        expected={"detail": "Method Not Allowed"},
    ),
    Row(
        name="log probabilities by tokens' ids",
        source="0.32",
        path="/v1/completions",
        body=COMPLETION | {"logprobs": 1, "return_tokens_as_token_ids": True},
        status=200,
        expected={"choices": [{"logprobs": {"tokens": [re.compile(r"^token_id:\d+$")] * 3}, "stop_reason": None}]},
    ),
    Row(
        name="usage within a stream",
        source="0.32",
        path="/v1/completions",
        body=COMPLETION | {"stream": True, "stream_options": {"include_usage": True, "continuous_usage_stats": True}},
        status=200,
        expected=re.compile(
            r'(data: \{.*"completion_tokens": ?\d.*\}\n\n){1,3}data: \{.*"choices": ?\[\].*\}\n\ndata: \[DONE\]\n\n'
        ),
    ),
    Row(
        name="an echo",
        source="0.32",
        path="/v1/completions",
        body=COMPLETION | {"echo": True},
        status=200,
        expected={"choices": [{"text": re.compile("^Copies live")}]},
    ),
)
