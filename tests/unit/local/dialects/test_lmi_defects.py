"""LMI's defects: each is there, and each can be left out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.unit.local.dialects.benches import Clock, simulated
from tests.unit.local.dialects.golden import ADAPTER, CHAT, CLOSE, CLOSED, NEW_SESSION, SESSION, Answer, ask
from warmstack.local.adapter_files import write_stand_in
from warmstack.local.container import Container
from warmstack.local.dialects.defects import ALL_DEFECTS, defects_without, describe_defects
from warmstack.local.errors import LocalError

LORA = {"OPTION_ENABLE_LORA": "true"}
CODE = """
from djl_python.input_parser import input_formatter
from djl_python.output_formatter import output_formatter

seen = []

@input_formatter
def note(payload, **kwargs):
    seen.append(payload.get("user"))
    return payload

@output_formatter
def told(response):
    return {"seen": seen}
"""


def lmi(
    environment: Mapping[str, str], *without: str, clock: Clock | None = None, code: Path | None = None
) -> Container:
    return simulated(environment, clock=clock, changes={"server": "lmi"}, defects=defects_without(without), code=code)[
        0
    ]


def answers(container: Container, *bodies: object, session: str = "") -> list[Answer]:
    async def scenario() -> list[Answer]:
        return [await ask(container, "/invocations", body, headers={SESSION: session}) for body in bodies]

    return asyncio.run(scenario())


@pytest.mark.parametrize("value", ["false", "True", "1"])
def test_sessions_false(value: str) -> None:
    environment = {"OPTION_ENABLE_STATEFUL_SESSIONS": value}
    for answer in answers(lmi(environment), CHAT, {"prompt": "x"}, NEW_SESSION):
        assert answer.status == 424
        assert answer.value["error"].startswith("Input parsing failed: 'VLLMHandler' object has no attribute")
    mended = lmi(environment, "sessions-false-breaks-every-request")
    chat, opening = answers(mended, CHAT, NEW_SESSION)
    assert chat.status == 200
    assert opening.value["error"].endswith("stateful sessions not enabled, NEW_SESSION not supported")
    [used] = answers(mended, CHAT, session="abc")
    assert used.value["error"].endswith("X-Amzn-SageMaker-Session-Id header not supported")


def test_sessions_are_on_where_nothing_is_said() -> None:
    for environment in ({}, {"OPTION_ENABLE_STATEFUL_SESSIONS": ""}):
        [answer] = answers(lmi(environment), NEW_SESSION)
        assert answer.status == 200


def test_an_expiration_that_is_no_number_ends_the_start() -> None:
    with pytest.raises(LocalError, match="OPTION_SESSIONS_EXPIRATION is 'long'"):
        lmi({"OPTION_SESSIONS_EXPIRATION": "long"})


@pytest.mark.parametrize("mended", [False, True])
def test_expired_sessions(mended: bool) -> None:
    clock = Clock()
    environment = {"OPTION_SESSIONS_EXPIRATION": "2"}
    container = lmi(environment, *(["expired-session-served"] if mended else []), clock=clock)
    [opened] = answers(container, NEW_SESSION)
    session = opened.headers[SESSION].partition(";")[0]
    clock.now += 3
    assert [one.status for one in answers(container, CHAT, session=session)] == [424 if mended else 200]
    # The next one that opens drops it.
    answers(container, NEW_SESSION)
    assert [one.status for one in answers(container, CHAT, session=session)] == [424]


@pytest.mark.parametrize("mended", [False, True])
def test_lazy_adapters(mended: bool, tmp_path: Path) -> None:
    write_stand_in("legal", tmp_path)
    container = lmi(LORA, *(["lazy-adapter-424"] if mended else []))

    async def scenario() -> list[int]:
        registered = await ask(container, f"/adapters?name=legal&src={tmp_path}&preload=false")
        used = await ask(container, "/invocations", CHAT, headers={ADAPTER: "legal"})
        updated = await ask(container, "/adapters/legal/update?preload=true")
        again = await ask(container, "/invocations", CHAT, headers={ADAPTER: "legal"})
        return [registered.status, used.status, updated.status, again.status]

    assert asyncio.run(scenario()) == [200, 200 if mended else 424, 200, 200]


def test_a_lazy_adapter_cannot_be_unregistered(tmp_path: Path) -> None:
    write_stand_in("legal", tmp_path)
    container = lmi(LORA)

    async def scenario() -> Answer:
        await ask(container, f"/adapters?name=legal&src={tmp_path}&preload=false")
        return await ask(container, "/adapters/legal", method="DELETE")

    answer = asyncio.run(scenario())
    assert (answer.status, answer.value["message"]) == (424, "LoRA adapter legal not found in registry")


def test_adapters_need_lora() -> None:
    answer = asyncio.run(ask(lmi({}), "/adapters", method="GET"))
    assert (answer.status, answer.value["message"]) == (400, "LoRA is not enabled.")


@pytest.mark.parametrize("mended", [False, True])
def test_formatters_and_session_headers(mended: bool, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(CODE, encoding="utf-8")
    container = lmi({}, *(["output-formatter-drops-session-header"] if mended else []), code=tmp_path)
    [opened] = answers(container, NEW_SESSION)
    assert opened.value == {"seen": []}
    assert (SESSION in opened.headers) is mended
    if mended:
        [closed] = answers(container, CLOSE, session=opened.headers[SESSION].partition(";")[0])
        assert CLOSED in closed.headers


@pytest.mark.parametrize(
    ("without", "status", "text"),
    [
        ((), 200, '{"seen": []}\n'),
        (("output-formatter-hides-engine-errors",), 500, "error=ErrorInfo(message='The model `absent`"),
        (("output-formatter-hides-engine-errors", "unknown-model-becomes-500"), 404, "The model `absent` does not"),
    ],
)
def test_a_model_that_the_engine_does_not_know(
    without: tuple[str, ...], status: int, text: str, tmp_path: Path
) -> None:
    (tmp_path / "model.py").write_text(CODE, encoding="utf-8")
    [answer] = answers(lmi({}, *without, code=tmp_path), CHAT | {"model": "absent"})
    assert answer.status == status
    assert text in answer.text


def test_reasons_of_the_engine() -> None:
    [silent] = answers(lmi({}), CHAT | {"temperature": -1})
    assert (silent.status, "temperature" in silent.text) == (424, False)
    [told] = answers(lmi({}, "engine-errors-lose-their-reason"), CHAT | {"temperature": -1})
    assert (told.status, told.value["error"].startswith("temperature must be")) == (400, True)


@pytest.mark.parametrize("mended", [False, True])
def test_formatters_share_no_variables(mended: bool, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(CODE, encoding="utf-8")
    container = lmi({}, *(["model-py-runs-four-times"] if mended else []), code=tmp_path)
    [answer] = answers(container, CHAT | {"user": "ann"})
    assert answer.value == {"seen": ["ann"] if mended else []}


def test_defects_are_described_and_their_names_are_checked(root: Path) -> None:
    assert set(describe_defects()) == ALL_DEFECTS
    page = (root / "docs" / "guides" / "local-dialects.md").read_text(encoding="utf-8")
    for name, what in describe_defects().items():
        # The table of the guide says the same.
        assert f"| `{name}` | LMI: {what.removeprefix('lmi: ')} |" in page.replace("`true`", "true").replace(
            "`OPTION_ENABLE_STATEFUL_SESSIONS`", "OPTION_ENABLE_STATEFUL_SESSIONS"
        ).replace("`preload=false`", "preload=false").replace("`model.py`", "model.py")
    assert defects_without([]) == ALL_DEFECTS
    with pytest.raises(LocalError) as raised:
        defects_without(["lazy-adapter", "x"])
    assert "'lazy-adapter' does not exist; did you mean lazy-adapter-424?. defect 'x' does not exist" in str(
        raised.value
    )
