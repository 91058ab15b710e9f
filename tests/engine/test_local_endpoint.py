"""`warmstack local up` with two real vLLM copies, LMCache beside each, and real clients: run by `make test-engine`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.ports import kept_port
from tests.unit.local.clients import close_all, control, parts, runtime
from tests.unit.local.clients import session as credentials
from warmstack import EndpointClient
from warmstack.local.remote import ask

pytestmark = pytest.mark.engine
TEMPLATE = Path(__file__).with_name("local_endpoint.yaml")
START_SECONDS = 240
STEP_SECONDS = 90
PREFIX_TOKENS = 6000
# The small model's tokenizer makes some eleven tokens of this.
SENTENCE = "the quick brown fox number %d jumps over the lazy dog again and again; "


@pytest.fixture(scope="module")
def url(engine_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a local endpoint whose two copies are ready."""
    with kept_port() as port:
        yield from _serving(port, engine_python, tmp_path_factory)


def _serving(port: int, engine_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    state = tmp_path_factory.mktemp("state")
    environment = os.environ | {"WARMSTACK_ENGINE": str(engine_python.parents[1]), "XDG_STATE_HOME": str(state)}
    command = [sys.executable, "-m", "warmstack", "local", "up", str(TEMPLATE), "--port", str(port), "--json"]
    log = state / "log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [*command, "--kv-cache", "96MiB"], env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, log.read_text(encoding="utf-8", errors="replace")[-4000:]
        yield str(json.loads(line)["url"])
    finally:
        close_all()
        process.send_signal(signal.SIGINT)
        status = process.wait(60)
        process.stdout.close() if process.stdout else None
    assert status == 0
    assert list((state / "warmstack" / "runs").iterdir()) == []


def prompt(number: int) -> str:
    return "".join(SENTENCE % (number * 1000 + at) for at in range(330))


def invoke(url: str, text: str, component: str = "warm-chat", **arguments: str) -> dict[str, Any]:
    body = {"messages": [{"role": "user", "content": text}], "max_tokens": 6, "temperature": 0}
    answer = runtime(url).invoke_endpoint(
        EndpointName="warm",
        InferenceComponentName=component,
        ContentType="application/json",
        Body=json.dumps(body),
        **arguments,
    )
    found: dict[str, Any] = json.loads(answer["Body"].read())
    return found


def status(url: str) -> dict[str, Any]:
    return ask(url, "status")


def copies(url: str) -> dict[str, dict[str, Any]]:
    (endpoint,) = status(url)["endpoints"]
    (variant,) = endpoint["variants"]
    return {copy["name"]: copy for instance in variant["instances"] for copy in instance["copies"]}


def counted(url: str, name: str) -> dict[str, int]:
    cache = copies(url)[name]["cache"]
    assert cache is not None
    return dict(cache)


def last(url: str) -> dict[str, Any]:
    entry: dict[str, Any] = status(url)["last_requests"][0]
    return entry


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + STEP_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.5)


def opened(url: str) -> str:
    answer = runtime(url).invoke_endpoint(
        EndpointName="warm",
        InferenceComponentName="warm-chat",
        ContentType="application/json",
        Body=b'{"requestType": "NEW_SESSION"}',
        SessionId="NEW_SESSION",
    )
    return str(answer["NewSessionId"]).split(";")[0]


def test_what_is_otherwise_than_on_sagemaker_is_told(url: str) -> None:
    notices = "\n".join(status(url)["notices"])
    assert "SM_VLLM_TENSOR_PARALLEL_SIZE=8: here 1" in notices
    assert "its model is replaced by a small random one" in notices
    assert "here LMCacheMPConnector" in notices


def test_a_repeated_prefix_hits_on_the_one_copy_that_has_it(url: str) -> None:
    before = copies(url)
    shared = prompt(1)
    went = []
    for question in ("who?", "what?", "where?"):
        answer = invoke(url, shared + question)
        assert answer["usage"]["prompt_tokens"] > PREFIX_TOKENS
        went.append((last(url)["copy"], last(url)["reason"]))
    assert set(went) == {(went[0][0], "prefix")}
    after = counted(url, went[0][0])
    grown = after["hit_tokens"] - before[went[0][0]]["cache"]["hit_tokens"]
    assert grown >= 2 * PREFIX_TOKENS
    others = [name for name in before if name != went[0][0]]
    assert [copies(url)[name]["served"] for name in others] == [before[name]["served"] for name in others]


def test_sessions_stay_and_streams_in_them_too(url: str) -> None:
    homes = {}
    for _ in range(4):
        session = opened(url)
        homes[session] = last(url)["copy"]
    for session, home in homes.items():
        invoke(url, f"a turn of {session}", SessionId=session)
        assert (last(url)["copy"], last(url)["reason"]) == (home, "session")
    session, home = next(iter(homes.items()))
    body = {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 4, "stream": True}
    stream = runtime(url).invoke_endpoint_with_response_stream(
        EndpointName="warm",
        InferenceComponentName="warm-chat",
        ContentType="application/json",
        Body=json.dumps(body),
        SessionId=session,
    )
    assert b"".join(parts(stream)).endswith(b"data: [DONE]\n\n")
    assert last(url)["copy"] == home


def test_an_adapters_component_answers_through_its_adapter(url: str) -> None:
    base = invoke(url, "one question for two voices")
    adapted = invoke(url, "one question for two voices", "warm-legal")
    assert adapted["model"] == "warm-legal"
    assert adapted["choices"][0]["message"]["content"] != base["choices"][0]["message"]["content"]
    described = control(url).describe_inference_component(InferenceComponentName="warm-legal")
    assert described["InferenceComponentStatus"] == "InService"


def test_a_conversation_finds_its_cache_and_survives_its_copy(url: str) -> None:
    client = EndpointClient("warm", component="warm-chat", boto3_session=credentials(), endpoint_url=url)
    with client, client.session(system=prompt(20), max_tokens=6, temperature=0) as conversation:
        cold = conversation.chat("who?")
        assert cold.usage is not None
        assert cold.usage.prompt_tokens > PREFIX_TOKENS
        home = last(url)["copy"]
        stream = conversation.stream("what?")
        arrived = "".join(stream.text())
        warm = stream.response()
        assert warm.usage is not None
        assert warm.usage.cached_tokens is not None
        assert warm.usage.cached_tokens > PREFIX_TOKENS
        ask(url, "faults", {"fault": "kill", "target": home})
        assert conversation.chat("where?").text
        assert conversation.stats.replayed == 1
        said = [one["content"] for one in conversation.transcript.messages()]
        assert said[1:5] == ["who?", cold.text, "what?", arrived]
    until(lambda: [one["state"] for one in copies(url).values()] == ["InService"] * 2)


def test_what_the_engine_evicts_comes_back_from_ram_and_after_its_end_from_disk(url: str) -> None:
    session = opened(url)
    home = last(url)["copy"]
    first = prompt(10)
    # A cache of 96 MiB holds some 16,000 tokens: three prompts push the first one out.
    for number in (10, 11, 12, 13):
        invoke(url, prompt(number), SessionId=session)
    before = counted(url, home)
    invoke(url, first, SessionId=session)
    assert counted(url, home)["tier_hit_tokens"] - before["tier_hit_tokens"] >= PREFIX_TOKENS - 256
    ask(url, "faults", {"fault": "kill", "target": home})
    until(lambda: len(copies(url)) == 2 and home not in copies(url))
    until(lambda: all(copy["state"] == "InService" for copy in copies(url).values()))
    instance = home.split("/")[0]
    (reborn,) = [name for name in copies(url) if name.startswith(f"{instance}/")]
    # The engine's cache is empty, and so is LMCache's RAM: its server ended with the copy.
    session = next(one for one in (opened(url) for _ in range(20)) if last(url)["copy"] == reborn)
    before = counted(url, reborn)
    invoke(url, first, SessionId=session)
    assert counted(url, reborn)["tier_hit_tokens"] - before["tier_hit_tokens"] >= PREFIX_TOKENS - 256


def test_a_copy_of_a_component_stops_and_starts(url: str) -> None:
    client = control(url)

    def wanted(count: int) -> None:
        client.update_inference_component_runtime_config(
            InferenceComponentName="warm-chat", DesiredRuntimeConfig={"CopyCount": count}
        )
        until(lambda: [one["state"] for one in copies(url).values()] == ["InService"] * count)

    pids = {copy["pid"] for copy in copies(url).values()}
    wanted(1)
    (left,) = copies(url).values()
    (gone,) = pids - {left["pid"]}
    with pytest.raises(ProcessLookupError):
        os.kill(gone, 0)
    wanted(2)
    assert invoke(url, "still here", "warm-legal")["model"] == "warm-legal"
