"""Adapters over HTTP: registered, loaded once at first use, chosen, and never silently replaced by the base model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.container.session_server.harness import Stack, running_stack, wait_until

MESSAGES = [{"role": "user", "content": "hello"}]
MakeAdapter = Callable[[str], Path]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    folder.mkdir()
    return folder


@pytest.fixture
def make(root: Path) -> MakeAdapter:
    def make_adapter(name: str) -> Path:
        folder = root / name
        folder.mkdir()
        (folder / "adapter_config.json").write_text("{}", encoding="utf-8")
        (folder / "adapter_model.safetensors").write_bytes(b"weights")
        return folder

    return make_adapter


@pytest.fixture
def stack(root: Path) -> Iterator[Stack]:
    arguments = ("--enable-lora", "--max-loaded-loras", "2")
    with running_stack({"WARMSTACK_ADAPTER_ROOTS": str(root)}, arguments=arguments) as running:
        yield running


def register(stack: Stack, folder: Path, **more: object) -> None:
    answer = stack.post({"name": folder.name, "src": str(folder), **more}, "/adapters")
    assert answer.status == 200, answer.body


def text(stack: Stack, body: dict[str, Any] | None = None, **headers: str) -> str:
    answer = stack.post({"prompt": "x", "max_tokens": 1} | (body or {}), **headers)
    assert answer.status == 200, answer.body
    found: str = answer.json["choices"][0]["text"]
    return found


def test_the_first_use_loads_and_concurrent_first_uses_load_once(stack: Stack, make: MakeAdapter) -> None:
    register(stack, make("legal"))
    assert stack.engine_requests("/load_lora_adapter") == []
    stack.engine.options.load_seconds = 0.2
    with ThreadPoolExecutor(20) as pool:
        texts = set(pool.map(lambda _: text(stack, adapter="legal"), range(20)))
    assert texts == {"<legal>"}
    assert len(stack.engine_requests("/load_lora_adapter")) == 1


def test_preload_and_pin_reach_the_engine(stack: Stack, make: MakeAdapter, root: Path) -> None:
    register(stack, make("legal"), preload=True, pin=True)
    load = {"lora_name": "legal", "lora_path": str(root / "legal"), "pinned": True}
    assert stack.engine_requests("/load_lora_adapter") == [load]
    assert stack.get("/adapters").json == {
        "adapters": [{"name": "legal", "src": str(root / "legal"), "pin": True, "loaded": True, "formatters": False}]
    }


def test_registering_by_query(stack: Stack, make: MakeAdapter) -> None:
    answer = stack.request("POST", f"/adapters?name=legal&src={make('legal')}&preload=true&pin=false")
    assert (answer.status, answer.json) == (200, {"status": "Adapter legal registered"})
    assert len(stack.engine_requests("/load_lora_adapter")) == 1


def test_registering_the_same_again_changes_nothing(stack: Stack, make: MakeAdapter) -> None:
    folder = make("legal")
    register(stack, folder)
    register(stack, folder)
    other = stack.post({"name": "legal", "src": str(make("other"))}, "/adapters")
    assert (other.status, other.error["code"]) == (409, "adapter_exists")


def test_concurrent_registrations_of_one_name_agree(stack: Stack, make: MakeAdapter) -> None:
    folder, other = make("legal"), make("other")
    with ThreadPoolExecutor(8) as pool:
        bodies = [{"name": "legal", "src": str(one)} for one in (folder, folder, folder, other)]
        statuses = sorted(pool.map(lambda body: stack.post(body, "/adapters").status, bodies))
    assert statuses in ([200, 200, 200, 409], [200, 409, 409, 409])
    assert len(stack.get("/adapters").json["adapters"]) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"model": "legal"},
        {"model": "base:legal"},
        {"model": "/opt/ml/model:legal"},
        {"lora_path": "legal"},
        {"lora_path": ["legal"], "prompt": ["x"]},
        {"adapters": "legal"},
        {"adapters": ["legal"]},
    ],
)
def test_a_body_may_choose_a_registered_adapter(stack: Stack, make: MakeAdapter, body: dict[str, Any]) -> None:
    register(stack, make("legal"))
    assert text(stack, body) == "<legal>"


@pytest.mark.parametrize("model", ["base:other", "/opt/ml/model:other", "other", "base:", None])
def test_the_header_wins_over_the_body(stack: Stack, make: MakeAdapter, model: str | None) -> None:
    register(stack, make("legal"))
    register(stack, make("other"))
    body = {"lora_path": "other"} | ({"model": model} if model else {})
    assert text(stack, body, adapter="legal") == "<legal>"


@pytest.mark.parametrize(
    "body",
    [
        {"lora_path": "ghost"},
        {"lora_path": ["legal", "ghost"], "prompt": ["a", "b"]},
        {"lora_path": "/opt/ml/models/secret"},
        {"model": "base:ghost"},
        {"model": "base: ghost "},
        {"model": "legal:ghost"},
        {"model": "ghost"},
        {"model": "base:legal", "lora_path": "ghost"},
        {"adapters": "ghost"},
    ],
)
@pytest.mark.parametrize("path", ["/invocations", "/v1/completions"])
def test_an_unknown_adapter_is_never_answered(stack: Stack, make: MakeAdapter, body: dict[str, Any], path: str) -> None:
    register(stack, make("legal"))
    before = len(stack.engine_requests("/v1/completions"))
    answer = stack.post({"prompt": "x"} | body, path)
    assert (answer.status, answer.error["code"]) == (404, "adapter_not_found")
    assert "registered: legal" in answer.error["message"]
    assert "POST /adapters" in answer.error["message"]
    assert len(stack.engine_requests("/v1/completions")) == before


def test_an_unknown_adapter_of_the_header_is_404(stack: Stack) -> None:
    answer = stack.post({"messages": MESSAGES, "model": "base"}, adapter="ghost")
    assert answer.status == 404
    assert stack.post({"messages": MESSAGES}, adapter="../ghost").status == 400


def test_a_key_that_comes_twice_means_what_it_means_to_the_engine(stack: Stack) -> None:
    for raw, status in (
        ('{"prompt": "x", "lora_path": null, "lora_path": "ghost"}', 404),
        ('{"prompt": "x", "lora_path": "ghost", "lora_path": null}', 200),
        ('{"prompt": "x", "lora_p\\u0061th": "ghost"}', 404),
    ):
        assert stack.request("POST", "/invocations", raw).status == status


@pytest.mark.parametrize("model", ["Qwen/Qwen2.5-7B", "/opt/ml/model", "default", ""])
def test_the_base_models_name_is_left_as_it_is(stack: Stack, make: MakeAdapter, model: str) -> None:
    register(stack, make("legal"))
    assert text(stack, {"model": model}) == "<base>"
    assert stack.engine_requests("/v1/completions")[-1]["model"] == model


def test_without_adapters_any_name_is_the_base_models(stack: Stack) -> None:
    assert text(stack, {"model": "gpt-whatever"}) == "<base>"


def test_a_removed_adapter_is_refused_at_once(stack: Stack, make: MakeAdapter) -> None:
    register(stack, make("legal"))
    assert text(stack, adapter="legal") == "<legal>"
    removed = stack.request("DELETE", "/adapters/legal")
    assert (removed.status, removed.json) == (200, {"status": "Adapter legal unregistered"})
    assert stack.engine_requests("/unload_lora_adapter") == [{"lora_name": "legal"}]
    for body in ({"model": "legal"}, {"lora_path": "legal"}, {"model": "x:legal"}):
        assert stack.post({"prompt": "x"} | body).status == 404
    assert stack.request("DELETE", "/adapters/legal").status == 404


def test_removing_an_adapter_in_use_lets_its_requests_finish(stack: Stack, make: MakeAdapter) -> None:
    register(stack, make("legal"))
    stack.engine.options.hold_after = 1
    with ThreadPoolExecutor(2) as pool:
        running = pool.submit(text, stack, {"max_tokens": 8}, adapter="legal")
        wait_until(lambda: stack.engine.counters.running == 1, "the request runs")
        removed = pool.submit(stack.request, "DELETE", "/adapters/legal")
        wait_until(lambda: stack.get("/adapters").json == {"adapters": []}, "the adapter is removed")
        assert stack.post({"prompt": "x"}, adapter="legal").status == 404
        assert not removed.done()
        stack.engine.options.hold_after = -1
        assert running.result().startswith("<legal> 1")
        assert removed.result().status == 200


def test_an_adapter_is_replaced_by_removing_and_registering(stack: Stack, make: MakeAdapter, root: Path) -> None:
    register(stack, make("legal"), preload=True)
    stack.request("DELETE", "/adapters/legal")
    second = make("second")
    answer = stack.post({"name": "legal", "src": str(second), "preload": True}, "/adapters")
    assert answer.status == 200
    assert stack.engine.loras.names() == {"legal": str(second)}


def test_what_the_engine_has_under_the_name_already_is_not_trusted(stack: Stack, make: MakeAdapter) -> None:
    old, new = make("old"), make("legal")
    stack.engine_loop.run(stack.engine.loras.load("legal", str(old)))
    register(stack, new)
    assert text(stack, adapter="legal") == "<legal>"
    assert stack.engine.loras.names() == {"legal": str(new)}


def test_an_adapter_that_the_engine_lost_is_loaded_again_once(stack: Stack, make: MakeAdapter) -> None:
    register(stack, make("legal"), preload=True)
    stack.engine.loras.forget()
    assert text(stack, adapter="legal") == "<legal>"
    assert len(stack.engine_requests("/load_lora_adapter")) == 2


def test_more_adapters_than_the_engine_holds(stack: Stack, make: MakeAdapter) -> None:
    for name in ("a1", "b2", "c3"):
        register(stack, make(name))
    for name in ("a1", "b2", "c3", "a1"):
        assert text(stack, adapter=name) == f"<{name}>"


def test_what_cannot_be_loaded_is_424_and_tried_again(stack: Stack, make: MakeAdapter) -> None:
    folder = make("legal")
    register(stack, folder)
    (folder / "adapter_config.json").rename(folder / "moved.json")
    failed = stack.post({"prompt": "x"}, adapter="legal")
    assert (failed.status, failed.error["code"]) == (424, "adapter_load_failed")
    (folder / "moved.json").rename(folder / "adapter_config.json")
    assert text(stack, adapter="legal") == "<legal>"


def test_a_failed_preload_registers_nothing(root: Path, make: MakeAdapter) -> None:
    with running_stack({"WARMSTACK_ADAPTER_ROOTS": str(root)}, arguments=()) as stack:
        answer = stack.post({"name": "legal", "src": str(make("legal")), "preload": True}, "/adapters")
        assert answer.status == 424
        assert "LoRA is not enabled" in answer.error["message"]
        assert stack.get("/adapters").json == {"adapters": []}


def test_adapters_of_the_engines_command_line_are_known(root: Path, make: MakeAdapter) -> None:
    arguments = ("--lora-paths", f"fixed={make('fixed')}")
    with running_stack({"WARMSTACK_ADAPTER_ROOTS": str(root)}, arguments=arguments) as stack:
        assert text(stack, adapter="fixed") == "<fixed>"
        assert stack.engine_requests("/load_lora_adapter") == []


def test_models_lists_what_is_not_loaded_too(stack: Stack, make: MakeAdapter) -> None:
    register(stack, make("legal"))
    cards = stack.get("/v1/models").json["data"]
    assert [(card["id"], card["parent"]) for card in cards] == [
        ("/opt/ml/model", None),
        ("legal", "/opt/ml/model"),
    ]
