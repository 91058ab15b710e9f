"""A real vLLM as a copy: run by `make test-engine`."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.copies import Loop, counters, grown, post, tokens
from warmstack.catalog import load_catalog
from warmstack.local.container import ContainerRequest, read_body
from warmstack.local.engines import (
    EngineEnvironment,
    EngineOrder,
    Translation,
    TranslationRequest,
    VllmCopy,
    make_adapter,
    read_model,
    start_vllm,
    translate,
)
from warmstack.local.engines.connection import HttpContainer

pytestmark = pytest.mark.engine
ROOT = Path(__file__).parents[2]
CHAT = {"messages": [{"role": "user", "content": "Where do copies live?"}], "max_tokens": 8, "temperature": 0}
SERVED = {
    "SAGEMAKER_ENABLE_STATEFUL_SESSIONS": "true",
    "SM_VLLM_ENABLE_AUTO_TOOL_CHOICE": "true",
    "SM_VLLM_ENABLE_LORA": "true",
    "SM_VLLM_ENABLE_PREFIX_CACHING": "true",
    "SM_VLLM_GPU_MEMORY_UTILIZATION": "0.9",
    "SM_VLLM_MAX_LORAS": "2",
    "SM_VLLM_MAX_LORA_RANK": "8",
    "SM_VLLM_MAX_MODEL_LEN": "8192",
    "SM_VLLM_REASONING_PARSER": "deepseek_r1",
    "SM_VLLM_SERVED_MODEL_NAME": "acme/model",
    "SM_VLLM_TENSOR_PARALLEL_SIZE": "4",
    "SM_VLLM_TOOL_CALL_PARSER": "hermes",
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "true",
}
FORMATTED = {
    "CUSTOM_FASTAPI_MIDDLEWARE_PRE_POST_PROCESS": "/opt/warmstack/formatters/vllm_script.py:FormatterMiddleware",
    "SM_VLLM_MAX_MODEL_LEN": "8192",
    "SM_VLLM_SPECULATIVE_CONFIG": '{"method":"ngram","num_speculative_tokens":3,"prompt_lookup_min":1}',
    "WARMSTACK_FORMATTERS": "/opt/warmstack/models/model/formatters.py",
}
KV_CACHE_BYTES = 96 << 20
FORMATTERS = """
from warmstack_formatters import input_formatter

@input_formatter
def shorter(body, **_):
    return {**body, "max_tokens": 2}
"""


@pytest.fixture(scope="module")
def loop() -> Iterator[Loop]:
    one = Loop()
    yield one
    one.close()


def local(model: Path, environment: Mapping[str, str], carried: Callable[[str], Path | None]) -> Translation:
    """Return what a copy of the vLLM image gets here."""
    request = TranslationRequest(
        server="vllm",
        environment=environment,
        model=replace(read_model(model), stands_in=True),
        tables=load_catalog().flags,
        carried=carried,
        kv_cache_bytes=KV_CACHE_BYTES,
    )
    return translate(request)


@pytest.fixture(scope="module")
def copy(
    loop: Loop, engine_python: Path, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[VllmCopy]:
    translation = local(tiny_model, SERVED, lambda _: None)
    order = EngineOrder(
        engine=EngineEnvironment(folder=engine_python.parents[1]),
        model=tiny_model,
        folder=tmp_path_factory.mktemp("copy"),
        arguments=translation.arguments,
        environment=translation.environment,
    )
    started = loop.run(start_vllm(order))
    try:
        assert started.model == "acme/model"
        yield started
    finally:
        loop.run(started.stop())


def test_invocations_and_the_openai_path(loop: Loop, copy: VllmCopy) -> None:
    answer = loop.run(post(copy, "/invocations", CHAT))
    assert (answer.status, answer.value["usage"]["completion_tokens"]) == (200, 8)
    again = loop.run(post(copy, "/v1/chat/completions", {**CHAT, "model": "acme/model"}))
    assert again.value["choices"][0]["message"]["content"] == answer.value["choices"][0]["message"]["content"]
    unknown = loop.run(post(copy, "/v1/chat/completions", {**CHAT, "model": "absent"}))
    assert (unknown.status, "absent" in unknown.value["error"]["message"]) == (404, True)


def test_tools_may_be_offered(loop: Loop, copy: VllmCopy) -> None:
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    answer = loop.run(post(copy, "/invocations", {**CHAT, "tools": [tool], "tool_choice": "auto"}))
    assert answer.status == 200, answer.body
    assert answer.value["choices"][0]["message"]["content"]


def test_a_stream_comes_in_pieces(loop: Loop, copy: VllmCopy) -> None:
    async def scenario() -> tuple[int, list[bytes]]:
        body = json.dumps({**CHAT, "model": "acme/model", "stream": True, "max_tokens": 40}).encode()
        request = ContainerRequest(
            method="POST", path="/v1/chat/completions", headers={"content-type": "application/json"}, body=body
        )
        reply = await copy.send(request)
        assert reply.headers["content-type"].startswith("text/event-stream")
        return reply.status, [piece async for piece in reply.pieces()]

    status, pieces = loop.run(scenario())
    assert status == 200
    assert len(pieces) > 2, "tokens that wait for a slower reader come in one piece"
    assert b"".join(pieces).endswith(b"data: [DONE]\n\n")


def test_a_stream_that_is_closed_is_aborted(loop: Loop, copy: VllmCopy) -> None:
    async def scenario() -> None:
        body = json.dumps(
            {"model": "acme/model", "prompt": "x", "stream": True, "max_tokens": 8000, "ignore_eos": True}
        )
        request = ContainerRequest(
            method="POST", path="/v1/completions", headers={"content-type": "application/json"}, body=body.encode()
        )
        reply = await copy.send(request)
        async for _ in reply.pieces():
            break
        await reply.close()
        async with asyncio.timeout(10):
            while await running() != 0:
                await asyncio.sleep(0.1)

    async def running() -> float:
        reply = await copy.send(ContainerRequest(method="GET", path="/metrics"))
        lines = (await read_body(reply)).decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith("vllm:num_requests_running{"))

    loop.run(scenario())
    assert loop.run(running()) == 0


def test_a_repeated_prefix_is_a_hit(loop: Loop, copy: VllmCopy) -> None:
    async def scenario() -> tuple[dict[str, float], int]:
        prompt = {"model": "acme/model", "prompt": tokens(1), "max_tokens": 1}
        assert (await post(copy, "/v1/completions", prompt)).status == 200
        before = await counters(copy)
        answer = await post(copy, "/v1/completions", prompt)
        return await grown(copy, before), answer.value["usage"]["prompt_tokens_details"]["cached_tokens"]

    counted, told = loop.run(scenario())
    assert counted["prefix_cache_queries_total"] == 6000
    # 46 whole blocks of 128 tokens.
    assert counted["prefix_cache_hits_total"] == 46 * 128 == told
    assert counted["prompt_tokens_by_source_total:local_cache_hit"] == 46 * 128


def test_adapters_answer_differently(loop: Loop, copy: VllmCopy, tiny_model: Path, tmp_path: Path) -> None:
    model = read_model(tiny_model)

    async def scenario() -> list[str]:
        texts = [(await post(copy, "/invocations", CHAT)).value["choices"][0]["message"]["content"]]
        for name in ("legal", "billing"):
            folder = make_adapter(tmp_path / name, name=name, model=model)
            loaded = await post(copy, "/adapters", {"name": name, "src": str(folder)})
            assert (loaded.status, loaded.body) == (200, f"Adapter {name} registered".encode())
            answer = await post(copy, "/invocations", CHAT, X_Amzn_SageMaker_Adapter_Identifier=name)
            assert answer.status == 200
            texts.append(answer.value["choices"][0]["message"]["content"])
        reply = await copy.send(ContainerRequest(method="DELETE", path="/adapters/legal"))
        assert (reply.status, await read_body(reply)) == (200, b"Adapter legal unregistered")
        gone = await post(copy, "/invocations", CHAT, X_Amzn_SageMaker_Adapter_Identifier="legal")
        assert gone.status == 404
        return texts

    texts = loop.run(scenario())
    assert len(set(texts)) == 3, texts


def test_a_session_from_its_start_to_its_end(loop: Loop, copy: VllmCopy) -> None:
    async def scenario() -> list[int]:
        opened = await post(copy, "/invocations", {"requestType": "NEW_SESSION"})
        session = opened.headers["x-amzn-sagemaker-new-session-id"].partition(";")[0]
        assert (copy.log.parent / "sessions" / session).exists()
        used = await post(copy, "/invocations", CHAT, X_Amzn_SageMaker_Session_Id=session)
        closed = await post(copy, "/invocations", {"requestType": "CLOSE"}, X_Amzn_SageMaker_Session_Id=session)
        assert closed.headers["x-amzn-sagemaker-closed-session-id"] == session
        lost = await post(copy, "/invocations", CHAT, X_Amzn_SageMaker_Session_Id=session)
        assert b"session not found" in lost.body
        return [one.status for one in (opened, used, closed, lost)]

    assert loop.run(scenario()) == [200, 200, 200, 400]


# Starts a copy, and says who its processes are.
PARENT = """
import asyncio, json, sys, time
from pathlib import Path
from warmstack.local.engines import EngineEnvironment, EngineOrder, start_vllm

async def main():
    engine, model, folder, arguments, environment = sys.argv[1:]
    copy = await start_vllm(EngineOrder(
        engine=EngineEnvironment(folder=Path(engine)), model=Path(model), folder=Path(folder),
        arguments=tuple(json.loads(arguments)), environment=json.loads(environment),
    ))
    print(copy.pid, copy.url, flush=True)
    time.sleep(600)

asyncio.run(main())
"""


def _processes_below(folder: Path) -> list[int]:
    """Return the processes whose working folder it is."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if link.readlink() == folder:
                found.append(int(link.parent.name))
        except OSError:
            continue
    return found


def test_formatters_drafts_and_a_killed_parent_that_leaves_nothing(
    loop: Loop, engine_python: Path, tiny_model: Path, tmp_path: Path
) -> None:
    (tmp_path / "formatters.py").write_text(FORMATTERS, encoding="utf-8")
    places = {
        "/opt/warmstack/formatters/vllm_script.py": ROOT / "container" / "formatters" / "vllm_script.py",
        "/opt/warmstack/models/model/formatters.py": tmp_path / "formatters.py",
    }
    translation = local(tiny_model, FORMATTED, places.get)
    told = [json.dumps(translation.arguments), json.dumps(dict(translation.environment))]
    folders = [str(engine_python.parents[1]), str(tiny_model), str(tmp_path)]
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, *folders, *told],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
    )
    try:
        assert parent.stdout is not None
        pid, url = parent.stdout.readline().decode().split()

        async def scenario() -> tuple[int, float]:
            async with HttpContainer(url) as container:
                formatted = await post(container, "/invocations", CHAT)
                # Every token that can come next was there before, so each is looked up and followed.
                everything = {"prompt": list(range(3, 4096)), "max_tokens": 4, "ignore_eos": True}
                assert (await post(container, "/v1/completions", everything)).status == 200
                counted = await counters(container)
                return formatted.value["usage"]["completion_tokens"], counted["spec_decode_num_draft_tokens_total"]

        shortened, drafted = loop.run(scenario())
        assert shortened == 2
        assert drafted > 0
        engines = _processes_below(tmp_path)
        # vLLM's server, its engine, and the watcher between them and the parent.
        assert len(engines) >= 3
        assert int(pid) in engines
    finally:
        parent.kill()
        parent.communicate()
    deadline = time.monotonic() + 60
    while _processes_below(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _processes_below(tmp_path) == []
