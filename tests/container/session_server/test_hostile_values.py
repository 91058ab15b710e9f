"""Values that are JSON and mean harm: numbers without end, and media that are paths of the container."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_core import from_json, to_json

from session_server.errors import BadRequestError
from session_server.finite import check_finite
from session_server.media import check_media
from tests.container.session_server.harness import Stack, cpu_seconds

HUGE = "9" * 400


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ('{"prompt": "never-sent", "temperature": 1e999}', "temperature"),
        ('{"prompt": "never-sent", "temperature": -1e999}', "temperature"),
        (f'{{"prompt": "never-sent", "temperature": {HUGE}.5}}', "temperature"),
        ('{"inputs": "never-sent", "parameters": {"top_p": 1e400}}', "top_p"),
        ('{"prompt": "never-sent", "logit_bias": {"5": 1e999}}', "5"),
        ('{"prompt": "never-sent", "stop": [[1, [1e999]]]}', "stop"),
        ('{"messages": [{"role": "user", "content": "never-sent", "weight": 1e999}]}', "weight"),
    ],
)
def test_a_number_that_no_float_holds_is_400(stack: Stack, body: str, key: str) -> None:
    before = len(stack.engine.counters.requests)
    answer = stack.request("POST", "/invocations", body)
    assert (answer.status, answer.error["code"]) == (400, "invalid_number")
    assert answer.error["message"].startswith(f"{key} has a number")
    assert not any("never-sent" in str(one["body"]) for one in list(stack.engine.counters.requests)[before:])


@pytest.mark.parametrize("number", ["1e308", "-1e308", "0", "1e-999", "true", "null", '"1e999"', f'"{HUGE}"'])
def test_other_numbers_are_the_engines_business(number: str) -> None:
    check_finite(from_json(f'{{"a": {number}, "b": [{number}, {{"c": {number}}}]}}'))


def test_a_long_prompt_of_tokens_takes_no_time() -> None:
    raw = to_json({"prompt": list(range(1_000_000))})
    body = from_json(raw)
    assert cpu_seconds(lambda: check_finite(body)) < 2 * cpu_seconds(lambda: from_json(raw))


def chat(part: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [part]}]}


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "image": "/etc/passwd"},
        {"type": "image", "image": {"url": "/etc/passwd"}},
        {"type": "video", "video": ["https://x/1.png", "/etc/passwd"]},
        {"type": "audio", "audio": "file:///etc/passwd"},
        {"type": "image_url", "image_url": ["/etc/passwd"]},
        {"type": "image_url", "image_url": [{"url": "https://x/1.png"}, {"url": "/etc/passwd"}]},
        {"type": "image_url", "image_url": {"url": ["/etc/passwd"]}},
        {"type": "image_url", "image_url": {"url": {"url": "/etc/passwd"}}},
    ],
)
def test_paths_are_refused_wherever_media_are_named(part: dict[str, Any]) -> None:
    with pytest.raises(BadRequestError, match="Files of the container are not served"):
        check_media(chat(part))


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "image": "https://x/1.png"},
        {"type": "image_url", "image_url": [{"url": "data:image/png;base64,AA"}, "http://x/1.png"]},
        {"type": "image_url", "image_url": {"url": "https://x/1.png", "detail": "auto"}},
        {"type": "image", "image": None},
        {"type": "text", "text": "/etc/passwd"},
        {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
    ],
)
def test_other_media_go_on(part: dict[str, Any]) -> None:
    check_media(chat(part))
