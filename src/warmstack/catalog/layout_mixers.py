"""The modules of the attention variants and of the vision tower: names and weights of one layer."""

from __future__ import annotations

from dataclasses import dataclass

from warmstack.catalog.shapes import LinearAttentionShape, MambaShape, MlaShape, VisionShape


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One module of a layer: its name, its weights, and ``linear``, ``expert`` or ``other``."""

    name: str
    weights: int
    kind: str


def mla_modules(mla: MlaShape, *, hidden: int, num_heads: int) -> list[Module]:
    """Return latent attention (DeepSeek-V2 report, 2.1) with its indexer (DeepSeek-V3.2 report, 2.1)."""
    query = num_heads * (mla.qk_nope_head_dim + mla.qk_rope_head_dim)
    value = num_heads * mla.v_head_dim
    modules = []
    if mla.q_lora_rank is None:
        modules.append(Module(name="self_attn.q_proj", weights=hidden * query, kind="linear"))
    else:
        modules += [
            Module(name="self_attn.q_a_proj", weights=hidden * mla.q_lora_rank, kind="linear"),
            Module(name="self_attn.q_b_proj", weights=mla.q_lora_rank * query, kind="linear"),
        ]
    latent = mla.kv_lora_rank
    modules += [
        Module(
            name="self_attn.kv_a_proj_with_mqa",
            weights=hidden * (latent + mla.qk_rope_head_dim),
            kind="linear",
        ),
        Module(
            name="self_attn.kv_b_proj",
            weights=latent * (num_heads * mla.qk_nope_head_dim + value),
            kind="linear",
        ),
        Module(name="self_attn.o_proj", weights=value * hidden, kind="linear"),
        Module(name="self_attn.layernorms", weights=latent + (mla.q_lora_rank or 0), kind="other"),
    ]
    return modules


def indexer_modules(mla: MlaShape, *, hidden: int) -> list[Module]:
    """Return the token indexer of sparse attention, for a layer that owns one."""
    if mla.index_head_dim is None or mla.index_n_heads is None:
        return []
    size, heads = mla.index_head_dim, mla.index_n_heads
    return [
        Module(name="self_attn.indexer.wq_b", weights=(mla.q_lora_rank or hidden) * heads * size, kind="linear"),
        Module(name="self_attn.indexer.wk", weights=hidden * size, kind="linear"),
        Module(name="self_attn.indexer.weights_proj", weights=hidden * heads + 2 * size, kind="other"),
    ]


def linear_modules(linear: LinearAttentionShape, *, hidden: int) -> list[Module]:
    """Return a gated delta net layer (transformers Qwen3NextGatedDeltaNet)."""
    keys = linear.num_key_heads * linear.key_head_dim
    values = linear.num_value_heads * linear.value_head_dim
    small = linear.conv_width * linear.conv_kernel + 2 * linear.num_value_heads + linear.value_head_dim
    return [
        Module(name="linear_attn.in_proj_qkv", weights=hidden * (2 * keys + values), kind="linear"),
        Module(name="linear_attn.in_proj_z", weights=hidden * values, kind="linear"),
        Module(name="linear_attn.in_proj_ba", weights=hidden * 2 * linear.num_value_heads, kind="other"),
        Module(name="linear_attn.out_proj", weights=values * hidden, kind="linear"),
        Module(name="linear_attn.conv1d", weights=small, kind="other"),
    ]


def mamba_modules(mamba: MambaShape, *, hidden: int) -> list[Module]:
    """Return a Mamba-2 layer (transformers Mamba2Mixer, as Nemotron-H has it)."""
    inner = mamba.inner_size
    projected = inner + mamba.conv_width + mamba.num_heads
    small = mamba.conv_width * (mamba.conv_kernel + (1 if mamba.conv_bias else 0)) + 3 * mamba.num_heads + inner
    return [
        Module(name="mixer.in_proj", weights=hidden * projected, kind="linear"),
        Module(name="mixer.out_proj", weights=inner * hidden, kind="linear"),
        Module(name="mixer.conv1d", weights=small, kind="other"),
    ]


def vision_modules(vision: VisionShape) -> list[Module]:
    """Return the vision tower of Qwen3-VL and Qwen3.5 (transformers Qwen3VLVisionModel), biases included."""
    width, inner = vision.hidden_size, vision.intermediate_size
    block = 4 * width * width + 2 * width * inner + (3 * width + width + inner + width) + 4 * width
    merged = width * vision.merge_size**2
    merger = merged * merged + merged + merged * vision.out_hidden_size + vision.out_hidden_size
    # The first merger normalizes before merging, those of the deep stack after it.
    norms = 2 * width + (vision.mergers - 1) * 2 * merged
    patches = (vision.patch_weights + 1) * width + vision.num_position_embeddings * width
    return [
        Module(name="visual.blocks", weights=vision.depth * block, kind="other"),
        Module(name="visual.merger", weights=vision.mergers * merger + norms, kind="other"),
        Module(name="visual.patch_embed", weights=patches, kind="other"),
    ]
