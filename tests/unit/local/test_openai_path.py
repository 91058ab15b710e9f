"""The OpenAI path by a real openai client, with tokens of the SageMaker SDK."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import openai
import pytest
from botocore.credentials import Credentials

from tests.unit.local.definitions import PREFIX_AWARE, REGION, component, endpoint, variant
from tests.unit.local.running import Local, running
from tests.unit.local.sagemaker_sdk import generate_token
from warmstack.local.wire.limits import Limits


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    definitions = (
        endpoint(variants=(variant(routing=PREFIX_AWARE, instances=4),)),
        endpoint("parts", components=(component(), component("legal", base="chat"), component("none", copies=0))),
    )
    with running(*definitions, folder=tmp_path_factory.mktemp("local")) as local:
        yield local


class Provider:
    """Credentials as the SDK takes them."""

    def load(self) -> Credentials:
        return Credentials("AKIAIOSFODNN7EXAMPLE", "not-a-secret")


def token(**options: Any) -> str:
    return str(generate_token(region=REGION, aws_credentials_provider=Provider(), **options))


def client(local: Local, path: str = "demo", key: str | None = None) -> openai.OpenAI:
    url = f"{local.url}/endpoints/{path}/openai/v1"
    return openai.OpenAI(base_url=url, api_key=key or token(), max_retries=0)


MESSAGES: Any = [{"role": "user", "content": "hello"}]


def test_a_chat_completion(local: Local) -> None:
    with client(local) as openai_client:
        answer = openai_client.chat.completions.create(model="", messages=MESSAGES, max_tokens=3)
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 3


def test_a_stream_is_passed_through_as_it_is(local: Local) -> None:
    with client(local) as openai_client:
        chunks = list(
            openai_client.chat.completions.create(
                model="", messages=MESSAGES, max_tokens=3, stream=True, stream_options={"include_usage": True}
            )
        )
    assert [chunk.choices[0].finish_reason for chunk in chunks[:-1]] == [None, None, None, "length"]
    assert chunks[-1].usage is not None
    assert chunks[-1].choices == []


def test_a_component_by_its_path_and_an_adapter_by_the_model_too(local: Local) -> None:
    texts = {}
    for name, model in (("chat", ""), ("legal", ""), ("legal", "legal")):
        with client(local, f"parts/inference-components/{name}") as openai_client:
            answer = openai_client.chat.completions.create(model=model, messages=MESSAGES, max_tokens=3)
        assert next(local.services.journal.newest_first()).component == name
        texts[name, model] = answer.choices[0].message.content
    # vLLM reads the adapter's header on /invocations only: on this path it is the model that chooses.
    assert texts["legal", ""] == texts["chat", ""] != texts["legal", "legal"]


def test_the_prefix_is_the_text_of_the_messages_and_not_the_body(local: Local) -> None:
    shared = "s" * 2000
    with client(local) as openai_client:
        for temperature in (0.1, 0.2, 0.3):
            messages: Any = [{"role": "system", "content": shared}, {"role": "user", "content": f"{temperature}"}]
            openai_client.chat.completions.create(model="", messages=messages, max_tokens=1, temperature=temperature)
    entries = [entry for entry in local.services.journal.newest_first() if entry.reason == "prefix"][:3]
    assert len({entry.copy for entry in entries}) == 1


def test_an_error_of_the_container_keeps_its_status(local: Local) -> None:
    with client(local) as openai_client, pytest.raises(openai.BadRequestError) as raised:
        openai_client.chat.completions.create(model="", messages=MESSAGES, max_tokens=0)
    assert raised.value.body == {
        "message": raised.value.body["message"],  # type: ignore[index]
        "type": "server_error",
        "code": "model_error",
    }
    assert 'Received client error (400) from primary with message "{' in raised.value.message


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("absent", "Endpoint absent of account 111122223333 not found."),
        ("parts/inference-components/none", "Inference Component has no capacity to process this request."),
    ],
)
def test_what_is_not_there_is_400_in_the_openai_envelope(local: Local, path: str, text: str) -> None:
    with client(local, path) as openai_client, pytest.raises(openai.BadRequestError) as raised:
        openai_client.chat.completions.create(model="", messages=MESSAGES)
    assert raised.value.code == "validation_error"
    assert text in raised.value.message


def test_the_component_header_is_refused_here(local: Local) -> None:
    with client(local) as openai_client, pytest.raises(openai.BadRequestError):
        openai_client.chat.completions.create(
            model="", messages=MESSAGES, extra_headers={"X-Amzn-SageMaker-Inference-Component": "chat"}
        )


def test_tokens_are_checked_for_form_and_expiry(local: Local) -> None:
    for key in ("sk-plain", token()[:-40] + "!"):
        with client(local, key=key) as openai_client, pytest.raises(openai.PermissionDeniedError):
            openai_client.chat.completions.create(model="", messages=MESSAGES)
    short = token(expiry=timedelta(seconds=60))
    with client(local, key=short) as openai_client:
        assert openai_client.chat.completions.create(model="", messages=MESSAGES).choices
        local.clock.ahead += 61
        try:
            with pytest.raises(openai.PermissionDeniedError) as raised:
                openai_client.chat.completions.create(model="", messages=MESSAGES)
        finally:
            local.clock.ahead -= 61
    assert "the bearer token expired at 20" in raised.value.message


def test_only_chat_completions_are_routed(local: Local) -> None:
    with client(local) as openai_client, pytest.raises(openai.NotFoundError) as raised:
        openai_client.embeddings.create(model="", input="hello")
    assert "chat/completions only" in raised.value.message


def test_a_signature_is_not_taken_for_a_token(local: Local) -> None:
    connection = http.client.HTTPConnection(local.url.removeprefix("http://"), timeout=10)
    connection.request(
        "POST",
        "/endpoints/demo/openai/v1/chat/completions",
        json.dumps({"messages": MESSAGES}),
        {"Authorization": "AWS4-HMAC-SHA256 Credential=x"},
    )
    answer = connection.getresponse()
    assert b"takes a bearer token, no SigV4 signature" in answer.read()
    assert answer.status == 403
    connection.close()


def test_a_stream_that_breaks_is_no_whole_answer_and_no_defect(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with running(endpoint(variants=(variant(instances=1),)), folder=tmp_path) as local, client(local) as openai_client:
        (copy,) = local.platform.endpoints["demo"].copies.values()
        copy.faults.cut_after = 2
        stream = openai_client.chat.completions.create(model="", messages=MESSAGES, max_tokens=9, stream=True)
        with stream, pytest.raises(openai.APIConnectionError):
            list(stream)
        local.until(lambda: copy.in_flight == 0)
    assert [record for record in caplog.records if record.exc_info] == []


def test_an_answer_above_the_limit_is_an_error(tmp_path: Path) -> None:
    limits = Limits(response_bytes=100)
    with (
        running(endpoint(), folder=tmp_path, limits=limits) as local,
        client(local) as openai_client,
        pytest.raises(openai.InternalServerError, match="HTTP content length exceeded 100 bytes"),
    ):
        openai_client.chat.completions.create(model="", messages=MESSAGES, max_tokens=9)
