"""How many weights a model has, and how many bytes they take in GPU memory.

Weights only: the KV cache is in ``kv.py``, activations and CUDA graphs are the memory plan's affair. The
layers for multi-token prediction are left out, because an engine loads them only for speculation.
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass

from warmstack.catalog import (
    ModelShape,
    ModulePattern,
    ParameterPart,
    QuantizationShape,
    next_token_parts,
    parameter_parts,
)

_DTYPE_BYTES = {
    "float32": 4,
    "fp32": 4,
    "float": 4,
    "bfloat16": 2,
    "bf16": 2,
    "float16": 2,
    "fp16": 2,
    "half": 2,
}
# What an engine's own `quantization` option makes of weights that the checkpoint does not quantize. The names
# are those of vLLM 0.32 and SGLang 0.5.23; bits include the scales (see warmstack.catalog.quantization).
_ENGINE_QUANTIZATION = {
    "fp8": (8.0, "FP8 made by the engine while loading"),
    "mxfp8": (8.25, "MXFP8 made by the engine while loading"),
    "awq": (4.15625, "AWQ, groups of 128 assumed"),
    "awq_marlin": (4.15625, "AWQ, groups of 128 assumed"),
    "gptq": (4.15625, "GPTQ, groups of 128 assumed"),
    "gptq_marlin": (4.15625, "GPTQ, groups of 128 assumed"),
    "modelopt": (8.0, "ModelOpt FP8"),
    "modelopt_fp8": (8.0, "ModelOpt FP8"),
    "modelopt_fp4": (4.5, "ModelOpt NVFP4"),
    "mxfp4": (4.25, "MXFP4"),
    "bitsandbytes": (4.5, "bitsandbytes 4 bits, a 32-bit scale for 64 weights"),
}


# Modules that no format shrinks: an entry with one of these words agrees with the layout without more ado.
_NEVER_QUANTIZED = (
    "lm_head",
    "embed",
    "norm",
    "gate",
    "router",
    "e_score_correction_bias",
    "conv1d",
    "indexers_proj",
    "visual",
    "vision",
    "mm_projector",
    "mtp",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightBytes:
    """The bytes of a model's weights on all GPUs together, before any replication by tensor parallelism.

    Attributes:
        total_bytes: bytes of all weights.
        bits_per_weight: the average, scales included.
        description: the format in words.
        exact: the layout, the stored type and the format are all known.
        reason: why the figure is exact, or what about it is not.
    """

    total_bytes: int
    bits_per_weight: float
    description: str
    exact: bool
    reason: str


def parameter_count(shape: ModelShape) -> int:
    """Return the weights of a model, without the layers for multi-token prediction.

    Raises:
        CatalogError: the model's layout is not understood (``shape.complete`` is false).
    """
    return sum(part.total for part in parameter_parts(shape))


def active_parameter_count(shape: ModelShape) -> int | None:
    """Return the weights that one token uses, embeddings counted whole; None if that is not stated.

    For a model without experts this is every weight. The vision tower counts as used.

    Raises:
        CatalogError: the model's layout is not understood.
    """
    total = 0.0
    for part in parameter_parts(shape):
        if part.active_share is None:
            return None
        total += part.total * part.active_share
    return round(total)


def next_token_parameter_count(shape: ModelShape) -> int | None:
    """Return the weights of the layers for multi-token prediction; None where their layout is not known.

    Raises:
        CatalogError: the model's layout is not understood.
    """
    parts = next_token_parts(shape)
    return None if parts is None else sum(part.total for part in parts)


def weight_bytes(shape: ModelShape, *, dtype: str | None = None, quantization: str | None = None) -> WeightBytes:
    """Return the bytes that the weights take once loaded.

    Args:
        shape: the model.
        dtype: the engine's ``dtype`` for weights that are not quantized; None or ``auto`` is the model's own.
        quantization: the engine's ``quantization``; None is the checkpoint's own. A checkpoint that is
            quantized keeps its own format whatever this says, as engines do.

    Raises:
        CatalogError: the model's layout is not understood.
    """
    parts = parameter_parts(shape)
    weights = sum(part.total for part in parts)
    stored = shape.dtype if dtype in (None, "auto") else str(dtype)
    plain_bits = 8 * _DTYPE_BYTES.get(stored, 2)
    doubts = list(shape.notes)
    if stored not in _DTYPE_BYTES:
        doubts.append(f"dtype {stored!r} is not known: two bytes a weight assumed")
    scheme = shape.quantization
    if scheme is None and quantization is not None:
        scheme = _engine_scheme(quantization, doubts)
    if scheme is None:
        total_bits = float(weights * plain_bits)
        description = stored
    else:
        total_bits = sum(part.total * _part_bits(part, scheme, plain_bits) for part in parts)
        description = f"{scheme.description}; the rest {stored}"
        if scheme.weight_bits is None and not scheme.overrides:
            doubts.append(f"{scheme.description}: counted at {plain_bits} bits a weight, an upper bound")
        doubts.extend(_kept_doubts(scheme, parts))
    return WeightBytes(
        total_bytes=round(total_bits / 8),
        bits_per_weight=total_bits / weights,
        description=description,
        exact=not doubts,
        reason="; ".join(doubts) or "layout, type and format are known",
    )


def _engine_scheme(quantization: str, doubts: list[str]) -> QuantizationShape | None:
    found = _ENGINE_QUANTIZATION.get(quantization)
    if found is None:
        doubts.append(f"quantization {quantization!r} is not known: counted as not quantized, an upper bound")
        return None
    bits, description = found
    doubts.append("the catalog's shape is not quantized: what the engine leaves alone is assumed")
    return QuantizationShape(
        method=quantization,
        weight_bits=bits,
        description=description,
        experts_only=quantization == "mxfp4",
    )


def _kept_doubts(scheme: QuantizationShape, parts: tuple[ParameterPart, ...]) -> list[str]:
    """Return what is not known of the modules that a checkpoint leaves alone."""
    if not scheme.kept_known:
        return ["which modules the checkpoint leaves alone is not known: every linear one is counted quantized"]
    unknown = [
        entry.pattern
        for entry in scheme.kept
        if not any(word in entry.pattern for word in _NEVER_QUANTIZED)
        and not any(_matches(entry.pattern, part) for part in parts)
    ]
    if unknown:
        return [f"the checkpoint leaves modules alone that the layout does not know: {', '.join(unknown)}"]
    return []


def _part_bits(part: ParameterPart, scheme: QuantizationShape, plain_bits: int) -> float:
    """Return the bits of one weight of a part, averaged over its layers."""
    for entry, bits in scheme.overrides:
        if _matches(entry.pattern, part):
            share = _share_of_layers(entry, part)
            return share * bits + (1 - share) * plain_bits
    shrinkable = part.kind == "expert" or (part.kind == "linear" and not scheme.experts_only)
    if not shrinkable or scheme.weight_bits is None:
        return float(plain_bits)
    kept: set[int] = set()
    for entry in scheme.kept:
        if _matches(entry.pattern, part):
            kept.update(entry.layers or part.layer_indices or (0,))
    kept_share = len(kept & set(part.layer_indices or (0,))) / part.layers
    return kept_share * plain_bits + (1 - kept_share) * scheme.weight_bits


def _share_of_layers(entry: ModulePattern, part: ParameterPart) -> float:
    if not entry.layers:
        return 1.0
    return len(set(entry.layers) & set(part.layer_indices)) / part.layers


def _matches(pattern: str, part: ParameterPart) -> bool:
    """Return whether an entry of a checkpoint's module list names a part, whatever its layers.

    Entries come as regular expressions (``re:…``), with wildcards, as full names, or as one word of a name.
    """
    path = f"model.layers.#.{part.module}" if part.in_layer else part.module
    # Checkpoints differ in what they call the same module.
    names = {path, path.replace("shared_experts", "shared_expert"), path.replace("mlp.", "block_sparse_moe.")}
    if pattern.startswith("re:"):
        return any(re.match(pattern[3:], name) for name in names)
    if "." not in pattern and "*" not in pattern:
        return any(pattern in name.split(".") for name in names)
    # Why: owners put the layers under model., language_model.model., backbone. and more.
    tail = _from_layers(pattern)
    return any(
        fnmatch.fnmatchcase(_from_layers(name), tail)
        or fnmatch.fnmatchcase(name, tail)
        or _from_layers(name).startswith(tail.rstrip("*.") + ".")
        for name in names
    )


def _from_layers(name: str) -> str:
    start = name.find("layers.#")
    return name if start < 0 else name[start:]
