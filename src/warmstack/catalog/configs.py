"""Reads a Hugging Face config.json into a :class:`ModelShape`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from warmstack.catalog.config_bounds import shown
from warmstack.catalog.config_parts import (
    attention_heads,
    layer_kinds,
    linear_attention,
    mamba,
    mla,
    sliding_window,
    vision,
)
from warmstack.catalog.config_values import Values, mapping_or_none
from warmstack.catalog.experts import read_experts
from warmstack.catalog.families import FAMILIES, NOT_UNDERSTOOD, Family
from warmstack.catalog.quantization import read_quantization
from warmstack.catalog.shapes import (
    CHUNKED,
    FULL,
    LINEAR,
    MAMBA,
    MLP_ONLY,
    MOE_ONLY,
    SLIDING,
    ModelShape,
    QuantizationShape,
)
from warmstack.errors import CatalogError

_ASSUMED_DTYPE = "bfloat16"


def shape_from_config(config: Mapping[str, object], *, model_id: str, source: str) -> ModelShape:
    """Return the shape that a config.json describes.

    Args:
        config: the parsed config.json. Multimodal models keep the language model under ``text_config``. The
            content of hf_quant_config.json may be merged in under that name.
        model_id: the id that the shape carries.
        source: ``catalog``, or the path of the file, for messages.

    Raises:
        CatalogError: a field that every model has is missing, or a value is not of its type or out of bounds.
    """
    if not isinstance(config, Mapping):
        raise CatalogError(f"{source}: the config is {shown(config)}; it must be an object")
    whole = cast("Mapping[str, Any]", config)
    text = mapping_or_none(whole.get("text_config"), f"{source}: text_config")
    values = Values(text=whole if text is None else text, whole=whole, source=source)
    model_type = values.optional_str("model_type") or "unknown"
    family = FAMILIES.get(model_type)
    notes: list[str] = []

    kinds, num_layers = _layers(values, model_type)
    hidden_size = values.integer("hidden_size")
    num_heads = values.integer("num_attention_heads")
    head_dim = _head_dim(values, hidden_size, num_heads)
    experts = read_experts(values, kinds=kinds, num_layers=num_layers, family=family)
    intermediate_size = _dense_width(values, model_type)
    latent = mla(values, num_layers=num_layers) if family is None or family.attention == "mla" else None
    window = sliding_window(values, kinds)
    vision_shape = vision(values)
    multimodal = _is_multimodal(whole)
    quantization = _quantization(values, num_layers=num_layers)
    linear, mamba_layers = linear_attention(values), mamba(values)

    dtype = values.optional_str("dtype") or values.optional_str("torch_dtype")
    if dtype is None:
        notes.append(f"the config names no dtype: {_ASSUMED_DTYPE} is assumed")
    if multimodal and vision_shape is None:
        notes.append("the parts for inputs other than text are not counted: their layout is not known")
    if kinds is not None and CHUNKED in kinds:
        notes.append("chunked attention layers are counted as full attention, as vLLM keeps them by default")
    reason = _incomplete_reason(model_type, family, experts_known=experts is None or experts.num_experts > 0)
    if reason is None and family is not None and not family.single_mixer_layers:
        if intermediate_size is None and (experts is None or len(experts.layers) < num_layers):
            raise CatalogError(f"{source}: the config has no intermediate_size, and not every layer has experts")
        if family.attention == "mla" and latent is None:
            raise CatalogError(f"{source}: the config has no kv_lora_rank, which a {model_type} model must have")
    if reason is None and kinds is not None:
        _require_parts(
            values,
            kinds,
            {
                LINEAR: ("linear_num_value_heads", linear),
                MAMBA: ("mamba_num_heads", mamba_layers),
                MLP_ONLY: ("intermediate_size", intermediate_size),
                MOE_ONLY: ("n_routed_experts", experts),
            },
        )

    bias = _attention_bias(values, family)
    return ModelShape(
        id=model_id,
        architecture=_architecture(whole, values),
        model_type=model_type,
        hidden_size=hidden_size,
        intermediate_size=intermediate_size,
        num_layers=num_layers,
        num_attention_heads=num_heads,
        num_key_value_heads=values.optional_int("num_key_value_heads") or num_heads,
        # Why: with latent attention the config's head_dim, where it is there at all, describes no head.
        head_dim=latent.qk_nope_head_dim + latent.qk_rope_head_dim if latent is not None else head_dim,
        vocab_size=values.integer("vocab_size"),
        max_position_embeddings=values.optional_int("max_position_embeddings"),
        tie_word_embeddings=_ties_embeddings(values, family),
        dtype=dtype or _ASSUMED_DTYPE,
        quantization=quantization,
        experts=experts,
        mla=latent,
        sliding_window=window,
        layer_types=kinds,
        full_attention_interval=values.optional_int("full_attention_interval"),
        sliding_heads=attention_heads(values, SLIDING, model_type),
        full_heads=attention_heads(values, FULL, model_type),
        linear_attention=linear,
        mamba=mamba_layers,
        single_mixer_layers=family is not None and family.single_mixer_layers,
        attention_bias=bias,
        output_bias=bias if family is None or family.output_bias is None else family.output_bias,
        mlp_bias=values.flag("mlp_bias"),
        mlp_matrices=2 if model_type == "nemotron_h" else 3,
        query_gate=family is not None and family.query_gate,
        qk_norm=None if family is None else family.qk_norm,
        attention_sinks=_sinks(values, model_type),
        norms_per_layer=2 if family is None else family.norms_per_layer,
        multimodal=multimodal,
        vision=vision_shape,
        next_token_layers=_next_token_layers(values),
        source=source,
        complete=reason is None,
        incomplete_reason=reason,
        notes=tuple(notes),
    )


def _layers(values: Values, model_type: str) -> tuple[tuple[str, ...] | None, int]:
    """Return the kinds of the layers, where the config states them, and how many layers there are."""
    kinds = layer_kinds(values, model_type)
    if kinds is None:
        return None, values.integer("num_hidden_layers")
    stated = values.optional_int("num_hidden_layers")
    if stated is None:
        # Why: some Nemotron configs state no number: the list is the number.
        if not kinds:
            raise CatalogError(f"{values.source}: the config has neither num_hidden_layers nor a list of layers")
        return kinds, len(kinds)
    if len(kinds) < stated:
        raise CatalogError(f"{values.source}: {len(kinds)} layer types for {stated} layers")
    # Why: a longer list goes on with the layers for multi-token prediction.
    return kinds[:stated], stated


def _head_dim(values: Values, hidden_size: int, num_heads: int) -> int:
    """Return the size of a head: stated, or the width shared among the heads."""
    stated = values.optional_int("head_dim", "attention_head_dim")
    if stated is None and hidden_size < num_heads:
        raise CatalogError(
            f"{values.where('num_attention_heads')} is {num_heads}; without head_dim it can be hidden_size at most, "
            f"{hidden_size}"
        )
    return stated if stated is not None else hidden_size // num_heads


def _require_parts(values: Values, kinds: tuple[str, ...], parts: Mapping[str, tuple[str, object]]) -> None:
    """Refuse layers whose sizes the config does not state: they would be counted as nothing."""
    for kind, (field, part) in parts.items():
        if part is None and kind in kinds:
            raise CatalogError(f"{values.source}: the config has {kind} layers and no {field}")


def _incomplete_reason(model_type: str, family: Family | None, *, experts_known: bool) -> str | None:
    if family is None:
        known = NOT_UNDERSTOOD.get(model_type, "the catalog does not know its layout")
        return f"model_type {model_type!r}: {known}"
    if not experts_known:
        return f"model_type {model_type!r}: the config names experts but not how many"
    return None


def _dense_width(values: Values, model_type: str) -> int | None:
    if model_type == "llama4_text":
        # Why: Llama 4 names the width of its experts intermediate_size and that of the plain MLP otherwise.
        return values.optional_int("intermediate_size_mlp")
    return values.optional_int("intermediate_size")


def _is_multimodal(whole: Mapping[str, Any]) -> bool:
    return any(isinstance(whole.get(key), Mapping) for key in ("text_config", "vision_config", "audio_config"))


def _architecture(whole: Mapping[str, Any], values: Values) -> str:
    names = whole.get("architectures") or values.text.get("architectures")
    if names is None:
        raise CatalogError(f"{values.source}: the config has no architectures")
    if isinstance(names, list) and names and isinstance(names[0], str):
        return names[0]
    raise CatalogError(f"{values.where('architectures')} is {shown(names)}; it must be a list of texts, not empty")


def _attention_bias(values: Values, family: Family | None) -> bool:
    if family is None or family.attention_bias is None:
        return values.flag("attention_bias")
    return family.attention_bias


def _ties_embeddings(values: Values, family: Family | None) -> bool:
    stated = values.optional_bool("tie_word_embeddings")
    if stated is not None:
        return stated
    if family is not None and family.ties_embeddings is not None:
        return family.ties_embeddings
    # Source: transformers PretrainedConfig, whose default is true.
    return True


def _quantization(values: Values, *, num_layers: int) -> QuantizationShape | None:
    for key in ("quantization_config", "hf_quant_config"):
        where = values.where(key)
        found = mapping_or_none(values.anywhere(key), where)
        if found is not None:
            inner = mapping_or_none(found.get("quantization"), f"{where}.quantization")
            if inner is not None:
                found, where = inner, f"{where}.quantization"
            return read_quantization(found, num_layers=num_layers, where=where)
    return None


def _sinks(values: Values, model_type: str) -> tuple[str, ...]:
    if model_type == "gpt_oss":
        return (FULL, SLIDING)
    kinds = []
    if values.flag("add_full_attention_sink_bias"):
        kinds.append(FULL)
    if values.flag("add_swa_attention_sink_bias"):
        kinds.append(SLIDING)
    return tuple(kinds)


def _next_token_layers(values: Values) -> int:
    for key in ("num_nextn_predict_layers", "mtp_num_hidden_layers"):
        found = values.optional_int(key)
        if found is not None:
            return found
    return 0
