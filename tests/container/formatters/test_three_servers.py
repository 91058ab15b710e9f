"""One file of formatters, three servers, one result."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.container.formatters.conftest import Write
from tests.container.formatters.servers import DONE, Engine, FakeLmi, Reply, ask, event
from vllm_script import FormatterMiddleware
from warmstack_formatters import FormatterError, error_body, is_result, load

USERS = """
@input_formatter
def to_model(payload):
    if "boom" in payload:
        raise LookupError("no such tenant")
    return {**payload, "temperature": 0.0}

@output_formatter
def to_client(response, *, stream):
    text = response["choices"][0]["text"]
    if text == "boom":
        raise LookupError("no such text")
    if text == "":
        return None if stream else ""
    return {"answer": text, "stream": stream, "temperature": response["temperature"]}
"""
REQUESTS = [{"prompt": "a"}, {"prompt": "a", "boom": 1}]
TEXTS = ["hello ü", "boom"]


def engine(text: str) -> Any:
    return lambda payload: {"id": "x", "choices": [{"text": text}], "temperature": payload["temperature"]}


def streaming(texts: list[str]) -> Any:
    return lambda payload: [*(event(engine(text)(payload)) for text in texts), DONE]


def by_session_server(path: Path, payload: dict[str, Any], answer: Any) -> Any:
    """The SGLang image: its server calls the runtime itself."""
    formatters = load(path, "the base model")
    try:
        reply = answer(formatters.input(payload))
        if isinstance(reply, list):
            chunks = [json.loads(one[6:]) for one in reply[:-1]]
            found = [formatters.chunk(one) if is_result(one) else one for one in chunks]
            return [one for one in found if one is not None]
        return formatters.output(reply)
    except FormatterError as error:
        return error_body(error)


def by_lmi(path: Path, payload: dict[str, Any], answer: Any) -> Any:
    lmi = FakeLmi()
    lmi.register(path.parent)

    def engine(asked: dict[str, Any]) -> Any:
        reply = answer(asked)
        return reply if isinstance(reply, list) else Reply(reply)

    status, body = lmi.answer(payload, engine)
    if status == 424:
        return {
            "error": {"message": body.removeprefix("Input parsing failed: "), "type": "FormatterError", "code": 424}
        }
    documents = [json.loads(line) for line in body.splitlines() if line]
    return documents if isinstance(answer({"temperature": 0}), list) else documents[0]


def by_vllm(path: Path, payload: dict[str, Any], answer: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WARMSTACK_FORMATTERS", str(path))
        patch.setattr(sys, "path", [*sys.path])
        reply = ask(FormatterMiddleware(Engine(answer)), payload)
    if reply.headers["content-type"].startswith("application/json"):
        return json.loads(reply.body)
    events = [one.removeprefix("data: ") for one in reply.body.decode().split("\n\n") if one]
    assert events[-1] == "[DONE]"
    return [json.loads(one) for one in events[:-1]]


@pytest.mark.parametrize("payload", REQUESTS)
@pytest.mark.parametrize("text", TEXTS)
def test_whole_responses(write: Write, payload: dict[str, Any], text: str) -> None:
    path = write(USERS)
    results = [by(path, dict(payload), engine(text)) for by in (by_session_server, by_lmi, by_vllm)]
    assert results[0] == results[1] == results[2]
    if payload == REQUESTS[0] and text == TEXTS[0]:
        assert results[0] == {"answer": "hello ü", "stream": False, "temperature": 0.0}


def test_streams(write: Write) -> None:
    path = write(USERS)
    results = [by(path, {"prompt": "a"}, streaming(["a", "", "ü"])) for by in (by_session_server, by_lmi, by_vllm)]
    assert results[0] == results[1] == results[2]
    assert [one["answer"] for one in results[0]] == ["a", "ü"]


def test_streams_that_break(write: Write) -> None:
    path = write(USERS)
    results = [by(path, {"prompt": "a"}, streaming(["a", "boom", "b"])) for by in (by_lmi, by_vllm)]
    assert results[0] == results[1]
    assert "no such text" in results[0][1]["error"]["message"]
    assert len(results[0]) == 2


def test_a_base_file_that_does_not_load_ends_the_start(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARMSTACK_FORMATTERS", str(write("import no_such_module\n")))
    with pytest.raises(FormatterError, match="no_such_module"):
        FormatterMiddleware(None)
    monkeypatch.delenv("WARMSTACK_FORMATTERS")
    monkeypatch.setattr(sys, "path", [one for one in sys.path if not one.endswith("container/formatters")])
    FormatterMiddleware(None)
    assert sys.path[-1].endswith("formatters")
