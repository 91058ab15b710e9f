"""Which server an image is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from warmstack.assembly.definitions import Server
from warmstack.assembly.dockerfile import label

# Repositories of AWS's registry (facts of 2026-11: the SDK's image_uri_config and the Deep Learning Containers).
_REPOSITORIES: Mapping[str, Server] = {
    "djl-inference": "lmi",
    "vllm": "vllm",
    "huggingface-vllm": "vllm",
    "sglang": "sglang",
    "huggingface-sglang": "sglang",
}
_LABELS: Mapping[str, Server] = {"lmi": "lmi", "vllm": "vllm", "sglang": "sglang"}
_PREFIXES: tuple[tuple[tuple[str, ...], Server], ...] = (
    (("SM_VLLM_",), "vllm"),
    (("SM_SGLANG_",), "sglang"),
    (("OPTION_", "SERVING_"), "lmi"),
)
# DJL reads these without a prefix (serving's configuration guide), and nothing else does.
_LMI_NAMES = ("TENSOR_PARALLEL_DEGREE", "HF_MODEL_ID")


def server_of(image: str, staged: Path | None, environment: Mapping[str, str]) -> Server | None:
    """Return the server: by the image's repository, else by its own label, else by its environment."""
    repository = image.rsplit("@", 1)[0].rsplit("/", 1)[-1].split(":", 1)[0]
    known = _REPOSITORIES.get(repository)
    if known is not None:
        return known
    labelled = _LABELS.get((label(staged, "com.warmstack.server") or "") if staged is not None else "")
    if labelled is not None:
        return labelled
    for starts, server in _PREFIXES:
        if any(name.startswith(starts) for name in environment):
            return server
    return "lmi" if any(name in environment for name in _LMI_NAMES) else None
