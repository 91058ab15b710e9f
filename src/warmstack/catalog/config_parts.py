"""Parts of a config.json that only some families have: layer kinds, latent attention, hybrids, vision."""

from __future__ import annotations

from warmstack.catalog.config_bounds import MAX_LAYERS, RANGES, shown, whole_number
from warmstack.catalog.config_values import Values, mapping_or_none
from warmstack.catalog.shapes import (
    CHUNKED,
    FULL,
    LINEAR,
    MAMBA,
    MLP_ONLY,
    MOE_ONLY,
    SLIDING,
    AttentionHeads,
    LinearAttentionShape,
    MambaShape,
    MlaShape,
    VisionShape,
)
from warmstack.errors import CatalogError

_KINDS = {
    "full_attention": FULL,
    "attention": FULL,
    # Sparse attention reads fewer tokens but keeps them all.
    "deepseek_sparse_attention": FULL,
    "sliding_attention": SLIDING,
    "chunked_attention": CHUNKED,
    "linear_attention": LINEAR,
    "mamba": MAMBA,
    "mlp": MLP_ONLY,
    "moe": MOE_ONLY,
}
# Nemotron-H's pattern: M is Mamba, * attention, - an MLP, E a mixture of experts.
_PATTERN_KINDS = {"M": MAMBA, "*": FULL, "-": MLP_ONLY, "E": MOE_ONLY}
# Source: transformers Llama4TextConfig.no_rope_layer_interval: every fourth layer attends to everything.
_LLAMA4_FULL_EVERY = 4
# A vision tower that has all of these is of the layout that the catalog knows.
_VISION_FIELDS = (
    "depth",
    "hidden_size",
    "intermediate_size",
    "out_hidden_size",
    "num_position_embeddings",
    "in_channels",
    "temporal_patch_size",
    "patch_size",
    "spatial_merge_size",
)


def layer_kinds(values: Values, model_type: str) -> tuple[str, ...] | None:
    """Return the kind of each layer, or None where every layer is full attention."""
    pattern = values.optional_str("hybrid_override_pattern")
    if pattern is not None:
        if len(pattern) > MAX_LAYERS:
            raise CatalogError(
                f"{values.where('hybrid_override_pattern')} has {len(pattern):,} characters; "
                f"{MAX_LAYERS:,} layers are the most"
            )
        return tuple(_kind(_PATTERN_KINDS, character, values) for character in pattern)
    windows = values.numbers("hybrid_layer_pattern")
    if windows is not None:
        return tuple(SLIDING if windowed else FULL for windowed in windows)
    for key in ("layers_block_type", "layer_types"):
        names = values.texts(key)
        if names is not None:
            return tuple(_kind(_KINDS, name, values) for name in names)
    return _implied_kinds(values, model_type)


def _kind(kinds: dict[str, str], name: str, values: Values) -> str:
    if name not in kinds:
        raise CatalogError(f"{values.source}: the layer kind {shown(name)} is not known")
    return kinds[name]


def _implied_kinds(values: Values, model_type: str) -> tuple[str, ...] | None:
    count = values.optional_int("num_hidden_layers")
    if count is None:
        return None
    interval = values.optional_int("full_attention_interval")
    if interval:
        return tuple(FULL if (index + 1) % interval == 0 else LINEAR for index in range(count))
    if model_type == "llama4_text" and values.optional_int("attention_chunk_size"):
        return tuple(FULL if (index + 1) % _LLAMA4_FULL_EVERY == 0 else CHUNKED for index in range(count))
    if not values.optional_int("sliding_window"):
        return None
    if model_type in ("mistral", "mixtral"):
        return (SLIDING,) * count
    if values.flag("use_sliding_window"):
        # Source: transformers Qwen2Config: the layers from max_window_layers on have the window.
        first = values.optional_int("max_window_layers") or 0
        return tuple(SLIDING if index >= first else FULL for index in range(count))
    return None


def sliding_window(values: Values, kinds: tuple[str, ...] | None) -> int | None:
    """Return the tokens of the window; None where no layer has one (many configs name an unused window)."""
    if kinds is None or SLIDING not in kinds:
        return None
    # Why: integer() refuses the 0 that stands for "no window" where no layer is windowed.
    return values.integer("sliding_window")


def attention_heads(values: Values, kind: str, model_type: str) -> AttentionHeads | None:
    """Return the heads of a kind of layer where they differ from the config's main fields."""
    if model_type == "mimo_v2_flash":
        prefix = "swa_" if kind == SLIDING else ""
        return AttentionHeads(
            num_heads=values.integer(f"{prefix}num_attention_heads"),
            num_key_value_heads=values.integer(f"{prefix}num_key_value_heads"),
            head_dim=values.integer(f"{prefix}head_dim"),
            value_head_dim=values.integer(f"{prefix}v_head_dim"),
        )
    if model_type == "gemma4_text" and kind == FULL:
        # Gemma 4's main fields describe the windowed layers; the global layers have heads of their own.
        head_dim = values.optional_int("global_head_dim") or values.integer("head_dim")
        return AttentionHeads(
            num_heads=values.integer("num_attention_heads"),
            num_key_value_heads=values.integer("num_global_key_value_heads", "num_key_value_heads"),
            head_dim=head_dim,
            value_head_dim=head_dim,
            value_from_key=values.flag("attention_k_eq_v"),
        )
    return None


def mla(values: Values, *, num_layers: int) -> MlaShape | None:
    """Return the latent attention of a model, or None."""
    rank = values.optional_int("kv_lora_rank")
    if rank is None:
        return None
    index_head_dim = values.optional_int("index_head_dim")
    indexers = values.texts("indexer_types")
    if indexers is not None and len(indexers) < num_layers:
        raise CatalogError(f"{values.where('indexer_types')} has {len(indexers)} entries for {num_layers} layers")
    return MlaShape(
        kv_lora_rank=rank,
        q_lora_rank=values.optional_int("q_lora_rank"),
        qk_rope_head_dim=values.integer("qk_rope_head_dim"),
        qk_nope_head_dim=values.integer("qk_nope_head_dim"),
        v_head_dim=values.integer("v_head_dim"),
        index_n_heads=values.optional_int("index_n_heads"),
        index_head_dim=index_head_dim,
        index_topk=values.optional_int("index_topk"),
        index_layers=tuple(
            index
            for index in range(num_layers if index_head_dim is not None else 0)
            if indexers is None or indexers[index] == "full"
        ),
    )


def linear_attention(values: Values) -> LinearAttentionShape | None:
    """Return the gated delta net layers of a model, or None."""
    if values.optional_int("linear_num_value_heads") is None:
        return None
    return LinearAttentionShape(
        num_key_heads=values.integer("linear_num_key_heads"),
        num_value_heads=values.integer("linear_num_value_heads"),
        key_head_dim=values.integer("linear_key_head_dim"),
        value_head_dim=values.integer("linear_value_head_dim"),
        conv_kernel=values.integer("linear_conv_kernel_dim"),
        state_dtype=values.optional_str("mamba_ssm_dtype"),
    )


def mamba(values: Values) -> MambaShape | None:
    """Return the Mamba-2 layers of a model, or None."""
    if values.optional_int("mamba_num_heads") is None:
        return None
    return MambaShape(
        num_heads=values.integer("mamba_num_heads"),
        head_dim=values.integer("mamba_head_dim"),
        num_groups=values.integer("n_groups"),
        state_size=values.integer("ssm_state_size"),
        conv_kernel=values.integer("conv_kernel"),
        conv_bias=values.optional_bool("use_conv_bias") is not False,
        # Source: vLLM 0.32 NemotronHForCausalLMConfig: float32 where the config states nothing.
        state_dtype=values.optional_str("mamba_ssm_cache_dtype") or "float32",
    )


def vision(values: Values) -> VisionShape | None:
    """Return the vision tower of a Qwen3-VL or Qwen3.5 model, or None for any other tower."""
    config = mapping_or_none(values.whole.get("vision_config"), values.where("vision_config"))
    if config is None or any(config.get(key) is None for key in _VISION_FIELDS):
        return None
    sizes = {
        key: whole_number(config[key], values.where(f"vision_config.{key}"), *RANGES[key]) for key in _VISION_FIELDS
    }
    stacked = config.get("deepstack_visual_indexes") or ()
    if not isinstance(stacked, list | tuple) or len(stacked) > MAX_LAYERS:
        where = values.where("vision_config.deepstack_visual_indexes")
        raise CatalogError(f"{where} is {shown(stacked)}; it must be a list with at most {MAX_LAYERS:,} entries")
    return VisionShape(
        depth=sizes["depth"],
        hidden_size=sizes["hidden_size"],
        intermediate_size=sizes["intermediate_size"],
        out_hidden_size=sizes["out_hidden_size"],
        num_position_embeddings=sizes["num_position_embeddings"],
        patch_weights=sizes["in_channels"] * sizes["temporal_patch_size"] * sizes["patch_size"] ** 2,
        merge_size=sizes["spatial_merge_size"],
        mergers=1 + len(stacked),
    )
