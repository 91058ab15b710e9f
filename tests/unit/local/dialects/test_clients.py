"""Dialects behind the platform, asked by a real boto3: the same code meets what it would meet on SageMaker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.clients import chat, parts, runtime
from tests.unit.local.definitions import component, endpoint, model, variant
from tests.unit.local.running import Local, running
from warmstack.assembly import ModelDefinition

LMI = model(
    server="lmi",
    environment={"OPTION_ENABLE_LORA": "true", "OPTION_ENABLE_STATEFUL_SESSIONS": "true"},
)
SGLANG = model(
    server="sglang",
    image="${Image}",
    environment={"SM_SGLANG_ENABLE_LORA": "true", "SAGEMAKER_ENABLE_STATEFUL_SESSIONS": "true"},
)
VLLM = model(environment={"SM_VLLM_ENABLE_LORA": "true", "SAGEMAKER_ENABLE_STATEFUL_SESSIONS": "true"})
INPUTS = json.dumps({"inputs": "Copies live", "parameters": {"max_new_tokens": 3}}).encode()
OPEN = b'{"requestType": "NEW_SESSION"}'
CLOSE = b'{"requestType": "CLOSE"}'


@pytest.fixture(params=[LMI, SGLANG, VLLM], ids=lambda one: one.server)
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Local]:
    with running(endpoint(variants=(variant(model=request.param),)), folder=tmp_path) as local:
        yield local


def serving(definition: ModelDefinition, folder: Path) -> Any:
    return running(endpoint(variants=(variant(model=definition),)), folder=folder)


def invoke(local: Local, body: bytes, **more: str) -> Any:
    answer = runtime(local.url).invoke_endpoint(EndpointName="demo", ContentType="application/json", Body=body, **more)
    # Read at once: a body that is not read keeps its connection open.
    return answer | {"Body": answer["Body"].read()}


def refused(local: Local, body: bytes, **more: str) -> dict[str, Any]:
    with pytest.raises(ClientError) as raised:
        invoke(local, body, **more)
    response: dict[str, Any] = raised.value.response
    assert response["Error"]["Code"] == "ModelError"
    return response


def test_a_session_from_its_start_to_its_end(served: Local) -> None:
    opened = invoke(served, OPEN, SessionId="NEW_SESSION")
    session = opened["NewSessionId"].partition(";")[0]
    for _ in range(3):
        assert json.loads(invoke(served, chat(), SessionId=session)["Body"])["choices"]
    assert invoke(served, CLOSE, SessionId=session)["ClosedSessionId"] == session
    lost = refused(served, chat(), SessionId=session)
    assert f"session not found: {session}" in lost["OriginalMessage"]


def test_an_adapter_component_answers_through_its_adapter(served: Local, tmp_path: Path) -> None:
    definition = served.platform.endpoints["demo"].definition.variants[0].model
    assert definition is not None
    components = (component("chat", model=definition), component("legal", base="chat", model=definition))
    with running(endpoint(components=components), folder=tmp_path / "components") as local:
        first, second = (
            json.loads(invoke(local, chat(), InferenceComponentName=name)["Body"]) for name in ("chat", "legal")
        )
    assert second["model"] == "legal"
    assert first["choices"] != second["choices"]


def test_lmi_takes_inputs_and_answers_in_lines(tmp_path: Path) -> None:
    with serving(LMI, tmp_path) as local:
        answer = invoke(local, INPUTS)
        assert answer["ContentType"] == "application/json"
        assert list(json.loads(answer["Body"])) == ["generated_text"]
        body = json.dumps(json.loads(INPUTS) | {"stream": True}).encode()
        streamed = runtime(local.url).invoke_endpoint_with_response_stream(
            EndpointName="demo", ContentType="application/json", Body=body
        )
        assert streamed["ContentType"] == "application/jsonlines"
        text = b"".join(parts(streamed))
        streamed["Body"].close()
        lines = [json.loads(one) for one in text.split(b"\n") if one]
    assert [line["token"]["text"] for line in lines] == lines[-1]["generated_text"].replace(" ", "\n ").split("\n")


def test_lmis_errors_are_424s_with_their_text(tmp_path: Path) -> None:
    with serving(LMI, tmp_path) as local:
        response = refused(local, b'{"text": "x"}')
        assert response["OriginalStatusCode"] == 424
        assert json.loads(response["OriginalMessage"]) == {
            "code": 424,
            "error": "Input parsing failed: invalid payload. must contain prompt, inputs, or messages",
        }
        handler = refused(local, chat(), CustomAttributes="handler=other")
        assert handler["OriginalStatusCode"] == 400


def test_sglang_opens_a_session_with_the_first_request(tmp_path: Path) -> None:
    with serving(SGLANG, tmp_path) as local:
        answer = invoke(local, chat(), SessionId="NEW_SESSION")
        assert json.loads(answer["Body"])["choices"]
        session = answer["NewSessionId"].partition(";")[0]
        assert json.loads(invoke(local, INPUTS, SessionId=session)["Body"])["generated_text"]


def test_vllms_session_replies_are_plain_text(tmp_path: Path) -> None:
    with serving(VLLM, tmp_path) as local:
        assert invoke(local, OPEN, SessionId="NEW_SESSION")["Body"].startswith(b"Session ")
