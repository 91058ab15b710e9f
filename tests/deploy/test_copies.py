"""What a deployment does to the copies of components that run: by the CDK CLI, with requests meanwhile."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.load import Load
from tests.deploy.process import local, serving
from tests.deploy.toolkit import REGION, run_cdk, spec_of, synthesize

pytestmark = pytest.mark.deploy

SPEC = spec_of("lora-tenants")
(BASE,) = SPEC["components"]
(FIRST, *_) = BASE["adapters"]
ENDPOINT = "tenants-prod"


def with_adapters(*names: str) -> dict[str, Any]:
    adapters = [{**FIRST, "name": name} for name in names]
    return {**SPEC, "components": [{**BASE, "adapters": adapters}]}


def with_routing(strategy: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {**spec, "endpoint": {**spec["endpoint"], "routing": {"strategy": strategy}}}


class Deployments:
    """Deploys specs one after the other."""

    def __init__(self, variables: dict[str, str], folder: Path) -> None:
        self._variables, self._folder, self._count = variables, folder, 0
        done = run_cdk(["bootstrap", f"aws://111122223333/{REGION}"], variables, folder)
        assert done.status == 0, done.text

    def deploy(self, spec: dict[str, Any]) -> None:
        self._count += 1
        assembly = synthesize(spec, self._folder / str(self._count))
        words = ["deploy", "--app", str(assembly), "--require-approval", "never"]
        done = run_cdk(words, self._variables, self._folder)
        assert done.status == 0, done.text


def served(environment: dict[str, str], port: int) -> int:
    """Return how many requests the copies that are there have answered: a copy that is started anew begins at 0."""
    done = local(environment, "status", "--port", str(port), "--json")
    (endpoint,) = json.loads(done.stdout)["endpoints"]
    assert endpoint["status"] == "InService"
    instances = [one for variant in endpoint["variants"] for one in variant["instances"]]
    return sum(copy["served"] for one in instances for copy in one["copies"])


def test_adapters_come_and_go_and_routing_changes_while_the_copies_serve(
    environment: dict[str, str], port: int, tmp_path: Path
) -> None:
    with serving(environment, port) as (_, variables):
        deployments, url = Deployments(variables, tmp_path), variables["AWS_ENDPOINT_URL"]
        deployments.deploy(with_adapters("billing"))
        with Load(url, ENDPOINT, f"{ENDPOINT}-base") as load:
            deployments.deploy(with_adapters("billing", "newcomer"))
            with Load(url, ENDPOINT, f"{ENDPOINT}-base-newcomer") as other:
                deployments.deploy(with_routing("RANDOM", with_adapters("billing", "newcomer")))
            deployments.deploy(with_routing("RANDOM", with_adapters("billing")))
        assert (load.failures, other.failures) == ([], [])
        assert load.answered > 0
        assert other.answered > 0
        assert served(environment, port) == load.answered + other.answered


def test_other_routing_restarts_copies_where_that_is_chosen(
    environment: dict[str, str], port: int, tmp_path: Path
) -> None:
    with serving(environment, port, "--choice", "config_swap=restart_copies") as (_, variables):
        deployments = Deployments(variables, tmp_path)
        deployments.deploy(with_adapters("billing"))
        with Load(variables["AWS_ENDPOINT_URL"], ENDPOINT, f"{ENDPOINT}-base") as load:
            while load.answered < 3 and not load.failures:
                time.sleep(0.01)
        assert served(environment, port) == load.answered
        deployments.deploy(with_routing("RANDOM", with_adapters("billing")))
        assert served(environment, port) == 0
