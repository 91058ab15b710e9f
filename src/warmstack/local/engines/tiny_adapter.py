"""Small random LoRA adapters for a model, in the files that vLLM reads; each name has its own numbers."""

from __future__ import annotations

import json
import random
from array import array
from collections.abc import Iterator
from pathlib import Path

from warmstack.local.engines.models import LocalModel

RANK = 4
ALPHA = 32
SPREAD_OF_A = 0.1
SPREAD_OF_B = 0.5
"""Far from the zeros that training starts from: the answers are to differ from the base model's."""


def make_adapter(folder: Path, *, name: str, model: LocalModel) -> Path:
    """Write an adapter that fits a model; return its folder.

    Args:
        folder: Where to write it; made if it is not there.
        name: The adapter's name, which alone decides its numbers.
        model: The model.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "base_model_name_or_path": str(model.folder),
        "bias": "none",
        "lora_alpha": ALPHA,
        "lora_dropout": 0.0,
        "peft_type": "LORA",
        "r": RANK,
        "target_modules": ["q_proj", "v_proj"],
        "task_type": "CAUSAL_LM",
    }
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    chance = random.Random(name)
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    body = bytearray()
    for tensor, shape, spread in _tensors(model):
        numbers = array("f", (chance.gauss(0, spread) for _ in range(shape[0] * shape[1])))
        start = len(body)
        body += numbers.tobytes()
        header[tensor] = {"dtype": "F32", "shape": shape, "data_offsets": [start, len(body)]}
    head = json.dumps(header).encode()
    # The format's numbers are little-endian, as is every processor that the engines run on.
    (folder / "adapter_model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + body)
    return folder


def _tensors(model: LocalModel) -> Iterator[tuple[str, tuple[int, int], float]]:
    for layer in range(model.layers):
        for module, width in (("q_proj", model.query_size), ("v_proj", model.key_value_size)):
            prefix = f"base_model.model.model.layers.{layer}.self_attn.{module}"
            yield f"{prefix}.lora_A.weight", (RANK, model.hidden_size), SPREAD_OF_A
            yield f"{prefix}.lora_B.weight", (width, RANK), SPREAD_OF_B
