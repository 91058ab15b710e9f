"""Faults of others and of our own: a clear answer, and never a traceback."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.container.session_server.harness import SESSIONS_ON, Stack, running_stack, wait_until


def test_an_answer_of_no_known_form_is_502_where_it_must_be_read(stack: Stack) -> None:
    stack.engine.options.garbage = True
    try:
        read = stack.post({"inputs": "x"})
        passed_on = stack.post({"prompt": "x"})
    finally:
        stack.engine.options.garbage = False
    assert (read.status, read.error["code"]) == (502, "engine_answer")
    assert (passed_on.status, passed_on.json) == (200, {"odd": True})


@pytest.mark.parametrize("body", [{"requestType": "NEW_SESSION"}, {"requestType": "NEW_SESSION", "prompt": "x"}])
def test_a_fault_of_our_own_is_500_without_a_traceback(
    fresh: Stack, body: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    fresh.clock.broken = True
    with caplog.at_level(logging.ERROR):
        answer = fresh.post(body)
    fresh.clock.broken = False
    assert (answer.status, answer.error["code"]) == (500, "internal_error")
    assert b"Traceback" not in answer.body
    assert b"clock" not in answer.body
    assert "the clock is broken" in caplog.text
    assert fresh.post(body).status == 200


def test_an_engine_that_is_not_there_is_503_with_retry_after(fresh: Stack) -> None:
    engine_port = fresh.engine_port
    fresh.services.engine._url = "http://127.0.0.1:1"
    try:
        answers = [fresh.post({"prompt": "x"}), fresh.get("/v1/models"), fresh.get("/metrics")]
    finally:
        fresh.services.engine._url = f"http://127.0.0.1:{engine_port}"
    for answer in answers:
        assert (answer.status, answer.error["code"]) == (503, "engine_unreachable")
        assert answer.headers["retry-after"] == "5"


def test_a_session_is_not_left_behind_by_an_engine_that_is_not_there(fresh: Stack) -> None:
    body = {"requestType": "NEW_SESSION", "extSessionID": "lost", "prompt": "x"}
    url = fresh.services.engine._url
    fresh.services.engine._url = "http://127.0.0.1:1"
    assert fresh.post(body).status == 503
    fresh.services.engine._url = url
    assert fresh.post(body).status == 200


def test_an_unload_that_takes_long_is_answered_before_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("session_server.app.UNLOAD_WAIT_SECONDS", 0.05)
    (tmp_path / "legal").mkdir()
    (tmp_path / "legal" / "adapter_config.json").write_text("{}", encoding="utf-8")
    environment = {**SESSIONS_ON, "WARMSTACK_ADAPTER_ROOTS": str(tmp_path)}
    registration = {"name": "legal", "src": str(tmp_path / "legal")}
    with running_stack(environment) as stack, ThreadPoolExecutor(2) as pool:
        assert stack.post(registration, "/adapters").status == 200
        stack.engine.options.hold_after = 1
        running = pool.submit(stack.post, {"prompt": "x"}, adapter="legal")
        wait_until(lambda: stack.engine.counters.running == 1, "the request runs")
        assert stack.request("DELETE", "/adapters/legal").status == 202
        # Registered again while the old one is still unloading: the load waits for its end.
        again = pool.submit(stack.post, {**registration, "preload": True}, "/adapters")
        wait_until(lambda: bool(stack.get("/adapters").json["adapters"]), "it is registered again")
        assert len(stack.engine_requests("/load_lora_adapter")) == 1
        stack.engine.options.hold_after = -1
        assert again.result().status == 200
        assert len(stack.engine_requests("/load_lora_adapter")) == 2
        assert running.result().status == 200
        assert list(stack.engine.loras.names()) == ["legal"]


def test_a_load_goes_on_without_the_client_that_asked_first(tmp_path: Path) -> None:
    (tmp_path / "legal").mkdir()
    (tmp_path / "legal" / "adapter_config.json").write_text("{}", encoding="utf-8")
    with running_stack({"WARMSTACK_ADAPTER_ROOTS": str(tmp_path)}, load_seconds=0.5) as stack:
        stack.post({"name": "legal", "src": str(tmp_path / "legal")}, "/adapters")
        first = stack.connect()
        first.request("POST", "/invocations", '{"prompt": "x"}', {"X-Amzn-SageMaker-Adapter-Identifier": "legal"})
        wait_until(lambda: len(stack.engine_requests("/load_lora_adapter")) == 1, "the load has begun")
        first.close()
        assert stack.post({"prompt": "x"}, adapter="legal").status == 200
        assert len(stack.engine_requests("/load_lora_adapter")) == 1
