"""What the simulated engine's cache holds of a conversation, and what its model is called."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.unit.local.definitions import model
from warmstack.local.container import ContainerRequest, read_body
from warmstack.local.simulated import Latency, SimulatedEngine, SimulatedSettings
from warmstack.local.simulated.from_environment import simulated_settings


async def ask(engine: SimulatedEngine, messages: list[dict[str, str]], **more: Any) -> dict[str, Any]:
    body = json.dumps({"messages": messages, "max_tokens": 60} | more).encode()
    request = ContainerRequest(
        method="POST", path="/v1/chat/completions", headers={"content-type": "application/json"}, body=body
    )
    found: dict[str, Any] = json.loads(await read_body(await engine.send(request)))
    return found


def test_the_next_turn_finds_the_answer_in_the_cache_too() -> None:
    engine = SimulatedEngine(SimulatedSettings(reports_cached_tokens=True))

    async def scenario() -> tuple[int, int, int]:
        conversation = [{"role": "user", "content": "a question " * 30}]
        first = await ask(engine, conversation)
        conversation += [
            {"role": "assistant", "content": first["choices"][0]["message"]["content"]},
            {"role": "user", "content": "and another one"},
        ]
        second = await ask(engine, conversation)
        usage = second["usage"]
        return first["usage"]["prompt_tokens"], usage["prompt_tokens"], usage["prompt_tokens_details"]["cached_tokens"]

    prompt, whole, cached = asyncio.run(scenario())
    assert cached > prompt + 32
    assert whole - cached < 48


def test_two_names_of_one_model_share_its_cache() -> None:
    engine = SimulatedEngine(SimulatedSettings(reports_cached_tokens=True, model_names=("a", "b")))

    async def scenario() -> list[int]:
        messages = [{"role": "user", "content": "a question " * 30}]
        found = [await ask(engine, messages, model=name) for name in ("a", "b")]
        return [one["usage"]["prompt_tokens_details"]["cached_tokens"] for one in found]

    first, second = asyncio.run(scenario())
    assert first == 0
    assert second > 0


@pytest.mark.parametrize(
    ("server", "environment", "data", "names"),
    [
        ("lmi", {}, None, ("lmi",)),
        ("lmi", {"OPTION_SERVED_MODEL_NAME": "acme"}, None, ("acme",)),
        ("vllm", {}, "s3://acme/", ("/opt/ml/model",)),
        ("vllm", {"HF_MODEL_ID": "acme/big"}, None, ("acme/big",)),
        ("vllm", {"HF_MODEL_ID": "acme/big"}, "s3://acme/", ("/opt/ml/model",)),
        ("vllm", {"SM_VLLM_MODEL": "acme/big"}, "s3://acme/", ("acme/big",)),
        ("vllm", {"SM_VLLM_SERVED_MODEL_NAME": '["one", "two"]'}, None, ("one", "two")),
        ("vllm", {"SM_VLLM_SERVED_MODEL_NAME": '["one", 2]'}, None, ('["one", 2]',)),
        ("sglang", {"SM_SGLANG_MODEL_PATH": "/opt/ml/model"}, None, ("/opt/ml/model",)),
        ("sglang", {"SM_SGLANG_SERVED_MODEL_NAME": "acme"}, None, ("acme",)),
        (None, {}, None, ("/opt/ml/model",)),
    ],
)
def test_a_model_is_called_as_its_server_calls_it(
    server: Any, environment: dict[str, str], data: str | None, names: tuple[str, ...]
) -> None:
    made = model(environment=environment, server=server, model_data=data)
    assert simulated_settings(made, Latency(), None).model_names == names
