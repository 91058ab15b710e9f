"""The ``quantization_config`` of a checkpoint, read into bits a weight and the modules left alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from warmstack.catalog.shapes import ModulePattern, QuantizationShape

# Bits of one weight with its scales. Sources: OCP Microscaling 1.0 (MX: 32 elements share an 8-bit scale);
# NVFP4: 16 elements share an 8-bit scale (NVIDIA ModelOpt); AWQ and GPTQ: a 16-bit scale and a 4-bit zero
# point for each group, 128 by default.
MXFP4_BITS = 4 + 8 / 32
MXFP8_BITS = 8 + 8 / 32
NVFP4_BITS = 4 + 8 / 16
_ALGORITHM_BITS = {
    "FP8": 8.0,
    "NVFP4": NVFP4_BITS,
    "W4A16_NVFP4": NVFP4_BITS,
    "MXFP4": MXFP4_BITS,
    "MXFP8": MXFP8_BITS,
}
_Kept = tuple[ModulePattern, ...]
_LAYER = re.compile(r"layers\.([0-9]+)(?=\.|\*|$)")


def int4_bits(group_size: int, *, zero_points: bool) -> float:
    """Return the bits of a 4-bit weight whose group shares a 16-bit scale and maybe a 4-bit zero point."""
    return 4 + (16 + (4 if zero_points else 0)) / group_size


def read_quantization(config: Mapping[str, Any] | None, *, num_layers: int) -> QuantizationShape | None:
    """Return how the checkpoint is quantized; None when the config names nothing.

    Args:
        config: the ``quantization_config`` of config.json, or the ``quantization`` of ModelOpt's
            hf_quant_config.json.
        num_layers: hidden layers, to leave out the entries of the layers for multi-token prediction.
    """
    if not config:
        return None
    kept = fold_modules(
        [entry for key in ("modules_to_not_convert", "ignore", "exclude_modules") for entry in config.get(key) or ()],
        num_layers=num_layers,
    )
    algorithm = str(config.get("quant_algo") or "").upper()
    method = str(config.get("quant_method") or "").lower()
    if algorithm == "MIXED_PRECISION" or config.get("quantized_layers"):
        return _mixed(config, kept, num_layers=num_layers)
    if algorithm in _ALGORITHM_BITS:
        name = algorithm.lower().removeprefix("w4a16_")
        return QuantizationShape(
            method=name,
            weight_bits=_ALGORITHM_BITS[algorithm],
            description=f"{algorithm} by ModelOpt",
            kept=kept,
            # Why: ModelOpt leaves different modules alone in each checkpoint and says so in its list only.
            kept_known=bool(kept),
        )
    if method == "fp8":
        return _fp8(config, kept)
    if method == "mxfp4":
        return QuantizationShape(
            method="mxfp4",
            weight_bits=MXFP4_BITS,
            description="MXFP4 experts (4 bits, an 8-bit scale for 32 weights)",
            kept=kept,
            experts_only=True,
        )
    if method in ("awq", "gptq"):
        return _grouped_int(method, config, kept)
    if method == "compressed-tensors":
        return _compressed_tensors(config, kept)
    name = method or algorithm.lower() or "unknown"
    return _shape(name, None, f"{name}: a format that the catalog does not know", kept)


def fold_modules(entries: Iterable[Any], *, num_layers: int) -> tuple[ModulePattern, ...]:
    """Return the entries of a module list with ``#`` for the layer and the layers beside it.

    Checkpoints list modules layer by layer, thousands of lines; entries of layers at ``num_layers`` and above
    belong to multi-token prediction and are dropped. An entry may be folded already: ``[pattern, "0-2,5"]``.
    """
    layers: dict[str, set[int]] = {}
    for entry in entries:
        if not isinstance(entry, str):
            pattern, numbers = entry
            layers.setdefault(str(pattern), set()).update(_parse_numbers(str(numbers)))
            continue
        match = _LAYER.search(entry)
        if match is not None and int(match[1]) >= num_layers:
            continue
        pattern = re.sub(r"experts\.[0-9]+", "experts.#", _LAYER.sub("layers.#", entry))
        pattern = pattern.replace("layers.*.", "layers.#.")
        layers.setdefault(pattern, set()).update({int(match[1])} if match is not None else ())
    return tuple(
        ModulePattern(pattern=pattern, layers=tuple(sorted(numbers))) for pattern, numbers in sorted(layers.items())
    )


def format_numbers(numbers: Iterable[int]) -> str:
    """Return numbers as ranges, ``0-2,5``: the form in which a folded list is stored."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


def _parse_numbers(text: str) -> set[int]:
    numbers: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return numbers


def _shape(method: str, bits: float | None, description: str, kept: _Kept) -> QuantizationShape:
    return QuantizationShape(method=method, weight_bits=bits, description=description, kept=kept)


def _fp8(config: Mapping[str, Any], kept: _Kept) -> QuantizationShape:
    block = config.get("weight_block_size")
    if not block:
        return _shape("fp8", 8.0, "FP8, one scale a tensor", kept)
    rows, columns = (int(size) for size in block)
    bits = 8 + 32 / (rows * columns)
    return _shape("fp8", bits, f"FP8, a 32-bit scale for {rows}x{columns} weights", kept)


def _grouped_int(method: str, config: Mapping[str, Any], kept: _Kept) -> QuantizationShape:
    bits, group = int(config.get("bits") or 4), int(config.get("group_size") or 128)
    # Why: group_size -1 means one scale a row, which rounds to nothing.
    scale = 0.0 if group < 0 else (16 + bits) / group
    return _shape(method, bits + scale, f"{method.upper()} {bits} bits, groups of {group}", kept)


def _compressed_tensors(config: Mapping[str, Any], kept: _Kept) -> QuantizationShape:
    groups = [group.get("weights") or {} for group in (config.get("config_groups") or {}).values()]
    if len(groups) != 1 or not groups[0].get("num_bits"):
        return _shape("compressed-tensors", None, "compressed-tensors with several weight groups", kept)
    weights, layout = groups[0], str(config.get("format") or "")
    bits, group, kind = int(weights["num_bits"]), weights.get("group_size"), weights.get("type")
    if layout.startswith("mxfp4"):
        return _shape("mxfp4", MXFP4_BITS, "MXFP4 by compressed-tensors", kept)
    if layout.startswith("nvfp4"):
        return _shape("nvfp4", NVFP4_BITS, "NVFP4 by compressed-tensors", kept)
    if bits == 4 and kind == "int" and group:
        symmetric = bool(weights.get("symmetric", True))
        stored = int4_bits(int(group), zero_points=not symmetric)
        return _shape("int4", stored, f"INT4 by compressed-tensors, groups of {group}", kept)
    if bits == 8:
        return _shape(f"{kind or 'fp'}8", 8.0, f"8-bit {kind or ''} weights by compressed-tensors", kept)
    return _shape("compressed-tensors", None, f"compressed-tensors {bits}-bit {kind}", kept)


def _mixed(config: Mapping[str, Any], kept: _Kept, *, num_layers: int) -> QuantizationShape:
    by_algorithm: dict[str, list[Any]] = {}
    for name, layer in (config.get("quantized_layers") or {}).items():
        by_algorithm.setdefault(str(layer.get("quant_algo") or "").upper(), []).append(name)
    overrides: list[tuple[ModulePattern, float]] = []
    for algorithm, names in by_algorithm.items():
        if algorithm not in _ALGORITHM_BITS:
            return _shape("mixed", None, f"mixed precision with {algorithm or 'an unnamed format'}", kept)
        patterns = fold_modules(names, num_layers=num_layers)
        overrides.extend((pattern, _ALGORITHM_BITS[algorithm]) for pattern in patterns)
    formats = ", ".join(sorted(by_algorithm)) or "no layer listed"
    return QuantizationShape(
        method="mixed",
        # Why: with a list of quantized layers, what is not in the list is not quantized.
        weight_bits=None,
        description=f"mixed precision by ModelOpt: {formats}",
        kept=kept,
        overrides=tuple(overrides),
    )
