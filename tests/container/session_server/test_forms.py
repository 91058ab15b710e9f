"""The forms of a request: what reaches the engine, and what comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.container.session_server.harness import Stack

MESSAGES = [{"role": "user", "content": "hello"}]


def test_a_chat_is_passed_on_byte_for_byte(stack: Stack) -> None:
    raw = b'{ "messages": [{"role":"user","content":"h\\u00e9"}],\n "max_tokens" : 2, "model":"anything/goes" }'
    answer = stack.request("POST", "/invocations", raw, {"Content-Type": "text/plain"})
    assert answer.status == 200
    assert answer.json["choices"][0]["message"]["content"] == "<base> 1"
    assert stack.engine.counters.requests[-1]["body"].encode() == raw
    assert stack.engine.counters.requests[-1]["headers"]["content-type"] == "application/json"


def test_a_completion(stack: Stack) -> None:
    answer = stack.post({"prompt": "hello", "max_tokens": 2})
    assert (answer.status, answer.json["choices"][0]["text"]) == (200, "<base> 1")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"messages": MESSAGES, "max_tokens": 1}),
        ("/v1/completions", {"prompt": "x", "max_tokens": 1}),
    ],
)
def test_the_openai_paths_are_served_through_the_same_path(stack: Stack, path: str, body: dict[str, Any]) -> None:
    assert stack.post(body, path).status == 200
    assert stack.engine.counters.requests[-1]["path"] == path
    opened = stack.post(body, path, session="NEW_SESSION")
    session = opened.headers["x-amzn-sagemaker-new-session-id"].split(";")[0]
    assert stack.post(body, path, session=session).status == 200
    assert stack.post(body, path, session="unknown").status == 400


def test_an_openai_path_takes_its_own_form_only(stack: Stack) -> None:
    answer = stack.post({"prompt": "x"}, "/v1/chat/completions")
    assert answer.status == 400
    assert "/invocations takes each form" in answer.error["message"]


def test_models_are_listed(stack: Stack) -> None:
    assert [card["id"] for card in stack.get("/v1/models").json["data"]] == ["/opt/ml/model"]


def test_metrics_are_the_engines(stack: Stack) -> None:
    answer = stack.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert b"sglang:num_running_reqs" in answer.body


@pytest.mark.parametrize("name", ["parameters", "sampling_params"])
def test_inputs_are_answered_in_the_form_of_lmi(stack: Stack, name: str) -> None:
    answer = stack.post({"inputs": "hello", name: {"max_new_tokens": 3, "temperature": 0.5, "top_k": None}})
    assert (answer.status, answer.json) == (200, {"generated_text": "<base> 1 2"})
    sent = stack.engine_requests("/v1/completions")[-1]
    assert sent == {"prompt": "hello", "max_tokens": 3, "temperature": 0.5}


def test_inputs_with_details_and_full_text(stack: Stack) -> None:
    parameters = {"max_new_tokens": 2, "details": True, "return_full_text": True, "do_sample": False}
    answer = stack.post({"inputs": "hello ", "parameters": parameters})
    assert answer.json == {
        "generated_text": "hello <base> 1",
        "details": {"finish_reason": "length", "generated_tokens": 2},
    }
    assert stack.engine_requests("/v1/completions")[-1]["temperature"] == 0.0


def test_several_inputs_have_several_answers(stack: Stack) -> None:
    answer = stack.post({"inputs": ["a", "b"], "parameters": {"max_new_tokens": 1}})
    assert answer.json == [{"generated_text": "<base>"}, {"generated_text": "<base>"}]


@pytest.mark.parametrize("where", ["body", "parameters"])
def test_streamed_inputs_are_json_lines(stack: Stack, where: str) -> None:
    body: dict[str, Any] = {"inputs": "hello", "parameters": {"max_new_tokens": 3, "details": True}}
    (body if where == "body" else body["parameters"])["stream"] = True
    answer = stack.post(body)
    assert answer.headers["content-type"] == "application/jsonlines"
    lines = [json.loads(line) for line in answer.body.splitlines()]
    assert [line["token"]["text"] for line in lines] == ["<base>", " 1", " 2", ""]
    assert lines[-1]["generated_text"] == "<base> 1 2"
    assert lines[-1]["details"] == {"finish_reason": "length", "generated_tokens": 3}


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"messages": MESSAGES, "prompt": "x"}, "messages and prompt; send one"),
        ({"max_tokens": 1}, "no messages, prompt or inputs"),
        ({"inputs": 5}, "inputs must be a text"),
        ({"inputs": []}, "inputs must be a text"),
        ({"inputs": ["a", "b"], "stream": True}, "one text at a time"),
        ({"inputs": "a", "parameters": {"n": 3}}, "n is not supported"),
        ({"inputs": "a", "parameters": {}, "sampling_params": {}}, "send one of them"),
        ({"inputs": "a", "parameters": [1]}, "must be an object"),
        ({"inputs": "a", "parameters": {"lora_path": "x"}}, "belongs beside inputs"),
    ],
)
def test_a_wrong_body_is_refused_with_the_way_out(stack: Stack, body: dict[str, Any], says: str) -> None:
    answer = stack.post(body)
    assert answer.status == 400
    assert says in answer.error["message"]
    assert answer.error["type"] == "invalid_request_error"


@pytest.mark.parametrize("raw", [b"", b"{", b"[1]", b'"x"', b"\xff\xfe", b'{"prompt": NaN}', b"[" * 5000])
def test_what_is_no_json_object_is_refused(stack: Stack, raw: bytes) -> None:
    answer = stack.request("POST", "/invocations", raw)
    assert (answer.status, answer.error["code"]) == (400, "invalid_json")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "/etc/passwd.png", " http://x", "FILE:///x.png", "../x.jpg"])
@pytest.mark.parametrize("plain", [True, False])
def test_media_of_the_engines_file_system_are_refused(stack: Stack, url: str, plain: bool) -> None:
    part = {"type": "image_url", "image_url": url if plain else {"url": url}}
    answer = stack.post({"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}, part]}]})
    assert (answer.status, answer.error["code"]) == (400, "invalid_media")


@pytest.mark.parametrize("url", ["http://a/b.png", "https://a/b", "data:image/png;base64,AAAA"])
def test_media_of_the_web_and_of_the_body_go_on(stack: Stack, url: str) -> None:
    part = {"type": "image_url", "image_url": {"url": url}}
    assert stack.post({"messages": [{"role": "user", "content": [part]}], "max_tokens": 1}).status == 200


def test_an_error_of_the_engine_goes_on_with_its_status_and_body(stack: Stack) -> None:
    stack.engine.options.ready_seconds = 1e9
    try:
        answer = stack.post({"prompt": "x"})
    finally:
        stack.engine.options.ready_seconds = 0.0
    assert answer.status == 503
    assert answer.json == {
        "object": "error",
        "message": "the engine is still loading",
        "type": "BadRequest",
        "param": None,
        "code": 503,
    }


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/nothing", 404), ("GET", "/invocations", 405)])
def test_other_paths_have_errors_of_the_same_form(stack: Stack, method: str, path: str, status: int) -> None:
    answer = stack.request(method, path)
    assert answer.status == status
    assert set(answer.error) == {"message", "type", "code"}
