"""What the user has configured for AWS is nothing to the local one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from warmstack.local.aws.moto_app import load_moto
from warmstack.local.aws.moto_calls import MotoCalls
from warmstack.local.own_session import nothing_configured, own_session, service_model

REGION = "us-west-2"


@pytest.fixture(params=["a profile that is not there", "files that cannot be read", "settings"])
def _configured(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config"
    match request.param:
        case "a profile that is not there":
            monkeypatch.setenv("AWS_PROFILE", "nope")
        case "files that cannot be read":
            file.write_text("garbage\n")
            monkeypatch.setenv("AWS_CONFIG_FILE", str(file))
            monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
        case "settings":
            model = tmp_path / "cloudformation" / "2099-01-01" / "service-2.json"
            model.parent.mkdir(parents=True)
            model.write_text('{"metadata": {"xmlNamespace": "theirs"}}')
            monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))
            monkeypatch.setenv("AWS_DEFAULTS_MODE", "none of these")
            monkeypatch.setenv("AWS_RETRY_MODE", "none of these")
            monkeypatch.setenv("AWS_USE_FIPS_ENDPOINT", "true")


@pytest.mark.usefixtures("_configured")
def test_models_are_botocores_own() -> None:
    service_model.cache_clear()
    assert (
        service_model("cloudformation").metadata["xmlNamespace"]
        == "http://cloudformation.amazonaws.com/doc/2010-05-15/"
    )
    assert service_model("sagemaker").operation_model("CreateModel").input_shape.members["ModelName"]


@pytest.mark.usefixtures("_configured")
def test_a_session_has_every_default() -> None:
    session = own_session()
    assert session.get_scoped_config() == {}
    client = session.create_client("s3", region_name=REGION, aws_access_key_id="a", aws_secret_access_key="b")
    assert client.meta.endpoint_url == "https://s3.us-west-2.amazonaws.com"


@pytest.mark.usefixtures("_configured")
def test_handlers_call_services() -> None:
    calls = MotoCalls(load_moto(), "111122223333")
    assert calls._call("s3", "ListBuckets", {}, REGION)["Buckets"] == []
    calls.close()


def test_the_environment_is_given_back() -> None:
    environment = {"AWS_PROFILE": "mine", "AWS_CONFIG_FILE": "here", "HOME": "/home/me"}
    before = dict(environment)
    with nothing_configured(environment):
        assert environment == {
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "HOME": "/home/me",
        }
    assert environment == before
