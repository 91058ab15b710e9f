"""What the build contexts hold, and that they are the same everywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.unit.plan.specs import planned
from tests.unit.render.builds import (
    CODE,
    CODEBUILD,
    DOCKER,
    EVERY,
    FORMATTERS,
    HERE,
    SECRET,
    SGLANG,
    TEMPLATE,
    TIERS,
    VLLM,
    context,
    contexts,
    instructions,
    text,
)
from warmstack.render import render_contexts


def test_stock_images_have_no_context() -> None:
    assert contexts() == ()


@pytest.mark.parametrize("name", EVERY)
def test_hadolint_has_nothing_to_say(name: str, tmp_path: Path) -> None:
    dockerfile = tmp_path / "Dockerfile"
    dockerfile.write_bytes(context(*EVERY[name]).files["Dockerfile"].content)
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, dockerfile], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("name", EVERY)
def test_everything_a_dockerfile_copies_is_there(name: str) -> None:
    built = context(*EVERY[name])
    copied = [line.split()[1] for line in instructions(text(built, "Dockerfile")) if line.startswith("COPY ")]
    assert copied
    for source in copied:
        if source == "entrypoint/requirements.txt":
            assert source in built.files
        assert any(path == source or path.startswith(f"{source}/") for path in built.files), source
    used = {path for path in built.files for source in copied if path == source or path.startswith(f"{source}/")}
    assert set(built.files) - used == {"Dockerfile", ".dockerignore"}


@pytest.mark.parametrize("name", EVERY)
def test_no_secret_and_no_setting_is_in_a_layer(name: str) -> None:
    built = context(*EVERY[name])
    for path, file in built.files.items():
        assert SECRET.encode() not in file.content, path
    lines = instructions(text(built, "Dockerfile"))
    assert not [line for line in lines if line.startswith(("ENV ", "USER ", "EXPOSE "))]
    assert sum(line.startswith("FROM ") for line in lines) == 1


def test_the_base_is_the_registry_of_the_region() -> None:
    dockerfile = text(context(HERE, DOCKER, TIERS), "Dockerfile")
    assert (
        "ARG BASE_IMAGE=763104351884.dkr.ecr.us-west-2.amazonaws.com/djl-inference:0.38.0-lmi29.0.0-cu130" in dockerfile
    )
    assert "FROM --platform=linux/amd64 ${BASE_IMAGE}" in dockerfile


def test_without_a_region_the_base_is_an_argument() -> None:
    assert "ARG BASE_IMAGE" in instructions(text(context(CODEBUILD, TIERS), "Dockerfile"))


def test_a_public_base_needs_no_region() -> None:
    base = "public.ecr.aws/deep-learning-containers/vllm:0.30.0"
    built = context(VLLM, DOCKER, TIERS, {"image": {"base": base}})
    assert f"ARG BASE_IMAGE={base}" in instructions(text(built, "Dockerfile"))


def test_lmcache_is_a_file_by_its_own_keys() -> None:
    built = context(HERE, DOCKER, TIERS)
    settings = yaml.safe_load(text(built, "models/model/lmcache.yaml"))
    assert settings == {
        "chunk_size": 256,
        "extra_config": {"use_odirect": True},
        "local_cpu": True,
        "local_disk": "file:///tmp/lmcache/",
        "max_local_cpu_size": 10,
        "max_local_disk_size": 256,
    }


def test_the_environment_names_the_files_in_the_image() -> None:
    (lmi,) = planned(*EVERY["lmi-all"]).models
    assert lmi.environment["OPTION_LMCACHE_CONFIG_FILE"] == "/opt/warmstack/models/model/lmcache.yaml"
    assert lmi.environment["OPTION_CHAT_TEMPLATE"] == "/opt/warmstack/models/model/chat_template.jinja"
    assert lmi.environment["WARMSTACK_FORMATTERS"] == "/opt/warmstack/models/model/formatters.py"
    assert json.loads(lmi.environment["OPTION_KV_TRANSFER_CONFIG"])["kv_connector"] == "LMCacheConnectorV1"
    assert lmi.environment["PYTHONHASHSEED"] == "0"
    (vllm,) = planned(*EVERY["vllm-all"]).models
    assert vllm.environment["LMCACHE_CONFIG_FILE"] == "/opt/warmstack/models/model/lmcache.yaml"
    assert vllm.environment["SM_VLLM_CHAT_TEMPLATE"] == "/opt/warmstack/models/model/chat_template.jinja"
    assert vllm.environment["WARMSTACK_HUB_TOKEN_SECRET"] == SECRET
    (sglang,) = planned(*EVERY["sglang-all"]).models
    assert sglang.environment["SM_SGLANG_CHAT_TEMPLATE"] == "/opt/warmstack/models/model/chat_template.jinja"
    for served in (lmi, vllm, sglang):
        for value in served.environment.values():
            if value.startswith("/opt/warmstack/"):
                (built,) = render_contexts(planned(*EVERY[f"{served.server}-all"]))
                assert value.removeprefix("/opt/warmstack/").partition(":")[0] in built.files


@pytest.mark.parametrize("server", [{}, VLLM, SGLANG], ids=["lmi", "vllm", "sglang"])
def test_the_engine_settings_are_those_of_the_stock_image(server: dict[str, object]) -> None:
    """Where the image comes from decides nothing about the engine."""
    tiers = {"cache": {"tiers": {"cpu": "80GiB"}}}
    stock, docker, codebuild = (
        planned(HERE, server, tiers, {"image": {"build": build}}).models[0] for build in ("none", "docker", "codebuild")
    )
    assert stock.engine_settings == docker.engine_settings == codebuild.engine_settings
    assert docker.environment == codebuild.environment
    places = ("LMCACHE_", "OPTION_LMCACHE_CONFIG_FILE")
    engine = [{k: v for k, v in one.environment.items() if not k.startswith(places)} for one in (stock, docker)]
    assert engine[0] == engine[1]
    # The file in the image says what the stock image is told by variables.
    (built,) = render_contexts(planned(HERE, server, tiers, DOCKER))
    said = {key: value for key, value in stock.environment.items() if key.startswith("LMCACHE_")}
    settings = yaml.safe_load(text(built, "models/model/lmcache.yaml")) if said else {}
    assert said == {f"LMCACHE_{key.upper()}": str(value) for key, value in settings.items()}


def test_components_of_one_server_and_version_share_one_image() -> None:
    components = {
        "components": [
            {"name": "chat", "accelerators": 2, "cache": {"tiers": {"cpu": "40GiB"}}},
            {"name": "draft", "accelerators": 1, "model": {"chat_template": "chat.jinja"}},
            {"name": "other", "accelerators": 1, "engine": {"server": "vllm", "version": "0.30.0"}},
        ]
    }
    plan = planned(HERE, DOCKER, components, {"files beside the spec": {"chat.jinja": "x"}})
    built = {one.name: one for one in render_contexts(plan)}
    assert sorted(built) == ["lmi-0.38.0-lmi29.0.0-cu130", "vllm-0.30.0"]
    shared = [path for path in built["lmi-0.38.0-lmi29.0.0-cu130"].files if path.startswith("models/")]
    assert shared == ["models/chat/lmcache.yaml", "models/draft/chat_template.jinja"]
    assert [one.image.build for one in plan.models] == [*["lmi-0.38.0-lmi29.0.0-cu130"] * 2, "vllm-0.30.0"]


def test_what_an_image_starts() -> None:
    def starts(name: str) -> list[str]:
        lines = instructions(text(context(*EVERY[name]), "Dockerfile"))
        return [part for line in lines if line.startswith("ENTRYPOINT") for part in json.loads(line.split(" ", 1)[1])]

    assert starts("lmi-tiers") == []
    assert starts("lmi-all") == [
        "python3",
        "-I",
        "/opt/warmstack/entrypoint/warmstack_entrypoint.py",
        "/usr/local/bin/dockerd-entrypoint.sh",
    ]
    own = "/opt/warmstack/venv/bin/python"
    assert starts("sglang") == [own, "-I", "-m", "session_server"]
    assert starts("sglang-all")[:3] == [own, "-I", "/opt/warmstack/entrypoint/warmstack_entrypoint.py"]
    assert starts("sglang-all")[3:] == starts("sglang")
    assert starts("vllm-all")[-1] == "/usr/local/bin/sagemaker_entrypoint.sh"


def test_an_edit_that_is_not_the_images_leaves_it_as_it_is() -> None:
    """The image's labels would otherwise replace it, and every model with it, for one more instance."""
    before = context(HERE, DOCKER, TIERS).digest
    assert context(HERE, DOCKER, TIERS, {"endpoint": {"instances": {"min": 3}}, "environment": "prod"}).digest == before
    assert context(HERE, DOCKER, TIERS, {"engine": {"options": {"max_num_seqs": 64}}}).digest == before
    assert context(HERE, DOCKER, TIERS, {"cache": {"lmcache": {"chunk_size": 512}}}).digest != before
    assert context(HERE, DOCKER, TIERS, TEMPLATE).digest != before


def test_line_ends_of_a_checkout_do_not_matter() -> None:
    windows = {**TEMPLATE, "files beside the spec": {"chat.jinja": "{{ messages }}\r\n"}}
    assert context(HERE, DOCKER, windows).digest == context(HERE, DOCKER, TEMPLATE).digest


def test_another_process_renders_the_same_bytes(tmp_path: Path, root: Path) -> None:
    digests = []
    for number, seed in enumerate(("0", "4711")):
        command = [sys.executable, "-m", "warmstack.cli", "render", "specs/sglang-sessions.yaml", "--json", "-o"]
        program = "from warmstack.cli import main; main()"
        command = [sys.executable, "-c", program, *command[3:], str(tmp_path / str(number))]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": f"UTC{number}", "LC_ALL": "C"}
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
        digests += [one["sha256"] for one in json.loads(done.stdout)["stacks"][0]["images"]]
    assert len(digests) == 2
    assert digests[0] == digests[1]


def test_formatters_travel_as_they_are() -> None:
    built = context(HERE, DOCKER, VLLM, FORMATTERS)
    assert text(built, "models/model/formatters.py") == CODE
    assert "formatters/warmstack_formatters.py" in built.files
