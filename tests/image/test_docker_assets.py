"""``image.build: docker`` by the real CDK CLI: a build by buildah, a push to a registry, and a Model that names it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.toolkit import REGION, Toolkit
from tests.image.bases import make_base
from tests.image.buildah import Buildah
from tests.image.cases import CODE
from tests.image.cdk_docker import CdkDocker
from tests.image.registry import Registry, serving
from tests.unit.local.aws.running import running

pytestmark = pytest.mark.image

ACCOUNT = "111122223333"
REPOSITORY = f"cdk-hnb659fds-container-assets-{ACCOUNT}-{REGION}"
ECR = f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com"
STACK = "chat-prod"
SPEC: dict[str, Any] = {
    "name": "chat",
    "environment": "prod",
    "target": {"account": ACCOUNT, "region": REGION},
    "model": {
        "id": "Qwen/Qwen2.5-7B-Instruct",
        "weights": {"s3": "s3://acme/qwen/"},
        "max_model_len": 8192,
        "formatters": "formatters.py",
    },
    "engine": {"server": "vllm", "version": "0.30.0"},
    "cache": {"tiers": {"cpu": "40GiB"}},
    "endpoint": {"instance_type": "ml.g5.12xlarge"},
    "image": {"build": "docker"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Publishing:
    """A toolkit whose images are built and pushed."""

    toolkit: Toolkit
    registry: Registry
    buildah: Buildah
    docker: CdkDocker

    def calls(self) -> list[list[str]]:
        """Return what the CLI has called since the last time."""
        path = self.docker.calls
        found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
        path.unlink(missing_ok=True)
        return found

    @property
    def image(self) -> str:
        """The image that the deployed Model names."""
        (name,) = self.toolkit.aws.sagemaker.names("Model")
        return str(self.toolkit.aws.sagemaker.things["Model", name].members["PrimaryContainer"]["Image"])


@pytest.fixture(scope="module")
def account(buildah: Buildah, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Publishing]:
    """A local AWS, bootstrapped, with a registry, and the stock image that is built on."""
    make_base(buildah, "vllm", base_of("0.30.0"))
    folder = tmp_path_factory.mktemp("assets")
    with running() as aws, serving(tmp_path_factory.mktemp("registry")) as registry:
        docker = CdkDocker(buildah=buildah, registry=registry, calls=folder / "calls")
        program = docker.program(folder)
        toolkit = Toolkit(aws=aws, folder=tmp_path_factory.mktemp("deploy"), variables={"CDK_DOCKER": str(program)})
        done = toolkit.run("bootstrap", f"aws://{ACCOUNT}/{REGION}")
        assert done.status == 0, done.text
        yield Publishing(toolkit=toolkit, registry=registry, buildah=buildah, docker=docker)


@pytest.fixture
def publishing(account: Publishing) -> Iterator[Publishing]:
    """The account with nothing deployed; images stay, as they do in ECR."""
    account.calls()
    yield account
    account.toolkit.aws.empty(kept="CDKToolkit")


def base_of(version: str) -> str:
    """Return the stock image that the spec's image is built on."""
    return f"763104351884.dkr.ecr.{REGION}.amazonaws.com/vllm:{version}-gpu-py312-cu130-ubuntu24.04-sagemaker"


def test_an_image_is_built_and_pushed_and_the_model_names_it(publishing: Publishing) -> None:
    outcome = publishing.toolkit.deploy(SPEC, files={"formatters.py": CODE})
    assert outcome.status == 0, outcome.text
    host, _, name = publishing.image.partition("/")
    repository, _, tag = name.partition(":")
    assert (host, repository) == (ECR, REPOSITORY)
    assert publishing.registry.tags(repository) == [tag]
    # What the CLI asks of Docker, and in which order: a build of the asset's folder for the endpoint's platform.
    local = f"cdkasset-{tag}"
    login, inspect, build, named, push = publishing.calls()
    assert login == ["login", "--username", "AWS", "--password-stdin", f"{ECR}"]
    assert inspect == ["inspect", local]
    assert build == ["build", "--tag", local, "--platform", "linux/amd64", "."]
    assert named == ["tag", local, publishing.image]
    assert push == ["push", publishing.image]


def test_the_pushed_image_is_that_of_the_plan(publishing: Publishing) -> None:
    publishing.toolkit.deploy(SPEC, files={"formatters.py": CODE})
    repository, _, tag = publishing.image.partition("/")[2].partition(":")
    configuration = publishing.registry.configuration(repository, tag)
    assert configuration["Labels"]["com.warmstack.server"] == "vllm"
    # The stock image's own command stays: SageMaker starts it with `serve`.
    assert configuration["Entrypoint"] == ["/usr/local/bin/sagemaker_entrypoint.sh"]
    pulled = f"{publishing.registry.address}/{repository}:{tag}"
    name = publishing.buildah.run("from", "--tls-verify=false", "--pull-always", pulled)
    try:
        files = Path(publishing.buildah.run("mount", name)) / "opt/warmstack/models/model"
        assert (files / "formatters.py").read_text(encoding="utf-8") == CODE
        # 40 GiB of the instance, for each of four workers.
        assert "max_local_cpu_size: 10\n" in (files / "lmcache.yaml").read_text(encoding="utf-8")
    finally:
        publishing.buildah.run("rm", name)


def test_what_is_there_is_not_built_again(publishing: Publishing) -> None:
    publishing.toolkit.deploy(SPEC, files={"formatters.py": CODE})
    publishing.calls()
    again = publishing.toolkit.deploy(SPEC, files={"formatters.py": CODE})
    assert again.status == 0, again.text
    assert "(no changes)" in again.text
    assert publishing.calls() == []


def test_other_code_makes_another_image_and_another_model(publishing: Publishing) -> None:
    publishing.toolkit.deploy(SPEC, files={"formatters.py": CODE})
    before = publishing.image
    tags = publishing.registry.tags(REPOSITORY)
    outcome = publishing.toolkit.deploy(SPEC, files={"formatters.py": f"{CODE}\n# other\n"})
    assert outcome.status == 0, outcome.text
    assert publishing.image != before
    assert publishing.registry.tags(REPOSITORY) == sorted([*tags, publishing.image.rpartition(":")[2]])


def test_a_build_that_fails_ends_the_deploy_with_its_reason_before_anything_is_made(publishing: Publishing) -> None:
    other = {**SPEC, "engine": {"server": "vllm", "version": "0.29.0"}}
    outcome = publishing.toolkit.deploy(other, files={"formatters.py": CODE})
    assert outcome.status != 0
    assert base_of("0.29.0") in outcome.text
    assert publishing.toolkit.aws.sagemaker.things == {}
    assert [one[0] for one in publishing.calls()] == ["login", "inspect", "build"]
