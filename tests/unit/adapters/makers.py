"""Tiny adapters and odd archives, made on the spot."""

from __future__ import annotations

import gzip
import io
import json
import math
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SIZES = {"F64": 8, "F32": 4, "BF16": 2, "F16": 2, "I8": 1, "F8_E4M3": 1}
# Llama 3.1 8B: what goes into its layers and what comes out.
LLAMA = {"q_proj": (4096, 4096), "k_proj": (4096, 1024), "v_proj": (4096, 1024), "o_proj": (4096, 4096)}
CONFIG: dict[str, Any] = {
    "peft_type": "LORA",
    "r": 2,
    "lora_alpha": 4,
    "target_modules": ["q_proj", "v_proj"],
    "bias": "none",
    "modules_to_save": None,
    "base_model_name_or_path": "meta-llama/Llama-3.1-8B-Instruct",
}
Member = tuple[tarfile.TarInfo, bytes]
Shapes = Mapping[str, Sequence[int]]


def lora(module: str, rank: int = 2, sizes: tuple[int, int] = (4096, 4096)) -> dict[str, tuple[int, int]]:
    """The two tensors of a module."""
    name = f"base_model.model.{module}"
    return {f"{name}.lora_A.weight": (rank, sizes[0]), f"{name}.lora_B.weight": (sizes[1], rank)}


def attention(module: str, layer: int = 0, rank: int = 2) -> dict[str, tuple[int, int]]:
    return lora(f"model.layers.{layer}.self_attn.{module}", rank, LLAMA[module])


GOOD: Shapes = {**attention("q_proj"), **attention("v_proj")}


def safetensors(shapes: Shapes, dtype: str = "BF16", header: Mapping[str, Any] | None = None) -> bytes:
    """A file with tensors of zeros; ``header`` replaces entries of its header."""
    entries: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, shape in shapes.items():
        size = math.prod(shape) * SIZES[dtype]
        entries[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps({**entries, **(header or {})}).encode()
    return len(text).to_bytes(8, "little") + text + bytes(at)


def adapter(
    folder: Path, config: Mapping[str, Any] | None = None, shapes: Shapes = GOOD, dtype: str = "BF16", **files: str
) -> Path:
    """A folder as save_pretrained writes it; more files by their names, with ``__`` for the dot."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_config.json").write_text(json.dumps({**CONFIG, **(config or {})}), encoding="utf-8")
    (folder / "adapter_model.safetensors").write_bytes(safetensors(shapes, dtype))
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return folder


def member(name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = "") -> Member:
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname = kind, len(data), link
    return info, data


def archive(path: Path, *members: Member, good: bool = True) -> Path:
    """An archive of these members, behind those of a good adapter."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT, errors="surrogateescape") as tar:
        first = [
            member("adapter_config.json", json.dumps(CONFIG).encode()),
            member("adapter_model.safetensors", safetensors(GOOD)),
        ]
        for info, data in [*(first if good else ()), *members]:
            tar.addfile(info, io.BytesIO(data))
    path.write_bytes(gzip.compress(stream.getvalue(), 1, mtime=0))
    return path
