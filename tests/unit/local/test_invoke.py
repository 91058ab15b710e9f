"""InvokeEndpoint by a real boto3."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.clients import chat, runtime
from tests.unit.local.definitions import component, endpoint
from tests.unit.local.running import Local, running


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    folder = tmp_path_factory.mktemp("local")
    definitions = (
        endpoint(),
        endpoint("parts", components=(component(), component("legal", base="chat"), component("none", copies=0))),
    )
    with running(*definitions, folder=folder) as local:
        yield local


def test_a_plain_request_is_answered(local: Local) -> None:
    answer = runtime(local.url).invoke_endpoint(EndpointName="demo", ContentType="application/json", Body=chat())
    assert answer["InvokedProductionVariant"] == "primary"
    assert answer["ContentType"] == "application/json"
    body = json.loads(answer["Body"].read())
    assert body["usage"]["completion_tokens"] == 4
    assert "NewSessionId" not in answer


def test_a_component_answers_and_an_adapter_in_its_own_voice(local: Local) -> None:
    client = runtime(local.url)
    texts = []
    for name in ("chat", "legal"):
        answer = client.invoke_endpoint(
            EndpointName="parts", InferenceComponentName=name, ContentType="application/json", Body=chat()
        )
        texts.append(json.loads(answer["Body"].read())["choices"][0]["message"]["content"])
    assert texts[0] != texts[1]


NEEDS_COMPONENT = (
    "Inference Component Name header is required for endpoints to which you plan to deploy inference components. "
    "Please include Inference Component Name header or consider using SageMaker models."
)
NO_COMPONENTS = (
    "Inference Component Name header is not allowed for endpoints to which you dont plan to deploy inference "
    "components. Please remove the Inference Component Name header and try again."
)
NO_CAPACITY = (
    "Inference Component has no capacity to process this request. ApplicationAutoScaling may be in-progress (if "
    "configured) or try to increase the capacity by invoking UpdateInferenceComponentRuntimeConfig API."
)


@pytest.mark.parametrize(
    ("endpoint_name", "component_name", "text"),
    [
        ("absent", None, "Endpoint absent of account 111122223333 not found."),
        ("parts", None, NEEDS_COMPONENT),
        ("demo", "chat", NO_COMPONENTS),
        ("parts", "none", NO_CAPACITY),
        ("parts", "absent", "Inference Component absent of account 111122223333 not found."),
    ],
)
def test_what_cannot_be_routed_gets_sagemakers_own_words(
    local: Local, endpoint_name: str, component_name: str | None, text: str
) -> None:
    arguments = {"EndpointName": endpoint_name}
    if component_name:
        arguments["InferenceComponentName"] = component_name
    with pytest.raises(ClientError) as raised:
        runtime(local.url).invoke_endpoint(ContentType="application/json", Body=chat(), **arguments)
    assert raised.value.response["Error"] == {"Code": "ValidationError", "Message": text}
    assert raised.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_an_error_of_the_container_is_a_model_error_with_the_original(local: Local) -> None:
    client = runtime(local.url)
    with pytest.raises(client.exceptions.ModelError) as raised:
        client.invoke_endpoint(EndpointName="demo", ContentType="application/json", Body=chat(max_tokens=0))
    response = raised.value.response
    assert response["OriginalStatusCode"] == 400
    assert json.loads(response["OriginalMessage"])["error"]["param"] == "max_tokens"
    assert response["Error"]["Message"] == (
        f'Received client error (400) from primary with message "{response["OriginalMessage"]}". See '
        "https://us-west-2.console.aws.amazon.com/cloudwatch/home?region=us-west-2#logEventViewer:group=/aws/sagemaker/"
        "Endpoints/demo in account 111122223333 for more information."
    )
    assert response["ResponseMetadata"]["HTTPStatusCode"] == 424


def test_every_bad_header_is_named_at_once(local: Local) -> None:
    with pytest.raises(ClientError) as raised:
        runtime(local.url).invoke_endpoint(EndpointName="demo", Body=chat(), SessionId="-no-", PrefixAwareId="x" * 65)
    message = raised.value.response["Error"]["Message"]
    assert message.startswith("2 validation errors detected: ")
    assert "Value '-no-' at 'sessionId' failed to satisfy constraint: Member must satisfy regular expression" in message
    assert (
        "at 'prefixAwareId' failed to satisfy constraint: Member must have length less than or equal to 64" in message
    )


def test_a_request_that_nobody_signed_is_refused(local: Local, tmp_path: Path) -> None:
    from botocore import UNSIGNED

    with pytest.raises(ClientError) as raised:
        runtime(local.url, signature_version=UNSIGNED).invoke_endpoint(EndpointName="demo", Body=chat())
    assert raised.value.response["Error"]["Code"] == "MissingAuthenticationTokenException"
