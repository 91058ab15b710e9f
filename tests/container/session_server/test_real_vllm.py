"""The session server in front of a real vLLM: what both engines have works with either."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.ports import kept_port
from warmstack.local.engines import EngineEnvironment, EngineOrder
from warmstack.local.engines.surroundings import engine_surroundings
from warmstack.local.engines.vllm import VARIABLES, vllm_command

pytestmark = pytest.mark.engine
CONTAINER = Path(__file__).parents[3] / "container"
START_SECONDS = 240

# The server as its own process, with another engine's command and its probe: what `session_server.__main__` does
# for SGLang.
LAUNCH = """
import json, logging, os, sys
import uvloop
from session_server.engine_process import EngineCommand
from session_server.health import LivenessProbe
from session_server.settings import Settings
from session_server.supervisor import supervise

logging.basicConfig(level=logging.INFO)
command = EngineCommand(arguments=tuple(json.loads(sys.argv[1])), environment=os.environ)
settings = Settings.from_environment(os.environ)
sys.exit(uvloop.run(supervise(settings, command, liveness=LivenessProbe.GENERATION)))
"""


@pytest.fixture(scope="module")
def port(engine_python: Path, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a session server whose engine is ready."""
    with kept_port() as server_port, kept_port() as engine_port:
        yield from serving(server_port, engine_port, engine_python, tiny_model, tmp_path_factory)


def serving(
    server_port: int, engine_port: int, engine_python: Path, tiny_model: Path, folders: pytest.TempPathFactory
) -> Iterator[int]:
    order = EngineOrder(
        engine=EngineEnvironment(folder=engine_python.parents[1]),
        model=tiny_model,
        folder=folders.mktemp("engine"),
        arguments=("--served-model-name", "tiny", "--max-model-len", "4096", "--kv-cache-memory-bytes", str(64 << 20)),
    )
    command = vllm_command(order, engine_port)
    environment = {
        **engine_surroundings(os.environ),
        **VARIABLES,
        "PYTHONPATH": str(CONTAINER),
        "SAGEMAKER_ENABLE_STATEFUL_SESSIONS": "true",
        "WARMSTACK_HOST": "127.0.0.1",
        "WARMSTACK_PORT": str(server_port),
        "WARMSTACK_ENGINE_PORT": str(engine_port),
    }
    log = folders.mktemp("server") / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, json.dumps(command)], env=environment, stdout=output, stderr=output
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while process.poll() is None and time.monotonic() < deadline and not ready(server_port):
            time.sleep(1)
        assert ready(server_port), log.read_text(encoding="utf-8", errors="replace")[-4000:]
        yield server_port
    finally:
        process.terminate()
        process.wait(40)


def ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/ping")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def post(port: int, body: dict[str, Any], **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    connection.request("POST", "/invocations", json.dumps(body), named)
    response = connection.getresponse()
    found = response.status, {key.lower(): value for key, value in response.getheaders()}, response.read()
    connection.close()
    return found


def test_each_form_is_answered(port: int) -> None:
    status, _, body = post(port, {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 4})
    assert (status, json.loads(body)["usage"]["completion_tokens"]) == (200, 4)
    status, _, body = post(port, {"prompt": "hello", "max_tokens": 4, "temperature": 0})
    assert status == 200
    text = json.loads(body)["choices"][0]["text"]
    parameters = {"max_new_tokens": 4, "temperature": 0, "details": True}
    status, _, body = post(port, {"inputs": "hello", "parameters": parameters})
    assert status == 200
    assert json.loads(body) == {
        "generated_text": text,
        "details": {"finish_reason": "length", "generated_tokens": 4},
    }


def test_streams_are_events_and_lines(port: int) -> None:
    status, headers, body = post(port, {"prompt": "hello", "max_tokens": 4, "stream": True})
    assert (status, headers["content-type"].partition(";")[0]) == (200, "text/event-stream")
    assert body.endswith(b"data: [DONE]\n\n")
    status, headers, body = post(port, {"inputs": "hello", "parameters": {"max_new_tokens": 4}, "stream": True})
    assert (status, headers["content-type"]) == (200, "application/jsonlines")
    *tokens, last = [json.loads(line) for line in body.splitlines()]
    assert last["generated_text"] == "".join(token["token"]["text"] for token in tokens)


def test_a_session_from_its_start_to_its_end(port: int) -> None:
    _, headers, _ = post(port, {}, X_Amzn_SageMaker_Session_Id="NEW_SESSION")
    session = headers["x-amzn-sagemaker-new-session-id"].split(";")[0]
    prompt = {"prompt": "hello", "max_tokens": 1}
    assert post(port, prompt, X_Amzn_SageMaker_Session_Id=session)[0] == 200
    assert post(port, {"requestType": "CLOSE", "extSessionID": session})[0] == 200
    assert post(port, prompt, X_Amzn_SageMaker_Session_Id=session)[0] == 400


def test_many_at_once(port: int) -> None:
    async def all_of_them() -> list[int]:
        calls = [asyncio.to_thread(post, port, {"prompt": f"hello {n}", "max_tokens": 8}) for n in range(8)]
        return [status for status, _, _ in await asyncio.gather(*calls)]

    assert asyncio.run(all_of_them()) == [200] * 8


def test_the_engines_own_errors_come_through(port: int) -> None:
    status, _, body = post(port, {"prompt": "hello", "model": "absent/model"})
    assert status == 404
    assert b"absent/model" in body
