"""The SGLang image in front of the stand-in engine: what SageMaker and its clients see of it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.image.buildah import Buildah, Mount
from tests.image.conftest import Built
from tests.image.containers import Container, command_of, running

pytestmark = pytest.mark.image
NEW, CLOSED = "x-amzn-sagemaker-new-session-id", "x-amzn-sagemaker-closed-session-id"
MESSAGES = [{"role": "user", "content": "Hello"}]


@pytest.fixture(scope="module")
def served(
    buildah: Buildah, build: Callable[[str], Built], platform: tuple[Mount, ...], log: Path
) -> Iterator[Container]:
    """The image of specs/sglang-sessions.yaml, ready; it has answered 503 before."""
    image = build("sglang-sessions")
    environment = {**image.plan.models[0].environment, "STANDIN_READY_SECONDS": "1e9"}
    with running(buildah, image.tag, log=log / "sessions", environment=environment, mounts=platform) as container:
        container.wait_for(lambda: container.ping() == 503)
        container.control_engine(ready_seconds=0)
        assert container.wait_until_ready() in ([], [503])
        yield container


@pytest.fixture(scope="module")
def adapters(
    buildah: Buildah, build: Callable[[str], Built], platform: tuple[Mount, ...], log: Path
) -> Iterator[Container]:
    """The image of a component with adapters, ready."""
    image = build("sglang-adapters")
    environment = image.plan.models[0].environment
    with running(buildah, image.tag, log=log / "adapters", environment=environment, mounts=platform) as container:
        container.wait_until_ready()
        yield container


def test_the_engine_is_told_what_the_plan_says(served: Container) -> None:
    words = command_of(served.engine)
    assert words[:3] == ["/usr/bin/python3", "-m", "sglang.launch_server"]
    said = dict(itertools.pairwise(words))
    assert said["--model-path"] == "/opt/ml/model"
    assert said["--context-length"] == "32768"
    assert said["--host"] == "127.0.0.1"
    assert command_of(served.main)[:4] == ["/opt/warmstack/venv/bin/python", "-I", "-m", "session_server"]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"messages": MESSAGES, "max_tokens": 3}, lambda answer: answer["choices"][0]["message"]["content"]),
        ({"prompt": "Hello", "max_tokens": 3}, lambda answer: answer["choices"][0]["text"]),
        ({"inputs": "Hello", "parameters": {"max_new_tokens": 3}}, lambda answer: answer["generated_text"]),
        ({"inputs": "Hello", "sampling_params": {"max_new_tokens": 3}}, lambda answer: answer["generated_text"]),
    ],
    ids=["messages", "prompt", "inputs and parameters", "inputs and sampling_params"],
)
def test_every_form_of_request(served: Container, body: dict[str, Any], text: Callable[[Any], str]) -> None:
    answer = served.invoke(body)
    assert answer.status == 200, answer.body
    assert text(answer.json) == "<base> 1 2"


def test_a_stream_comes_as_it_is_produced(served: Container) -> None:
    served.control_engine(hold_after=1)
    try:
        with served.stream({"messages": MESSAGES, "max_tokens": 5, "stream": True}) as coming:
            # A server that waits for the end sends nothing: the engine makes the other tokens after this.
            lines = [next(coming)]
            served.control_engine(hold_after=-1)
            lines += coming
    finally:
        served.control_engine(hold_after=-1)
    assert lines[-1] == b"data: [DONE]"
    chunks = [json.loads(line.removeprefix(b"data: ")) for line in lines[:-1]]
    assert "".join(one["choices"][0]["delta"]["content"] for one in chunks if one["choices"]) == "<base> 1 2 3 4"


def test_a_session_is_opened_used_and_closed(served: Container) -> None:
    opened = served.invoke({"requestType": "NEW_SESSION"}, session="NEW_SESSION")
    assert opened.status == 200, opened.body
    session, _, expires = opened.headers[NEW].partition("; Expires=")
    assert session
    assert expires
    used = served.invoke({"messages": MESSAGES, "max_tokens": 1}, session=session)
    assert used.status == 200
    assert NEW not in used.headers
    closed = served.invoke({"requestType": "CLOSE"}, session=session)
    assert closed.status == 200
    assert closed.headers[CLOSED] == session
    assert served.invoke({"messages": MESSAGES}, session=session).status == 400


def test_an_unknown_session_is_refused(served: Container) -> None:
    answer = served.invoke({"messages": MESSAGES}, session="00000000-0000-0000-0000-000000000000")
    assert answer.status == 400
    assert "session" in answer.json["error"]["message"]


def test_an_adapter_is_registered_used_and_removed(adapters: Container) -> None:
    body = {"messages": MESSAGES, "max_tokens": 1}
    unknown = adapters.invoke(body, adapter="legal")
    assert unknown.status == 404
    assert "POST /adapters" in unknown.json["error"]["message"]
    registered = adapters.request("POST", "/adapters", {"name": "legal", "src": "/opt/ml/models/legal"})
    assert registered.status == 200, registered.body
    answer = adapters.invoke(body, adapter="legal")
    assert answer.status == 200, answer.body
    assert answer.json["choices"][0]["message"]["content"] == "<legal>"
    assert adapters.invoke(body).json["choices"][0]["message"]["content"] == "<base>"
    assert adapters.request("DELETE", "/adapters/legal").status == 200
    assert adapters.invoke(body, adapter="legal").status == 404


def test_an_adapter_outside_the_mounted_folders_is_refused(adapters: Container) -> None:
    assert adapters.request("POST", "/adapters", {"name": "etc", "src": "/etc"}).status == 400


def test_adapters_may_bring_formatters(adapters: Container) -> None:
    registered = adapters.request("POST", "/adapters", {"name": "formal", "src": "/opt/ml/models/formal"})
    assert registered.status == 200, registered.body
    answer = adapters.invoke({"messages": MESSAGES}, adapter="formal")
    assert answer.json["by"] == "formal"
    assert "by" not in adapters.invoke({"messages": MESSAGES}).json
    assert adapters.request("DELETE", "/adapters/formal").status == 200
