"""The model families whose layout the catalog understands: what their config.json leaves unsaid.

A family is listed only when the parameter count computed from it agrees with the published one (see the
tests). A ``model_type`` that is not listed gives a shape with ``complete=False``: no number is better than a
wrong one.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """What the modelling code of a family fixes.

    Attributes:
        attention: ``gqa`` or ``mla``.
        attention_bias: biases of the query, key and value projections; None: the config's ``attention_bias``.
        output_bias: the output projection has a bias; None: the same as ``attention_bias``.
        qk_norm: ``head``, ``layer`` or None; ``config`` where a key of the config decides.
        query_gate: the query projection also makes an output gate.
        router_bias: the router has one bias or correction an expert.
        shared_gate: the shared experts have a gate.
        ties_embeddings: the default when the config does not say; None: it must say.
        norms_per_layer: norms of ``hidden_size`` in a layer.
        single_mixer_layers: a layer is one mixer (Nemotron-H).
    """

    attention: str = "gqa"
    attention_bias: bool | None = None
    output_bias: bool | None = None
    qk_norm: str | None = None
    query_gate: bool = False
    router_bias: bool = False
    shared_gate: bool = False
    ties_embeddings: bool | None = None
    norms_per_layer: int = 2
    single_mixer_layers: bool = False


_QWEN3 = Family(qk_norm="head")
_QWEN3_HYBRID = Family(qk_norm="head", query_gate=True, shared_gate=True)
_DEEPSEEK = Family(attention="mla", router_bias=True)

# Keyed by the model_type of the language model (text_config's, where there is one).
FAMILIES: dict[str, Family] = {
    "llama": Family(ties_embeddings=False),
    "mistral": Family(attention_bias=False, ties_embeddings=False),
    # transformers 5.19, models/ministral3: no biases, no norms of queries and keys.
    "ministral3": Family(attention_bias=False, ties_embeddings=False),
    "mixtral": Family(attention_bias=False, ties_embeddings=False),
    # Qwen2 and MiMo: biases on the query, key and value projections only.
    "qwen2": Family(attention_bias=True, output_bias=False, ties_embeddings=False),
    "mimo": Family(attention_bias=True, output_bias=False),
    "qwen3": _QWEN3,
    "qwen3_moe": _QWEN3,
    "qwen3_vl_text": _QWEN3,
    "qwen3_vl_moe_text": _QWEN3,
    "qwen3_next": _QWEN3_HYBRID,
    "qwen3_5_text": _QWEN3_HYBRID,
    "qwen3_5_moe_text": _QWEN3_HYBRID,
    "deepseek_v3": _DEEPSEEK,
    "deepseek_v32": _DEEPSEEK,
    "kimi_k2": _DEEPSEEK,
    "glm_moe_dsa": _DEEPSEEK,
    # Llama 4 normalizes queries and keys without weights.
    "llama4_text": Family(ties_embeddings=False),
    "gpt_oss": Family(router_bias=True),
    "minimax_m2": Family(attention_bias=False, qk_norm="layer", router_bias=True),
    "gemma4_text": Family(qk_norm="head", ties_embeddings=True, norms_per_layer=4),
    "nemotron_h": Family(router_bias=True, norms_per_layer=1, single_mixer_layers=True),
    "mimo_v2_flash": Family(router_bias=True),
}

# Families that were looked at and left out, with the reason that a user gets to read.
NOT_UNDERSTOOD: dict[str, str] = {
    "deepseek_v4": "its compressed attention (compress_ratios, output low rank) is not modelled",
    "deepseek_ref": "its compressed attention (compress_ratios, output low rank) is not modelled",
    "kimi_linear": "its Kimi delta attention layers and latent experts are not modelled",
    "nemotron-nas": "its layers differ one by one (block_configs)",
    "minimax_m3": "its block-sparse attention index is not modelled",
    "minimax_m3_vl": "its block-sparse attention index is not modelled",
    "step3p7": "the heads of its windowed layers are not stated",
}
