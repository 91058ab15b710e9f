"""Formatters: the base's and an adapter's, in both directions, in whole answers and in streams, and when they fail."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from session_server.errors import FormatterFailedError
from session_server.formatting import load_formatters
from tests.container.session_server.harness import Stack, running_stack

MESSAGES = [{"role": "user", "content": "x"}]
BASE = """
from warmstack_formatters import input_formatter, output_formatter

@input_formatter
def to_model(payload):
    question = payload.pop("question", None)
    if question == "fail":
        raise ValueError("no such question")
    if question == "odd":
        return {"messages": object()}
    return {"messages": [{"role": "user", "content": question}], **payload} if question else payload

@output_formatter
def to_client(answer, stream):
    return chunk(answer) if stream else whole(answer)

def whole(answer):
    choice = answer["choices"][0] if "choices" in answer else {"text": answer["generated_text"]}
    text = choice.get("text") or choice["message"]["content"]
    if "fail" in text or answer.get("model") == "fail/output":
        raise ValueError("no output")
    return text if answer.get("model") == "as/text" else {"base": text}

def chunk(chunk):
    if "token" in chunk:
        return {"line": chunk["token"]["text"]}
    text = chunk["choices"][0]["delta"]["content"]
    if text == " 1":
        return None
    if text == " 2" and chunk["model"] == "fail/chunk":
        raise ValueError("no second")
    return "two\\nlines" if text == " 3" else {"text": text}
"""
ADAPTER = """
from warmstack_formatters import output_formatter

@output_formatter
def to_client(answer, adapter):
    return {"adapter": answer["choices"][0]["message"]["content"], "by": adapter}
"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    root = tmp_path_factory.mktemp("models")
    base = root / "base.py"
    base.write_text(BASE, encoding="utf-8")
    environment = {"WARMSTACK_FORMATTERS": str(base), "WARMSTACK_ADAPTER_ROOTS": str(root)}
    with running_stack(environment | {"SAGEMAKER_ENABLE_STATEFUL_SESSIONS": "true"}, tokens=5) as running:
        for name, file in (("legal", "model.py"), ("plain", "notes.txt"), ("both", "formatters.py")):
            folder = root / name
            folder.mkdir()
            (folder / "adapter_config.json").write_text("{}", encoding="utf-8")
            (folder / file).write_text(ADAPTER, encoding="utf-8")
            assert running.post({"name": name, "src": str(folder)}, "/adapters").status == 200
        yield running


def test_an_input_formatter_makes_the_request(stack: Stack) -> None:
    answer = stack.post({"question": "why", "max_tokens": 2})
    assert (answer.status, answer.json) == (200, {"base": "<base> 1"})
    sent = stack.engine_requests("/v1/chat/completions")[-1]
    assert sent == {"messages": [{"role": "user", "content": "why"}], "max_tokens": 2}


def test_text_of_an_output_formatter_is_sent_as_it_is(stack: Stack) -> None:
    answer = stack.post({"messages": MESSAGES, "model": "as/text", "max_tokens": 1})
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.body == b"<base>"


def test_inputs_are_formatted_too(stack: Stack) -> None:
    assert stack.post({"inputs": "x", "parameters": {"max_new_tokens": 1}}).json == {"base": "<base>"}
    many = stack.post({"inputs": ["x", "y"], "parameters": {"max_new_tokens": 1}})
    assert many.json == [{"base": "<base>"}, {"base": "<base>"}]
    lines = stack.post({"inputs": "x", "stream": True}).body.splitlines()
    assert [json.loads(line) for line in lines[:2]] == [{"line": "<base>"}, {"line": " 1"}]


@pytest.mark.parametrize("name", ["legal", "both"])
def test_an_adapters_formatter_overrides_only_its_direction(stack: Stack, name: str) -> None:
    answer = stack.post({"question": "why", "max_tokens": 1}, adapter=name)
    assert answer.json == {"adapter": f"<{name}>", "by": name}
    assert stack.post({"question": "why", "max_tokens": 1}, adapter="plain").json == {"base": "<plain>"}


def test_chunks_are_changed_left_out_and_written_as_text(stack: Stack) -> None:
    answer = stack.post({"messages": MESSAGES, "stream": True})
    events = answer.body.split(b"\n\n")[:-1]
    assert events == [
        b'data: {"text":"<base>"}',
        b'data: {"text":" 2"}',
        b"data: two\ndata: lines",
        b'data: {"text":" 4"}',
        b'data: {"text":""}',
        b"data: [DONE]",
    ]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"question": "fail"}, "input formatter to_model of the base model failed: ValueError"),
        ({"question": "odd"}, "returned what cannot be sent as JSON"),
        (
            {"messages": MESSAGES, "model": "fail/output"},
            "output formatter to_client of the base model failed",
        ),
    ],
)
def test_a_failure_before_output_is_424(stack: Stack, body: dict[str, Any], says: str) -> None:
    answer = stack.post(body)
    assert (answer.status, answer.error["code"]) == (424, "formatter_failed")
    assert says in answer.error["message"]
    assert b"Traceback" not in answer.body


def test_a_failure_in_a_stream_ends_it_with_one_error_event(stack: Stack) -> None:
    answer = stack.post({"messages": MESSAGES, "model": "fail/chunk", "stream": True})
    events = answer.body.split(b"\n\n")[:-1]
    assert events[0] == b'data: {"text":"<base>"}'
    assert len(events) == 2
    error = json.loads(events[1].removeprefix(b"data: "))["error"]
    assert error["code"] == "formatter_failed"
    assert "no second" in error["message"]


def test_a_failed_formatter_leaves_no_session(stack: Stack) -> None:
    body = {"requestType": "NEW_SESSION", "extSessionID": "x"}
    assert stack.post(body | {"question": "fail"}).status == 424
    assert stack.post(body).status == 200


def test_an_adapter_with_broken_formatters_is_not_registered(stack: Stack) -> None:
    root = stack.services.settings.adapter_roots[0]
    folder = root / "broken"
    folder.mkdir()
    (folder / "adapter_config.json").write_text("{}", encoding="utf-8")
    (folder / "formatters.py").write_text("1 / 0", encoding="utf-8")
    answer = stack.post({"name": "broken", "src": str(folder)}, "/adapters")
    assert (answer.status, answer.error["code"]) == (424, "formatter_failed")
    assert stack.post({"prompt": "x"}, adapter="broken").status == 404


def test_an_image_without_the_runtime_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "warmstack_formatters", None)
    with pytest.raises(FormatterFailedError, match="lacks warmstack_formatters"):
        load_formatters(tmp_path / "formatters.py")


def test_an_adapters_own_form_opens_a_session_with_an_answer(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text("{}", encoding="utf-8")
    code = "from warmstack_formatters import input_formatter as i\n\n\n@i\ndef f(p): return {'prompt': p['ask']}\n"
    (tmp_path / "formatters.py").write_text(code, encoding="utf-8")
    environment = {"WARMSTACK_ADAPTER_ROOTS": str(tmp_path), "SAGEMAKER_ENABLE_STATEFUL_SESSIONS": "true"}
    with running_stack(environment, tokens=5) as stack:
        assert stack.post({"name": "asks", "src": str(tmp_path)}, "/adapters").status == 200
        answer = stack.post({"ask": "x"}, session="NEW_SESSION", adapter="asks")
        assert "choices" in answer.json
        assert "x-amzn-sagemaker-new-session-id" in answer.headers
