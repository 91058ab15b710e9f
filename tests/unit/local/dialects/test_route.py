"""``route=`` in the custom attributes, on images that have it and on others."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.unit.local.definitions import model
from tests.unit.local.dialects.benches import simulated
from tests.unit.local.dialects.golden import ATTRIBUTES, CHAT, NEW_SESSION, SESSION, Answer, ask
from warmstack.local.dialects.front import in_front
from warmstack.local.dialects.route import is_routed

AMAZON_LINUX = {"image": "123456789012.dkr.ecr.us-west-2.example/vllm:server-sagemaker-cuda-v2.5"}


def asked(attributes: str, image: dict[str, str] | None = None, session: str = "") -> Answer:
    container, _ = simulated({}, changes=image)
    sent = {ATTRIBUTES: attributes, SESSION: session}
    return asyncio.run(ask(container, "/invocations", CHAT | {"model": "absent"}, headers=sent))


def test_a_route_reaches_any_path_past_sessions_and_adapters() -> None:
    assert asked("route=/v1/chat/completions", AMAZON_LINUX, "abc").status == 404
    assert asked("x=1, route=/v1/chat/completions, y=2", AMAZON_LINUX).value["error"]["param"] == "model"
    assert asked("route=/v1/models;x", AMAZON_LINUX).value == {"detail": "Not Found"}


@pytest.mark.parametrize("attributes", ["", "x=1", "route=v1/chat/completions"])
def test_without_one_the_request_stays(attributes: str) -> None:
    assert asked(attributes, AMAZON_LINUX).value["model"] == "/opt/ml/model"


def test_other_images_know_no_routes() -> None:
    assert asked("route=/v1/chat/completions").value["model"] == "/opt/ml/model"


def test_a_route_is_for_invocations_only() -> None:
    container, _ = simulated({}, changes=AMAZON_LINUX)
    answer = asyncio.run(ask(container, "/adapters", NEW_SESSION, headers={ATTRIBUTES: "route=/v1/models"}))
    assert answer.status == 400


def test_an_image_that_is_built_from_one_has_it(tmp_path: Path) -> None:
    assert not is_routed(model(image="${Image}", staged=tmp_path))
    (tmp_path / "Dockerfile").write_text("ARG BASE=public.example/vllm:server-sagemaker-cuda-v2.5\nFROM ${BASE}\n")
    assert is_routed(model(image="${Image}", staged=tmp_path))


def test_it_stands_before_a_real_vllm_which_needs_nothing_else() -> None:
    _, engine = simulated({})
    assert in_front(model(), engine, real=True) is engine
    routed = in_front(model(**AMAZON_LINUX), engine, real=True)
    answer = asyncio.run(ask(routed, "/invocations", CHAT, headers={ATTRIBUTES: "route=/v1/chat/completions"}))
    assert answer.value["object"] == "chat.completion"
