"""The ``quantization_config`` of a checkpoint, read into bits a weight and the modules left alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warmstack.catalog.config_bounds import MAX_WIDTH, shown, whole_number
from warmstack.catalog.config_values import mapping_or_none, text_or_none
from warmstack.catalog.module_patterns import fold_modules
from warmstack.catalog.shapes import ModulePattern, QuantizationShape
from warmstack.errors import CatalogError

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
_MODULE_LISTS = ("modules_to_not_convert", "ignore", "exclude_modules")
# A quantized weight is no wider than the types that models are stored in.
_MOST_BITS = 32
_Kept = tuple[ModulePattern, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fields:
    """One object of the config, with messages that name it: ``acme/config.json: quantization_config``."""

    values: Mapping[str, Any]
    where: str

    def place(self, key: str) -> str:
        return f"{self.where}.{key}"

    def text(self, key: str) -> str:
        return text_or_none(self.values.get(key), self.place(key)) or ""

    def inner(self, key: str) -> _Fields:
        """Return an object inside this one; a missing one is empty."""
        return _Fields(values=mapping_or_none(self.values.get(key), self.place(key)) or {}, where=self.place(key))

    def bits(self, key: str, default: int | None) -> int | None:
        found = self.values.get(key)
        return default if found is None else whole_number(found, self.place(key), 1, _MOST_BITS)

    def group_size(self, default: int | None) -> int | None:
        """Return the weights that share a scale; -1 means one scale a row."""
        found = self.values.get("group_size")
        if found is None:
            return default
        if isinstance(found, int) and found == -1:
            return -1
        return whole_number(found, self.place("group_size"), 1, MAX_WIDTH)

    def modules(self, key: str, *, num_layers: int) -> _Kept:
        found = self.values.get(key)
        if found is None:
            return ()
        if not isinstance(found, list):
            raise CatalogError(f"{self.place(key)} is {shown(found)}; it must be a list of texts")
        return fold_modules(found, num_layers=num_layers, where=self.place(key))


def int4_bits(group_size: int, *, zero_points: bool) -> float:
    """Return the bits of a 4-bit weight whose group shares a 16-bit scale and maybe a 4-bit zero point."""
    return 4 + (16 + (4 if zero_points else 0)) / group_size


def read_quantization(
    config: Mapping[str, Any] | None, *, num_layers: int, where: str = "quantization_config"
) -> QuantizationShape | None:
    """Return how the checkpoint is quantized; None when the config names nothing.

    Args:
        config: the ``quantization_config`` of config.json, or the ``quantization`` of ModelOpt's
            hf_quant_config.json.
        num_layers: hidden layers, to leave out the entries of the layers for multi-token prediction.
        where: the file and the field, for messages.

    Raises:
        CatalogError: a value is not of its type, or outside of what it can be.
    """
    if not config:
        return None
    fields = _Fields(values=config, where=where)
    kept = _kept(fields, num_layers=num_layers)
    algorithm = fields.text("quant_algo").upper()
    method = fields.text("quant_method").lower()
    if algorithm == "MIXED_PRECISION" or fields.inner("quantized_layers").values:
        return _mixed(fields, kept, num_layers=num_layers)
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
        return _fp8(fields, kept)
    if method == "mxfp4":
        return QuantizationShape(
            method="mxfp4",
            weight_bits=MXFP4_BITS,
            description="MXFP4 experts (4 bits, an 8-bit scale for 32 weights)",
            kept=kept,
            experts_only=True,
        )
    if method in ("awq", "gptq"):
        return _grouped_int(method, fields, kept)
    if method == "compressed-tensors":
        return _compressed_tensors(fields, kept)
    name = method or algorithm.lower() or "unknown"
    return _shape(name, None, f"{name}: a format that the catalog does not know", kept)


def _kept(fields: _Fields, *, num_layers: int) -> _Kept:
    """Return the modules left alone; a checkpoint uses one of the three names, but may use more."""
    layers: dict[str, set[int]] = {}
    for key in _MODULE_LISTS:
        for entry in fields.modules(key, num_layers=num_layers):
            layers.setdefault(entry.pattern, set()).update(entry.layers)
    return tuple(
        ModulePattern(pattern=pattern, layers=tuple(sorted(numbers))) for pattern, numbers in sorted(layers.items())
    )


def _shape(method: str, bits: float | None, description: str, kept: _Kept) -> QuantizationShape:
    return QuantizationShape(method=method, weight_bits=bits, description=description, kept=kept)


def _fp8(fields: _Fields, kept: _Kept) -> QuantizationShape:
    block, where = fields.values.get("weight_block_size"), fields.place("weight_block_size")
    if block is None:
        return _shape("fp8", 8.0, "FP8, one scale a tensor", kept)
    if not isinstance(block, list) or len(block) != 2:
        raise CatalogError(f"{where} is {shown(block)}; it must be a list of two whole numbers")
    rows, columns = (whole_number(size, f"{where}[{index}]", 1, MAX_WIDTH) for index, size in enumerate(block))
    bits = 8 + 32 / (rows * columns)
    return _shape("fp8", bits, f"FP8, a 32-bit scale for {rows}x{columns} weights", kept)


def _grouped_int(method: str, fields: _Fields, kept: _Kept) -> QuantizationShape:
    bits, group = fields.bits("bits", 4) or 4, fields.group_size(128) or 128
    # Why: group_size -1 means one scale a row, which rounds to nothing.
    scale = 0.0 if group < 0 else (16 + bits) / group
    return _shape(method, bits + scale, f"{method.upper()} {bits} bits, groups of {group}", kept)


def _compressed_tensors(fields: _Fields, kept: _Kept) -> QuantizationShape:
    groups = fields.inner("config_groups")
    for name, group in groups.values.items():
        if group is None:
            raise CatalogError(f"{groups.place(name)} is None; it must be an object")
    found = [groups.inner(name).inner("weights") for name in groups.values]
    bits = found[0].bits("num_bits", None) if len(found) == 1 else None
    if bits is None:
        return _shape("compressed-tensors", None, "compressed-tensors with several weight groups", kept)
    weights, layout = found[0], fields.text("format")
    group_size, kind = weights.group_size(None), weights.text("type")
    if layout.startswith("mxfp4"):
        return _shape("mxfp4", MXFP4_BITS, "MXFP4 by compressed-tensors", kept)
    if layout.startswith("nvfp4"):
        return _shape("nvfp4", NVFP4_BITS, "NVFP4 by compressed-tensors", kept)
    if bits == 4 and kind == "int" and group_size is not None:
        symmetric = weights.values.get("symmetric")
        if symmetric is not None and not isinstance(symmetric, bool):
            raise CatalogError(f"{weights.place('symmetric')} is {shown(symmetric)}; it must be true or false")
        stored = 4.0 if group_size < 0 else int4_bits(group_size, zero_points=symmetric is False)
        return _shape("int4", stored, f"INT4 by compressed-tensors, groups of {group_size}", kept)
    if bits == 8:
        return _shape(f"{kind or 'fp'}8", 8.0, f"8-bit {kind} weights by compressed-tensors", kept)
    return _shape("compressed-tensors", None, f"compressed-tensors {bits}-bit {kind}", kept)


def _mixed(fields: _Fields, kept: _Kept, *, num_layers: int) -> QuantizationShape:
    quantized = fields.inner("quantized_layers")
    by_algorithm: dict[str, list[Any]] = {}
    for name in quantized.values:
        by_algorithm.setdefault(quantized.inner(name).text("quant_algo").upper(), []).append(name)
    overrides: list[tuple[ModulePattern, float]] = []
    for algorithm, names in by_algorithm.items():
        if algorithm not in _ALGORITHM_BITS:
            return _shape("mixed", None, f"mixed precision with {algorithm or 'an unnamed format'}", kept)
        patterns = fold_modules(names, num_layers=num_layers, where=quantized.where)
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
