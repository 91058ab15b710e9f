"""Formatters from model.py: how LMI finds, calls and fails them."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.unit.local.dialects.benches import simulated
from tests.unit.local.dialects.golden import ADAPTER, CHAT, NEW_SESSION, Answer, ask, open_stream
from warmstack.authored import authored_folder
from warmstack.local.adapter_files import write_stand_in
from warmstack.local.container import Container, ContainerGoneError
from warmstack.local.errors import LocalError

IMPORTS = """
from djl_python.input_parser import input_formatter
from djl_python.output_formatter import output_formatter
"""
BASE = (
    IMPORTS
    + """
@input_formatter
def shorter(payload, tokenizer=None, **kwargs):
    assert tokenizer is None
    return payload | {"max_tokens": 2}

@output_formatter
def named(response):
    if isinstance(response, str):
        return "<" + response.strip() + ">"
    choice = response.choices[0]
    return {"by": "base", "reason": choice.finish_reason, "tokens": response.usage.completion_tokens}
"""
)
LEGAL_OUTPUT = IMPORTS + "@output_formatter\ndef named(response):\n    return {'by': 'legal'}\n"
LEGAL_INPUT = IMPORTS + "@input_formatter\ndef longer(payload, **_):\n    return payload | {'max_tokens': 5}\n"


def lmi(folder: Path, code: str = BASE) -> Container:
    (folder / "model.py").write_text(code, encoding="utf-8")
    return simulated({"OPTION_ENABLE_LORA": "true"}, changes={"server": "lmi"}, code=folder)[0]


def answered(container: Container, body: object = CHAT) -> Answer:
    return asyncio.run(ask(container, "/invocations", body))


def test_an_output_formatter_gets_vllms_object(tmp_path: Path) -> None:
    answer = answered(lmi(tmp_path))
    assert answer.text == '{"by": "base", "reason": "length", "tokens": 2}\n'
    assert answer.headers["content-type"] == "application/json"


def test_the_object_can_be_dumped(tmp_path: Path) -> None:
    dumped = IMPORTS + "@output_formatter\ndef all(response):\n    return response.model_dump()\n"
    assert answered(lmi(tmp_path, dumped)).value["choices"][0]["message"]["role"] == "assistant"
    same = IMPORTS + "@output_formatter\ndef same(response):\n    return response\n"
    assert answered(lmi(tmp_path, same)).value["object"] == "chat.completion"


def test_in_a_stream_it_gets_each_event_as_text(tmp_path: Path) -> None:
    answer = answered(lmi(tmp_path), CHAT | {"stream": True})
    lines = answer.text.split("\n")
    assert answer.headers["content-type"] == "application/jsonlines"
    assert all(line.startswith("<data: ") for line in lines[:-2])
    assert lines[-3:] == ["<data: [DONE]>", "", ""]
    assert json.loads(lines[0][7:-1])["choices"][0]["delta"]["role"] == "assistant"


def test_an_input_formatter_that_fails_is_a_424_without_its_reason(tmp_path: Path) -> None:
    answer = answered(lmi(tmp_path, IMPORTS + "@input_formatter\ndef no(payload, **_):\n    raise KeyError('x')\n"))
    error = "Custom formatter failed: Custom input formatter execution failed"
    assert (answer.status, answer.value) == (424, {"code": 424, "error": error})


@pytest.mark.parametrize("body", ["raise KeyError('x')", "return None", "return {1: {2}}"])
def test_an_output_formatter_that_fails_is_a_424_that_says_nothing(tmp_path: Path, body: str) -> None:
    container = lmi(tmp_path, IMPORTS + f"@output_formatter\ndef no(response):\n    {body}\n")
    answer = answered(container)
    message = "Async Inference Failure service.invoke_handler_async() failure"
    assert (answer.status, answer.value) == (424, {"code": 424, "message": message})

    async def streamed() -> None:
        reply = await open_stream(container, CHAT | {"stream": True})
        async for _ in reply.pieces():
            pass

    with pytest.raises(ContainerGoneError):
        asyncio.run(streamed())


def test_session_replies_are_formatted(tmp_path: Path) -> None:
    container = lmi(tmp_path, IMPORTS + "@output_formatter\ndef keys(reply):\n    return {'keys': sorted(reply)}\n")
    assert answered(container, NEW_SESSION).value == {"keys": ["data", "properties"]}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (LEGAL_OUTPUT, {"by": "legal"}),
        # Each direction for itself: the adapter's input formatter, and the base's output formatter.
        (LEGAL_INPUT, {"by": "base", "reason": "length", "tokens": 5}),
    ],
)
def test_an_adapters_formatter_comes_before_the_bases(tmp_path: Path, code: str, expected: object) -> None:
    folder = tmp_path / "legal"
    write_stand_in("legal", folder)
    (folder / "model.py").write_text(code, encoding="utf-8")
    container = lmi(tmp_path)

    async def scenario() -> list[object]:
        await ask(container, f"/adapters?name=legal&src={folder}")
        first = await ask(container, "/invocations", CHAT, headers={ADAPTER: "legal"})
        base = await ask(container, "/invocations", CHAT)
        await ask(container, "/adapters/legal", method="DELETE")
        return [first.value, base.value["by"], (await ask(container, "/adapters", method="GET")).value]

    assert asyncio.run(scenario()) == [expected, "base", {"adapters": []}]


def test_an_adapter_whose_code_does_not_load_is_not_registered(tmp_path: Path) -> None:
    folder = tmp_path / "legal"
    write_stand_in("legal", folder)
    (folder / "model.py").write_text("def broken(:", encoding="utf-8")
    container = lmi(tmp_path)

    async def scenario() -> list[Answer]:
        registered = await ask(container, f"/adapters?name=legal&src={folder}")
        return [registered, await ask(container, "/adapters", method="GET")]

    registered, listed = asyncio.run(scenario())
    assert registered.status == 424
    assert registered.value["message"].startswith("Failed to load custom code for adapter legal: Failed to load custom")
    assert listed.value == {"adapters": []}


def test_a_model_py_that_does_not_load_ends_the_start(tmp_path: Path) -> None:
    with pytest.raises(LocalError, match=r"Failed to load custom code from .*; LMI would not start with it either"):
        lmi(tmp_path, "def broken(:")


def test_a_value_error_is_taken_for_a_missing_file(tmp_path: Path) -> None:
    assert answered(lmi(tmp_path, BASE + "raise ValueError")).value["object"] == "chat.completion"


@pytest.mark.parametrize("code", ["async def handle(inputs): ...", "def predict_fn(data, model): ..."])
def test_other_code_is_refused(tmp_path: Path, code: str) -> None:
    with pytest.raises(LocalError, match="only @input_formatter and @output_formatter run here"):
        lmi(tmp_path, code)


def test_nothing_stays_behind(tmp_path: Path) -> None:
    lmi(tmp_path)
    assert "djl_python" not in sys.modules
    assert [one.name for one in tmp_path.iterdir()] == ["model.py"]


FORMATTERS = """
from warmstack_formatters import input_formatter, output_formatter

@input_formatter
def shorter(payload):
    return payload | {"max_tokens": 2}

@output_formatter
def told(response, *, stream):
    if stream:
        return {"piece": response["choices"][0]["delta"].get("content", "")}
    return {"tokens": response["usage"]["completion_tokens"]}
"""


@pytest.fixture
def ours(tmp_path: Path) -> Container:
    """A container with formatters in an image of ours, which reach LMI through the model.py of the image."""
    (tmp_path / "Dockerfile").write_text("FROM base\nCOPY formatters.py /opt/warmstack/models/chat/formatters.py\n")
    (tmp_path / "formatters.py").write_text(FORMATTERS, encoding="utf-8")
    environment = {"OPTION_ENABLE_LORA": "true", "WARMSTACK_FORMATTERS": "/opt/warmstack/models/chat/formatters.py"}
    return simulated(environment, changes={"server": "lmi", "staged": tmp_path})[0]


def test_formatters_of_our_images_run(ours: Container) -> None:
    assert answered(ours).value == {"tokens": 2}
    streamed = answered(ours, CHAT | {"stream": True}).text
    # No line for the event [DONE], which the bridge drops, and the empty one that LMI ends with.
    assert streamed.endswith("}\n\n")
    pieces = [json.loads(one)["piece"] for one in streamed[:-2].split("\n")]
    assert pieces[0] == ""
    assert all(pieces[1:])
    assert len(pieces) == 3


def test_adapters_that_are_packed_with_formatters_run(ours: Container, tmp_path: Path) -> None:
    folder = tmp_path / "legal"
    write_stand_in("legal", folder)
    code = authored_folder("container") / "formatters"
    (folder / "model.py").write_bytes((code / "lmi_model.py").read_bytes())
    (folder / "warmstack_formatters.py").write_bytes((code / "warmstack_formatters.py").read_bytes())
    legal = FORMATTERS.replace('{"tokens": response["usage"]["completion_tokens"]}', '{"by": "legal"}')
    (folder / "formatters.py").write_text(legal, encoding="utf-8")

    async def scenario() -> object:
        await ask(ours, f"/adapters?name=legal&src={folder}")
        return (await ask(ours, "/invocations", CHAT, headers={ADAPTER: "legal"})).value

    assert asyncio.run(scenario()) == {"by": "legal"}
