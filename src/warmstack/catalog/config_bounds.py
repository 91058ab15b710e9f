"""What the numbers of a config.json can be, so that a broken or hostile file ends in a message and not in a hang.

A bound is at least five times the largest value in the catalog (126 layers, 256 heads, a width of 53,248, a
vocabulary of 262,144, 896 experts, 10,485,760 tokens; models.json as of 2026-11-30). No model is near
it, and every sum over layers below it is done in milliseconds.
"""

from __future__ import annotations

import reprlib

from warmstack.errors import CatalogError

MAX_LAYERS = 1_000
MAX_HEADS = 4_096
MAX_WIDTH = 10**6
MAX_VOCABULARY = 10**8
MAX_EXPERTS = 10**5
MAX_TOKENS = 10**9
MAX_KERNEL = 1_000

_HEADS = (
    "num_attention_heads",
    "num_key_value_heads",
    "num_global_key_value_heads",
    "swa_num_attention_heads",
    "swa_num_key_value_heads",
    "linear_num_key_heads",
    "linear_num_value_heads",
    "mamba_num_heads",
    "n_groups",
    "index_n_heads",
)
_WIDTHS = (
    "hidden_size",
    "intermediate_size",
    "intermediate_size_mlp",
    "moe_intermediate_size",
    "moe_latent_size",
    "head_dim",
    "attention_head_dim",
    "global_head_dim",
    "v_head_dim",
    "swa_head_dim",
    "swa_v_head_dim",
    "kv_lora_rank",
    "q_lora_rank",
    "qk_rope_head_dim",
    "qk_nope_head_dim",
    "index_head_dim",
    "linear_key_head_dim",
    "linear_value_head_dim",
    "mamba_head_dim",
    "ssm_state_size",
    "out_hidden_size",
    "num_position_embeddings",
)
# Zero stands for "there is none" in these.
_LAYERS_OR_NONE = (
    "first_k_dense_replace",
    "max_window_layers",
    "full_attention_interval",
    "interleave_moe_layer_step",
    "decoder_sparse_step",
    "moe_layer_freq",
    "num_nextn_predict_layers",
    "mtp_num_hidden_layers",
)
_WIDTHS_OR_NONE = (
    "moe_shared_expert_intermediate_size",
    "shared_expert_intermediate_size",
    "share_expert_dim",
)
_EXPERTS_OR_NONE = (
    "n_routed_experts",
    "num_local_experts",
    "num_experts",
    "n_shared_experts",
    "num_shared_experts",
)
_PER_TOKEN = ("num_experts_per_tok", "num_experts_per_token", "top_k_experts", "experts_per_token")
_KERNELS = (
    "conv_kernel",
    "linear_conv_kernel_dim",
    "in_channels",
    "temporal_patch_size",
    "patch_size",
    "spatial_merge_size",
)

RANGES: dict[str, tuple[int, int]] = {
    "num_hidden_layers": (1, MAX_LAYERS),
    "depth": (1, MAX_LAYERS),
    "vocab_size": (1, MAX_VOCABULARY),
    "max_position_embeddings": (1, MAX_TOKENS),
    "index_topk": (1, MAX_TOKENS),
    "sliding_window": (0, MAX_TOKENS),
    "attention_chunk_size": (0, MAX_TOKENS),
    **dict.fromkeys(_HEADS, (1, MAX_HEADS)),
    **dict.fromkeys(_WIDTHS, (1, MAX_WIDTH)),
    **dict.fromkeys(_PER_TOKEN, (1, MAX_EXPERTS)),
    **dict.fromkeys(_KERNELS, (1, MAX_KERNEL)),
    **dict.fromkeys(_LAYERS_OR_NONE, (0, MAX_LAYERS)),
    **dict.fromkeys(_WIDTHS_OR_NONE, (0, MAX_WIDTH)),
    **dict.fromkeys(_EXPERTS_OR_NONE, (0, MAX_EXPERTS)),
}
"""The least and the most of each whole number that a shape is made from, by the field's name."""


class _Shown(reprlib.Repr):
    """Values cut to a length that fits a message."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 60
        self.maxlevel = 2

    def repr_int(self, x: int, level: int) -> str:  # noqa: ARG002  (the signature of reprlib)
        """Return a number, or its size: Python refuses to write numbers of many thousand digits."""
        return repr(x) if x.bit_length() < 100 else f"a number of {x.bit_length():,} bits"


shown = _Shown().repr


def whole_number(found: object, where: str, least: int, most: int) -> int:
    """Return a value that must be a whole number within bounds.

    Raises:
        CatalogError: it is something else; the message starts with ``where``, the file and the field.
    """
    if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= most:
        raise CatalogError(f"{where} is {shown(found)}; it must be a whole number from {least:,} to {most:,}")
    return found
