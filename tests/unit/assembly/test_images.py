"""Servers and what images carry."""

from __future__ import annotations

from pathlib import Path

import pytest

from warmstack.assembly import ModelDefinition, carried_file
from warmstack.assembly.servers import server_of

REGISTRY = "763104351884.dkr.ecr.us-west-2.amazonaws.com"


@pytest.mark.parametrize(("image", "environment", "server"), [
    (f"{REGISTRY}/djl-inference:0.38.0-lmi29.0.0-cu130", {}, "lmi"),
    (f"{REGISTRY}/vllm:0.30.0", {"OPTION_X": "1"}, "vllm"),
    (f"{REGISTRY}/huggingface-vllm:0.29.0", {}, "vllm"),
    (f"{REGISTRY}/sglang@sha256:0123", {}, "sglang"),
    ("ours:1", {"SM_VLLM_MODEL": "x"}, "vllm"),
    ("ours:1", {"SM_SGLANG_TP_SIZE": "1"}, "sglang"),
    ("ours:1", {"OPTION_ASYNC_MODE": "true"}, "lmi"),
    ("ours:1", {"SERVING_FAIL_FAST": "true"}, "lmi"),
    ("ours:1", {"TENSOR_PARALLEL_DEGREE": "1"}, "lmi"),
    ("ours:1", {"HF_MODEL_ID": "x"}, "lmi"),
    ("ours:1", {"OPTION_X": "1", "SM_VLLM_MODEL": "x"}, "vllm"),
    ("vllm/vllm-openai:1", {}, None),
    ("ours:1", {"PATH": "x"}, None),
])  # fmt: skip
def test_the_server_of_an_image(image: str, environment: dict[str, str], server: str | None) -> None:
    assert server_of(image, None, environment) == server


def test_the_label_of_our_images_is_above_the_environment(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(
        'FROM x\nLABEL org.opencontainers.image.title="a b" \\\n      com.warmstack.server="sglang"\n', encoding="utf-8"
    )
    assert server_of("ours:1", tmp_path, {"OPTION_X": "1"}) == "sglang"
    assert server_of(f"{REGISTRY}/vllm:1", tmp_path, {}) == "vllm"
    assert server_of("ours:1", tmp_path / "gone", {"OPTION_X": "1"}) == "lmi"


def model(staged: Path | None) -> ModelDefinition:
    return ModelDefinition(
        name="m",
        logical_id="M",
        image="ours:1",
        environment={},
        server=None,
        model_data=None,
        staged=staged,
        execution_role=None,
    )


@pytest.fixture
def context(tmp_path: Path) -> Path:
    folder = tmp_path / "context"
    (folder / "models/chat").mkdir(parents=True)
    (folder / "models/chat/lmcache.yaml").write_text("chunk_size: 256\n", encoding="utf-8")
    (folder / "one.txt").write_text("1", encoding="utf-8")
    (folder / "two.txt").write_text("2", encoding="utf-8")
    (tmp_path / "secret").write_text("s", encoding="utf-8")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "Dockerfile").write_text(
        "# COPY models /opt/never\n"
        "FROM base AS one\n"
        "COPY models /opt/warmstack/models\n"
        "copy --chown=1:1 one.txt \\\n  two.txt /opt/both/\n"
        'COPY ["one.txt", "/opt/named.txt"]\n'
        "COPY one.txt two.txt /opt/several\n"
        "COPY models /opt/slash/\n"
        "COPY one.txt /opt/over.txt\n"
        "ADD two.txt /opt/over.txt\n"
        "COPY --from=one /a /opt/elsewhere\n"
        "COPY link /opt/link\n"
        "COPY ../secret /opt/outside\n"
        "COPY *.txt /opt/stars/\n"
        'COPY ["broken\n'
        "COPY alone\n",
        encoding="utf-8",
    )
    return folder


@pytest.mark.parametrize(("path", "expected"), [
    ("/opt/warmstack/models/chat/lmcache.yaml", "models/chat/lmcache.yaml"),
    ("/opt/warmstack/models/chat/../chat/lmcache.yaml", "models/chat/lmcache.yaml"),
    ("/opt/warmstack/models", "models"),
    ("/opt/warmstack/models/gone", None),
    ("/opt/warmstack", None),
    ("/opt/both/one.txt", "one.txt"),
    ("/opt/both/two.txt", "two.txt"),
    ("/opt/named.txt", "one.txt"),
    ("/opt/several/two.txt", "two.txt"),
    ("/opt/several", None),
    ("/opt/slash/chat", "models/chat"),
    ("/opt/slash/models", None),
    ("/opt/over.txt", "two.txt"),
    ("/opt/elsewhere", None),
    ("/opt/link", None),
    ("/opt/outside", None),
    ("/opt/stars/one.txt", None),
    ("/opt/never/chat", None),
    ("/opt/\0", None),
])  # fmt: skip
def test_what_an_image_carries(context: Path, path: str, expected: str | None) -> None:
    assert carried_file(model(context), path) == (None if expected is None else context.resolve() / expected)


def test_a_stock_image_carries_nothing(tmp_path: Path) -> None:
    assert carried_file(model(None), "/opt/warmstack/models") is None
    assert carried_file(model(tmp_path), "/opt/warmstack/models") is None
