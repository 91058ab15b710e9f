"""The weights of a model, part by part: which modules a layer has and how many weights each holds.

Module names are those of the Hugging Face checkpoints without the layer's prefix, so that the module lists of
quantized checkpoints can be matched against them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warmstack.catalog.layout_mixers import (
    Module,
    indexer_modules,
    linear_modules,
    mamba_modules,
    mla_modules,
    vision_modules,
)
from warmstack.catalog.shapes import CHUNKED, FULL, LINEAR, MAMBA, MLP_ONLY, SLIDING, ExpertShape, ModelShape
from warmstack.errors import CatalogError

EMBEDDING = "embed_tokens"
OUTPUT_HEAD = "lm_head"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterPart:
    """Weights of one module, in all the layers that have it.

    Attributes:
        module: the module's name, ``self_attn.q_proj``.
        layer_indices: the layers that have it; empty for what is outside the layers.
        per_layer: weights in one of them.
        kind: ``linear`` and ``expert`` are what quantization formats shrink; ``other`` keeps the model's
            type.
        active_share: the share of the weights that one token uses (less than 1 for routed experts); None
            where the config does not state how many experts a token uses.
    """

    module: str
    layer_indices: tuple[int, ...]
    per_layer: int
    kind: str
    active_share: float | None = 1.0

    @property
    def in_layer(self) -> bool:
        """The module is inside a layer."""
        return bool(self.layer_indices)

    @property
    def layers(self) -> int:
        """How many of it there are: one for what is outside the layers."""
        return len(self.layer_indices) or 1

    @property
    def total(self) -> int:
        """Weights in all layers."""
        return self.layers * self.per_layer


def parameter_parts(shape: ModelShape) -> tuple[ParameterPart, ...]:
    """Return every weight of a model once, without the layers for multi-token prediction.

    Raises:
        CatalogError: the catalog does not understand the model's layout.
    """
    _require_complete(shape)
    parts = list(_outside(shape))
    for kind in dict.fromkeys(shape.kinds):
        parts.extend(_parts(_mixer_modules(shape, kind), _indices(shape, kind)))
    if shape.mla is not None and shape.mla.index_layers:
        parts.extend(_parts(indexer_modules(shape.mla, hidden=shape.hidden_size), shape.mla.index_layers))
    parts.extend(_feed_forward(shape))
    every = tuple(range(shape.num_layers))
    parts.append(_other("input_layernorm", every, shape.norms_per_layer * shape.hidden_size))
    return tuple(part for part in parts if part.total > 0)


def next_token_parts(shape: ModelShape) -> tuple[ParameterPart, ...] | None:
    """Return the weights of the layers for multi-token prediction that the main model does not share.

    They are loaded only for speculation. None where their layout is not known; only DeepSeek's is: a latent
    attention layer with experts, a projection from twice the width, and three norms (DeepSeek-V3 report,
    2.2).
    """
    _require_complete(shape)
    if shape.next_token_layers == 0:
        return ()
    if shape.mla is None or shape.experts is None:
        return None
    count, hidden = shape.next_token_layers, shape.hidden_size
    modules = [*_mixer_modules(shape, FULL), *_expert_modules(shape.experts, hidden, prefix="mlp")]
    modules += indexer_modules(shape.mla, hidden=hidden)
    modules.append(Module(name="eh_proj", weights=2 * hidden * hidden, kind="other"))
    modules.append(Module(name="layernorms", weights=(shape.norms_per_layer + 3) * hidden, kind="other"))
    after = tuple(range(shape.num_layers, shape.num_layers + count))
    return tuple(_parts(modules, after, experts=shape.experts))


def _require_complete(shape: ModelShape) -> None:
    if not shape.complete:
        raise CatalogError(f"the sizes of {shape.id} are not known: {shape.incomplete_reason}")


def _outside(shape: ModelShape) -> Iterator[ParameterPart]:
    table = shape.vocab_size * shape.hidden_size
    yield ParameterPart(module=EMBEDDING, layer_indices=(), per_layer=table, kind="other")
    if not shape.tie_word_embeddings:
        yield ParameterPart(module=OUTPUT_HEAD, layer_indices=(), per_layer=table, kind="other")
    yield ParameterPart(module="norm", layer_indices=(), per_layer=shape.hidden_size, kind="other")
    if shape.vision is not None:
        for module in vision_modules(shape.vision):
            yield ParameterPart(module=module.name, layer_indices=(), per_layer=module.weights, kind=module.kind)


def _parts(
    modules: list[Module], layer_indices: tuple[int, ...], *, experts: ExpertShape | None = None
) -> Iterator[ParameterPart]:
    for module in modules:
        share: float | None = 1.0
        if module.kind == "expert" and experts is not None:
            share = None if experts.per_token is None else experts.per_token / experts.num_experts
        yield ParameterPart(
            module=module.name,
            layer_indices=layer_indices,
            per_layer=module.weights,
            kind="linear" if module.kind == "expert" and experts is None else module.kind,
            active_share=share,
        )


def _other(module: str, layer_indices: tuple[int, ...], per_layer: int) -> ParameterPart:
    return ParameterPart(module=module, layer_indices=layer_indices, per_layer=per_layer, kind="other")


def _indices(shape: ModelShape, kind: str) -> tuple[int, ...]:
    return tuple(index for index, found in enumerate(shape.kinds) if found == kind)


def _mixer_modules(shape: ModelShape, kind: str) -> list[Module]:
    """Return the attention (or what stands in its place) of one layer of a kind."""
    if kind in (FULL, SLIDING, CHUNKED):
        if shape.mla is not None:
            return mla_modules(shape.mla, hidden=shape.hidden_size, num_heads=shape.num_attention_heads)
        return _attention_modules(shape, kind)
    if kind == LINEAR and shape.linear_attention is not None:
        return linear_modules(shape.linear_attention, hidden=shape.hidden_size)
    if kind == MAMBA and shape.mamba is not None:
        return mamba_modules(shape.mamba, hidden=shape.hidden_size)
    return []


def _attention_modules(shape: ModelShape, kind: str) -> list[Module]:
    heads, hidden = shape.heads_of(kind), shape.hidden_size
    prefix = "mixer" if shape.single_mixer_layers else "self_attn"
    query = heads.num_heads * heads.head_dim * (2 if shape.query_gate else 1)
    key = heads.num_key_value_heads * heads.head_dim
    value = 0 if heads.value_from_key else heads.num_key_value_heads * heads.value_head_dim
    modules = [
        Module(name=f"{prefix}.q_proj", weights=hidden * query, kind="linear"),
        Module(name=f"{prefix}.k_proj", weights=hidden * key, kind="linear"),
        Module(name=f"{prefix}.v_proj", weights=hidden * value, kind="linear"),
        Module(name=f"{prefix}.o_proj", weights=heads.num_heads * heads.value_head_dim * hidden, kind="linear"),
    ]
    small = query + key + value if shape.attention_bias else 0
    small += hidden if shape.output_bias else 0
    if shape.qk_norm == "head":
        small += 2 * heads.head_dim
    elif shape.qk_norm == "layer":
        small += heads.num_heads * heads.head_dim + key
    if kind in shape.attention_sinks:
        small += heads.num_heads
    modules.append(Module(name=f"{prefix}.small", weights=small, kind="other"))
    return modules


def _feed_forward(shape: ModelShape) -> Iterator[ParameterPart]:
    experts, prefix = shape.experts, "mixer" if shape.single_mixer_layers else "mlp"
    mixed: tuple[int, ...] = ()
    if experts is not None:
        mixed = experts.layers
        # Why: where a layer has a plain MLP too, the checkpoint names the experts beside it and not under it.
        modules = _expert_modules(experts, shape.hidden_size, prefix="" if experts.beside_mlp else prefix)
        yield from _parts(modules, mixed, experts=experts)
    if shape.intermediate_size is None:
        return
    if shape.single_mixer_layers:
        dense = _indices(shape, MLP_ONLY)
    elif experts is not None and experts.beside_mlp:
        dense = tuple(range(shape.num_layers))
    else:
        dense = tuple(sorted(set(range(shape.num_layers)) - set(mixed)))
    if not dense:
        return
    names = ("up_proj", "down_proj") if shape.mlp_matrices == 2 else ("gate_proj", "up_proj", "down_proj")
    matrix = shape.hidden_size * shape.intermediate_size
    yield from _parts([Module(name=f"{prefix}.{name}", weights=matrix, kind="linear") for name in names], dense)
    if shape.mlp_bias:
        yield _other(f"{prefix}.bias", dense, (len(names) - 1) * shape.intermediate_size + shape.hidden_size)


def _expert_modules(experts: ExpertShape, hidden: int, *, prefix: str) -> list[Module]:
    """Return the mixture of one layer: routed experts, shared experts, router and what belongs to them."""
    under = f"{prefix}." if prefix else ""
    outer = experts.latent_size or hidden
    names = ("up_proj", "down_proj") if experts.matrices == 2 else ("gate_proj", "up_proj", "down_proj")
    width, shared = experts.moe_intermediate_size, experts.shared_intermediate_size
    modules = [
        Module(name=f"{under}experts.#.{name}", weights=experts.num_experts * outer * width, kind="expert")
        for name in names
    ]
    modules += [Module(name=f"{under}shared_experts.{name}", weights=hidden * shared, kind="linear") for name in names]
    if experts.latent_size is not None:
        modules += [
            Module(name=f"{under}{name}", weights=hidden * experts.latent_size, kind="linear")
            for name in ("fc1_latent_proj", "fc2_latent_proj")
        ]
    router = experts.num_experts * (hidden + (1 if experts.router_bias else 0))
    modules.append(Module(name=f"{under}gate", weights=router, kind="other"))
    if experts.shared_gate:
        modules.append(Module(name=f"{under}shared_expert_gate", weights=hidden, kind="other"))
    if experts.expert_bias:
        # gate, up and down biases of every expert; only the chosen experts' are used, which rounds to
        # nothing.
        bias = experts.num_experts * (2 * width + hidden)
        modules.append(Module(name=f"{under}experts.bias", weights=bias, kind="other"))
    return modules
