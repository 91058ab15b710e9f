"""What is said of endpoints that get less than they ask for, because the machine is full."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.clients import control
from tests.unit.local.hosting.test_hosting import (
    component_is,
    create_component,
    create_config,
    create_model,
    endpoint_is,
)
from tests.unit.local.running import Local, running

FEWER = "3 of 6 instances start; this machine takes 5, of which first has 2; --copies starts more"
LESS = "3 of 5 copies start: this machine takes 5, of which first has 2; --copies starts more"
NONE = "0 of 1 copies start: this machine takes 5, of which demo has 3, first has 2; --copies starts more"


def notices(local: Local) -> list[str]:
    with urllib.request.urlopen(f"{local.url}/_warmstack/status") as answer:
        found: list[str] = json.load(answer)["notices"]
    return found


def create(client: Any, name: str, *, instances: int) -> None:
    create_config(client, f"c-{name}", None, instances=instances)
    client.create_endpoint(EndpointName=name, EndpointConfigName=f"c-{name}")
    endpoint_is(client, "InService", name)


def test_who_has_the_room_is_told(tmp_path: Path) -> None:
    with running(folder=tmp_path, hosting=True, copies=5) as local:
        client = control(local.url)
        create_model(client, "m-1")
        create_config(client, "c-1", "m-1", instances=2)
        client.create_endpoint(EndpointName="first", EndpointConfigName="c-1")
        endpoint_is(client, "InService", "first")
        create(client, "demo", instances=6)
        create_component(client, "base", copies=5)
        assert component_is(client, "InService", "base")["FailureReason"] == LESS
        expected = [
            f"demo: variant primary: {FEWER}",
            f"demo: base: {LESS}",
        ]
        assert notices(local) == expected
        assert [line for line in local.reports if line in expected] == expected
        create_component(client, "other", copies=1)
        assert component_is(client, "Failed", "other")["FailureReason"] == NONE
        with pytest.raises(ClientError, match="base can have 3 copies on this machine: this machine takes 5, of which"):
            client.update_inference_component_runtime_config(
                InferenceComponentName="base", DesiredRuntimeConfig={"CopyCount": 4}
            )
        client.update_inference_component_runtime_config(
            InferenceComponentName="base", DesiredRuntimeConfig={"CopyCount": 2}
        )
        assert f"demo: base: {LESS}" not in notices(local)
