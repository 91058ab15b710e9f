"""Formatters of the vLLM image in front of a simulated engine: the image's own middleware."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.local.dialects.benches import simulated
from tests.unit.local.dialects.golden import ADAPTER, CHAT, NEW_SESSION, ask, open_stream
from warmstack.local.adapter_files import write_stand_in
from warmstack.local.container import Container, ContainerGoneError
from warmstack.local.errors import LocalError

LONG = CHAT | {"stream": True}
ENVIRONMENT = {
    "CUSTOM_FASTAPI_MIDDLEWARE_PRE_POST_PROCESS": "/opt/warmstack/formatters/vllm_script.py:FormatterMiddleware",
    "SAGEMAKER_ENABLE_STATEFUL_SESSIONS": "true",
    "SM_VLLM_ENABLE_LORA": "true",
    "WARMSTACK_FORMATTERS": "/opt/warmstack/models/chat/formatters.py",
}
BASE = """
from djl_python.input_parser import input_formatter
from warmstack_formatters import output_formatter

@input_formatter
def shorter(payload):
    return payload | {"max_tokens": 2}

@output_formatter
def named(response, *, stream):
    if stream:
        return {"piece": response["choices"][0]["delta"].get("content", "")}
    return {"answer": response["choices"][0]["message"]["content"]}
"""
LEGAL = """
from warmstack_formatters import output_formatter

@output_formatter
def legal(response, *, adapter):
    return {"adapter": adapter, "tokens": response["usage"]["completion_tokens"]}
"""


def formatted(folder: Path, formatters: str = BASE) -> Container:
    staged = folder / "context"
    (staged / "models").mkdir(parents=True, exist_ok=True)
    (staged / "Dockerfile").write_text(
        "FROM base\nCOPY models/formatters.py /opt/warmstack/models/chat/formatters.py\n"
    )
    (staged / "models" / "formatters.py").write_text(formatters, encoding="utf-8")
    return simulated(ENVIRONMENT, changes={"staged": staged})[0]


def test_both_directions_are_formatted(tmp_path: Path) -> None:
    answer = asyncio.run(ask(formatted(tmp_path), "/invocations", CHAT))
    assert list(answer.value) == ["answer"]
    assert len(answer.value["answer"].split()) == 2


def test_a_stream_is_formatted_event_by_event(tmp_path: Path) -> None:
    answer = asyncio.run(ask(formatted(tmp_path), "/invocations", CHAT | {"stream": True}))
    events = [json.loads(one.removeprefix("data: ")) for one in answer.text.split("\n\n")[:-2]]
    assert [list(one) for one in events] == [["piece"]] * 3
    assert answer.text.endswith("data: [DONE]\n\n")


def test_session_requests_pass(tmp_path: Path) -> None:
    answer = asyncio.run(ask(formatted(tmp_path), "/invocations", NEW_SESSION))
    assert answer.text.startswith("Session ")


def test_an_adapter_brings_its_own(tmp_path: Path) -> None:
    write_stand_in("legal", tmp_path / "legal")
    (tmp_path / "legal" / "formatters.py").write_text(LEGAL, encoding="utf-8")

    async def scenario() -> Any:
        container = formatted(tmp_path)
        await ask(container, "/adapters", {"name": "legal", "src": str(tmp_path / "legal")})
        return (await ask(container, "/invocations", CHAT, headers={ADAPTER: "legal"})).value

    # Its own output formatter, and the base's input formatter.
    assert asyncio.run(scenario()) == {"adapter": "legal", "tokens": 2}


def test_a_formatter_that_fails_is_a_424(tmp_path: Path) -> None:
    failing = BASE.replace('payload | {"max_tokens": 2}', 'payload["absent"]')
    answer = asyncio.run(ask(formatted(tmp_path, failing), "/invocations", CHAT))
    assert answer.status == 424
    assert "KeyError" in answer.text


def test_formatters_that_do_not_load_end_the_start(tmp_path: Path) -> None:
    with pytest.raises(LocalError, match="the image would not start with them either"):
        formatted(tmp_path, "def broken(:")


@pytest.mark.parametrize(
    ("server", "who"),
    [("vllm", "the image would not start with them either"), ("lmi", "LMI would not start with them either")],
)
@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("\n" * 4 + "raise RuntimeError('boom')", " (formatters.py, line 5) do not load: RuntimeError: boom"),
        ("def broken(:", " (formatters.py) have a syntax error in line 1: invalid syntax"),
    ],
)
def test_why_formatters_do_not_load_is_told_before_anything_else(
    tmp_path: Path, server: str, who: str, code: str, why: str
) -> None:
    formatted(tmp_path)
    staged = tmp_path / "context"
    (staged / "models" / "formatters.py").write_text(code, encoding="utf-8")
    with pytest.raises(LocalError) as raised:
        simulated(ENVIRONMENT, changes={"staged": staged, "server": server})
    assert str(raised.value) == f"the formatters of model{why}; {who}"


def test_an_engine_that_ends_in_a_stream_breaks_it(tmp_path: Path) -> None:
    formatted(tmp_path, BASE.replace('"max_tokens": 2', '"max_tokens": 100'))
    container, engine = simulated(ENVIRONMENT, changes={"staged": tmp_path / "context"})
    pieces: list[bytes] = []

    async def scenario() -> None:
        reply = await open_stream(container, LONG)
        async for piece in reply.pieces():
            engine.end()
            pieces.append(piece)

    with pytest.raises(ContainerGoneError):
        asyncio.run(scenario())
    assert 0 < len(pieces) < 100
    with pytest.raises(ContainerGoneError):
        asyncio.run(ask(container, "/invocations", CHAT))


def test_a_client_that_goes_away_ends_the_request(tmp_path: Path) -> None:
    formatted(tmp_path, BASE.replace('"max_tokens": 2', '"max_tokens": 100'))
    container, engine = simulated(ENVIRONMENT, changes={"staged": tmp_path / "context"})

    async def scenario() -> list[int]:
        reply = await open_stream(container, LONG)
        async for _ in reply.pieces():
            break
        running = [engine.counters.running]
        await reply.close()
        return [*running, engine.counters.running]

    assert asyncio.run(scenario()) == [1, 0]


def test_loading_them_leaves_nothing_to_import(tmp_path: Path) -> None:
    formatted(tmp_path)
    assert "djl_python" not in sys.modules
