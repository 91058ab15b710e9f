"""LMI and vLLM: our entrypoint prepares what an environment cannot carry, and becomes the stock image's own start."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.image.bases import STOCK_START
from tests.image.buildah import Buildah, Mount
from tests.image.conftest import Built
from tests.image.containers import running
from tests.image.secrets_manager import TOKEN, SecretsManager
from tests.unit.render.builds import SECRET

pytestmark = pytest.mark.image
# Prints its process id and becomes its arguments: what keeps being that process has the same one.
SAME_PROCESS = ("/bin/sh", "-c", 'echo "process: $$"; exec "$@"', "sh")
Start = Callable[..., tuple[int, str, int]]


@pytest.fixture
def start(buildah: Buildah, build: Callable[[str], Built], tmp_path: Path) -> Start:
    """Run an image with the environment of its plan until it ends: its status, what it printed, its process."""

    def run(name: str, extra: Mapping[str, str], mounts: Sequence[Mount] = ()) -> tuple[int, str, int]:
        image = build(name)
        environment = {**image.plan.models[0].environment, **extra}
        with running(
            buildah,
            image.tag,
            log=tmp_path / "log",
            environment=environment,
            mounts=mounts,
            before=SAME_PROCESS,
        ) as container:
            status = container.wait_for_end()
            lines = dict(line.split(": ", 1) for line in container.printed.splitlines() if ": " in line)
            return status, container.printed, int(lines["process"])

    return run


def started(printed: str) -> dict[str, Any]:
    (line,) = [line for line in printed.splitlines() if line.startswith("started: ")]
    return dict(json.loads(line.removeprefix("started: ")))


@pytest.fixture
def weights(tmp_path: Path) -> Mount:
    """The weights, as SageMaker mounts them: read-only."""
    folder = tmp_path / "weights"
    (folder / "1").mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"\0" * 64)
    return Mount(host=folder, inside="/opt/ml/model")


def test_an_image_without_an_entrypoint_of_ours_starts_the_stock_one(start: Start) -> None:
    status, printed, process = start("lmi-tiers", {})
    assert status == 0
    seen = started(printed)
    assert seen["arguments"] == [STOCK_START["lmi"], "serve"]
    assert seen["pid"] == process
    assert seen["store"] == {}


def test_formatters_are_laid_out_beside_links_to_the_weights(start: Start, weights: Mount) -> None:
    status, printed, process = start("lmi-all", {}, [weights])
    assert status == 0, printed
    seen = started(printed)
    assert seen["pid"] == process
    assert seen["arguments"] == [STOCK_START["lmi"], "serve"]
    assert seen["environment"]["SERVING_MODEL_STORE"] == "/tmp/warmstack/model"
    assert seen["store"] == {
        "1": "/opt/ml/model/1",
        "config.json": "/opt/ml/model/config.json",
        "formatters.py": None,
        "model.py": None,
        "model.safetensors": "/opt/ml/model/model.safetensors",
        "warmstack_formatters.py": None,
    }
    # What the base image says reaches the server as it is.
    assert seen["environment"]["STOCK"] == "1"


def test_weights_that_are_missing_end_the_start_with_one_line(start: Start) -> None:
    status, printed, _ = start("lmi-all", {})
    assert status == 1
    (line,) = [line for line in printed.splitlines() if line.startswith("warmstack: ")]
    assert "/opt/ml/model" in line
    assert "Traceback" not in printed


@pytest.mark.parametrize("name", ["lmi-token", "vllm-all"])
def test_the_hub_token_comes_from_secrets_manager(name: str, start: Start, secrets_manager: SecretsManager) -> None:
    status, printed, process = start(name, secrets_manager.environment)
    assert status == 0, printed
    seen = started(printed)
    assert seen["pid"] == process
    assert seen["arguments"] == [STOCK_START[name.partition("-")[0]], "serve"]
    assert seen["environment"]["HF_TOKEN"] == TOKEN
    assert secrets_manager.asked == [{"target": "secretsmanager.GetSecretValue", "body": {"SecretId": SECRET}}]
    # The token is in the server's environment and nowhere else that is printed.
    assert printed.count(TOKEN) == 1
    assert "SERVING_MODEL_STORE" not in seen["environment"]


def test_a_secret_that_cannot_be_read_ends_the_start_with_one_line(start: Start) -> None:
    nowhere = {"AWS_ENDPOINT_URL_SECRETS_MANAGER": "http://127.0.0.1:9", "AWS_MAX_ATTEMPTS": "1"}
    keys = {"AWS_ACCESS_KEY_ID": "AKIASTANDIN", "AWS_SECRET_ACCESS_KEY": "stand-in"}
    status, printed, _ = start("vllm-all", nowhere | keys)
    assert status == 1
    assert f"warmstack: the secret {SECRET} cannot be read: " in printed
    assert "Traceback" not in printed


def test_the_middleware_of_vllm_loads_with_the_images_python(build: Callable[[str], Built], buildah: Buildah) -> None:
    """The server loads it by its path, with the interpreter that has vLLM and not with ours."""
    image = build("vllm-all")
    environment = image.plan.models[0].environment
    path, _, name = environment["CUSTOM_FASTAPI_MIDDLEWARE_PRE_POST_PROCESS"].partition(":")
    program = (
        f"import runpy; made = runpy.run_path({path!r})[{name!r}](None); "
        "base = made._middleware._base; print(base.has_input, base.has_output)"
    )
    with buildah.container(image.tag) as container:
        settings = {"WARMSTACK_FORMATTERS": environment["WARMSTACK_FORMATTERS"]}
        command = buildah.start_command(container, ["python3", "-c", program], settings, [])
        assert buildah.run(*command[len(buildah.command()) :]).split()[-2:] == ["True", "True"]
