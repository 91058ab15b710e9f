"""The mixture of experts in a config.json, under the names that each family gives it."""

from __future__ import annotations

from warmstack.catalog.config_values import Values
from warmstack.catalog.families import Family
from warmstack.catalog.shapes import MOE_ONLY, ExpertShape
from warmstack.errors import CatalogError

_COUNT = ("n_routed_experts", "num_local_experts", "num_experts")
_PER_TOKEN = ("num_experts_per_tok", "num_experts_per_token", "top_k_experts", "experts_per_token")


def read_experts(
    values: Values, *, kinds: tuple[str, ...] | None, num_layers: int, family: Family | None
) -> ExpertShape | None:
    """Return the mixture of experts of a model, or None for a dense model."""
    count = values.optional_int(*_COUNT)
    if not count:
        return None
    model_type = values.optional_str("model_type") or ""
    width = values.optional_int("moe_intermediate_size", "intermediate_size") or 0
    if model_type == "llama4_text":
        width = values.optional_int("intermediate_size") or 0
    shared = values.optional_int("n_shared_experts", "num_shared_experts") or 0
    shared_width = values.optional_int(
        "moe_shared_expert_intermediate_size", "shared_expert_intermediate_size", "share_expert_dim"
    )
    if model_type == "llama4_text":
        shared, shared_width = 1, width
    elif shared_width and not shared:
        # Qwen: one shared expert, named only by its width.
        shared = 1
    if width == 0 and family is not None:
        raise CatalogError(f"{values.source}: the config has experts and no moe_intermediate_size")
    per_token = values.optional_int(*_PER_TOKEN)
    if per_token is not None and per_token > count:
        raise CatalogError(f"{values.source}: a token uses {per_token} experts and a layer has {count}")
    step = values.optional_int("interleave_moe_layer_step", "decoder_sparse_step") or 1
    first_dense = values.optional_int("first_k_dense_replace") or 0
    layers = _layers(values, kinds=kinds, num_layers=num_layers, step=step, first_dense=first_dense)
    return ExpertShape(
        num_experts=count,
        per_token=per_token,
        moe_intermediate_size=width,
        shared_experts=shared,
        # Why: the DeepSeek families build their shared experts as one MLP of count times the width.
        shared_intermediate_size=shared_width if shared_width is not None else shared * width,
        first_dense_layers=_leading_dense(layers, num_layers),
        layer_step=step,
        layers=layers,
        latent_size=values.optional_int("moe_latent_size"),
        matrices=2 if model_type == "nemotron_h" else 3,
        router_bias=family is not None and family.router_bias,
        expert_bias=model_type == "gpt_oss",
        shared_gate=family is not None and family.shared_gate and shared > 0,
        beside_mlp=values.flag("enable_moe_block"),
    )


def _layers(
    values: Values, *, kinds: tuple[str, ...] | None, num_layers: int, step: int, first_dense: int
) -> tuple[int, ...]:
    """Return the layers with a mixture: from a list where the config has one, else from step and start."""
    if kinds is not None and MOE_ONLY in kinds:
        return tuple(index for index, kind in enumerate(kinds) if kind == MOE_ONLY)
    # Why: DeepSeek states one number for all layers here; it is 1 in every model that the catalog holds.
    if isinstance(values.anywhere("moe_layer_freq"), int):
        values.optional_int("moe_layer_freq")
    else:
        pattern = values.numbers("moe_layer_freq")
        if pattern is not None:
            _require_length(values, "moe_layer_freq", len(pattern), num_layers)
            return tuple(index for index, has_experts in enumerate(pattern[:num_layers]) if has_experts)
    named = values.texts("mlp_layer_types")
    if named is not None:
        _require_length(values, "mlp_layer_types", len(named), num_layers)
        return tuple(index for index, name in enumerate(named[:num_layers]) if name == "sparse")
    plain = values.numbers("mlp_only_layers") or ()
    # Source: transformers: Qwen MoE and Llama 4 put a mixture where (index + 1) is a multiple of the step.
    return tuple(
        index for index in range(num_layers) if index >= first_dense and (index + 1) % step == 0 and index not in plain
    )


def _require_length(values: Values, key: str, length: int, num_layers: int) -> None:
    if length < num_layers:
        raise CatalogError(f"{values.where(key)} has {length} entries for {num_layers} layers")


def _leading_dense(layers: tuple[int, ...], num_layers: int) -> int:
    return layers[0] if layers else num_layers
