"""The shape of a model: what its config.json says of its size, read into one form for every family.

Counts are numbers of weights or heads; nothing here is in bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

FULL = "full_attention"
SLIDING = "sliding_attention"
CHUNKED = "chunked_attention"
LINEAR = "linear_attention"
MAMBA = "mamba"
MLP_ONLY = "mlp"
MOE_ONLY = "moe"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModulePattern:
    """Modules in a list of a quantized checkpoint, folded over the layers.

    Attributes:
        pattern: the name with ``#`` for the layer and for the expert; it may hold ``*`` or start with
            ``re:``.
        layers: the layers that the list names; empty: the entry names no layer, so it holds for all.
    """

    pattern: str
    layers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantizationShape:
    """How a checkpoint stores its weights.

    Attributes:
        method: ``fp8``, ``mxfp4``, ``nvfp4``, ``int4``, ``awq``, ``gptq``, ``mixed``, or the name found.
        weight_bits: bits of a quantized weight with its scales; None where the format is not understood.
        description: the format in words.
        kept: modules left at the model's own type.
        overrides: modules with bits of their own: a pattern and its bits.
        experts_only: only the experts are quantized.
        kept_known: the checkpoint states which modules it leaves alone, or its format fixes it.
    """

    method: str
    weight_bits: float | None
    description: str
    kept: tuple[ModulePattern, ...] = ()
    overrides: tuple[tuple[ModulePattern, float], ...] = ()
    experts_only: bool = False
    kept_known: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionHeads:
    """The heads of one kind of attention layer.

    Attributes:
        num_heads: query heads.
        num_key_value_heads: key heads, and value heads.
        head_dim: size of a query or key head.
        value_head_dim: size of a value head.
        value_from_key: the layer has no value projection: values are made from the keys (Gemma 4).
    """

    num_heads: int
    num_key_value_heads: int
    head_dim: int
    value_head_dim: int
    value_from_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertShape:
    """The mixture of experts of a model.

    Attributes:
        num_experts: routed experts in a layer.
        per_token: routed experts that one token uses; None where the config does not state it.
        moe_intermediate_size: width of a routed expert.
        shared_experts: shared experts in a layer.
        shared_intermediate_size: width of all shared experts of a layer together.
        first_dense_layers: leading layers with a plain MLP.
        layer_step: every how many layers a mixture comes.
        layers: the indices of the layers with a mixture.
        latent_size: width that the experts work in, where it is not ``hidden_size``.
        matrices: weight matrices of an expert: 3 with a gate, 2 without.
        router_bias: the router has one bias (or correction) an expert.
        expert_bias: the experts have biases.
        shared_gate: the shared experts have a gate of ``hidden_size`` weights.
        beside_mlp: the layers with a mixture have the plain MLP too.
    """

    num_experts: int
    per_token: int | None
    moe_intermediate_size: int
    shared_experts: int = 0
    shared_intermediate_size: int = 0
    first_dense_layers: int = 0
    layer_step: int = 1
    layers: tuple[int, ...] = ()
    latent_size: int | None = None
    matrices: int = 3
    router_bias: bool = False
    expert_bias: bool = False
    shared_gate: bool = False
    beside_mlp: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MlaShape:
    """Multi-head latent attention, with the token indexer of sparse attention where there is one.

    Attributes:
        kv_lora_rank: size of the latent that is cached.
        q_lora_rank: size of the query latent; None: queries come straight from the hidden state.
        qk_rope_head_dim: size of the rotary key, cached beside the latent.
        qk_nope_head_dim: size of a head without the rotary part.
        v_head_dim: size of a value head.
        index_n_heads: heads of the indexer.
        index_head_dim: size of an index key; None: no indexer.
        index_topk: tokens that the indexer selects.
        index_layers: the layers that own an indexer (the others share one).
    """

    kv_lora_rank: int
    q_lora_rank: int | None
    qk_rope_head_dim: int
    qk_nope_head_dim: int
    v_head_dim: int
    index_n_heads: int | None = None
    index_head_dim: int | None = None
    index_topk: int | None = None
    index_layers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearAttentionShape:
    """Gated delta net layers (Qwen3-Next, Qwen3.5): a fixed state a sequence instead of a growing cache."""

    num_key_heads: int
    num_value_heads: int
    key_head_dim: int
    value_head_dim: int
    conv_kernel: int
    state_dtype: str | None

    @property
    def conv_width(self) -> int:
        """Channels of the convolution: queries, keys and values."""
        return 2 * self.num_key_heads * self.key_head_dim + self.num_value_heads * self.value_head_dim


@dataclass(frozen=True, slots=True, kw_only=True)
class MambaShape:
    """Mamba-2 layers (Nemotron-H): a fixed state a sequence instead of a growing cache."""

    num_heads: int
    head_dim: int
    num_groups: int
    state_size: int
    conv_kernel: int
    conv_bias: bool
    state_dtype: str | None

    @property
    def inner_size(self) -> int:
        """Width of the layer: heads times their size."""
        return self.num_heads * self.head_dim

    @property
    def conv_width(self) -> int:
        """Channels of the convolution: the input and both group projections."""
        return self.inner_size + 2 * self.num_groups * self.state_size


@dataclass(frozen=True, slots=True, kw_only=True)
class VisionShape:
    """The vision tower of the Qwen3-VL and Qwen3.5 families."""

    depth: int
    hidden_size: int
    intermediate_size: int
    out_hidden_size: int
    num_position_embeddings: int
    patch_weights: int
    merge_size: int
    mergers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """What a model's config.json says of its size.

    Attributes:
        id: the model id asked for.
        architecture: the class name that an engine dispatches on.
        model_type: the type of the language model, ``qwen3_moe``.
        hidden_size: width of the residual stream.
        intermediate_size: width of the plain MLP; None where there is none.
        num_layers: hidden layers (the extra layers for multi-token prediction are not counted).
        num_attention_heads: query heads.
        num_key_value_heads: key and value heads.
        head_dim: size of a head.
        vocab_size: rows of the embedding.
        max_position_embeddings: tokens in the longest sequence; None where the config does not state it.
        tie_word_embeddings: the output head is the embedding.
        dtype: the type the weights are stored in where they are not quantized.
        quantization: how the checkpoint is quantized; None: it is not.
        experts: the mixture of experts.
        mla: latent attention.
        sliding_window: tokens that a windowed layer sees; None where no layer has a window.
        layer_types: the kind of each layer; None: every layer is full attention.
        full_attention_interval: every how many layers full attention comes, in a hybrid.
        sliding_heads: heads of the windowed layers, where they differ from the others.
        full_heads: heads of the full attention layers, where they differ from the fields above.
        linear_attention: gated delta net layers.
        mamba: Mamba-2 layers.
        single_mixer_layers: a layer is attention or MLP or mixture or Mamba, never two of them.
        attention_bias: query, key and value projections have biases.
        output_bias: the attention output projection has a bias.
        mlp_bias: the plain MLP has biases.
        mlp_matrices: weight matrices of the plain MLP: 3 with a gate, 2 without.
        query_gate: the query projection also makes an output gate, so it is twice as wide.
        qk_norm: ``head`` (one norm of ``head_dim``), ``layer`` (over all heads), or None.
        attention_sinks: one learned sink a query head in each windowed or full layer.
        norms_per_layer: norms of ``hidden_size`` in a layer.
        multimodal: the model has inputs other than text.
        vision: the vision tower, where its layout is known.
        next_token_layers: layers for multi-token prediction, loaded only for speculation.
        source: ``catalog``, or the path of the config.json.
        complete: sizes can be computed from this shape.
        incomplete_reason: why not; None when complete.
        notes: what was assumed, and what is not counted.
    """

    id: str
    architecture: str
    model_type: str
    hidden_size: int
    intermediate_size: int | None
    num_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    vocab_size: int
    max_position_embeddings: int | None
    tie_word_embeddings: bool
    dtype: str
    quantization: QuantizationShape | None = None
    experts: ExpertShape | None = None
    mla: MlaShape | None = None
    sliding_window: int | None = None
    layer_types: tuple[str, ...] | None = None
    full_attention_interval: int | None = None
    sliding_heads: AttentionHeads | None = None
    full_heads: AttentionHeads | None = None
    linear_attention: LinearAttentionShape | None = None
    mamba: MambaShape | None = None
    single_mixer_layers: bool = False
    attention_bias: bool = False
    output_bias: bool = False
    mlp_bias: bool = False
    mlp_matrices: int = 3
    query_gate: bool = False
    qk_norm: str | None = None
    attention_sinks: tuple[str, ...] = ()
    norms_per_layer: int = 2
    multimodal: bool = False
    vision: VisionShape | None = None
    next_token_layers: int = 0
    source: str
    complete: bool = True
    incomplete_reason: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # Guard: a count that disagrees with the list would make every sum over layers wrong without a word.
        if self.layer_types is not None and len(self.layer_types) != self.num_layers:
            raise ValueError(f"{self.id}: {len(self.layer_types)} layer types for {self.num_layers} layers")

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of each layer, for every model."""
        return self.layer_types if self.layer_types is not None else (FULL,) * self.num_layers

    def layers_of(self, *kinds: str) -> int:
        """Return how many layers are of one of the given kinds."""
        return sum(kind in kinds for kind in self.kinds)

    def heads_of(self, kind: str) -> AttentionHeads:
        """Return the heads of the attention layers of a kind, ``full_attention`` or ``sliding_attention``."""
        own = self.sliding_heads if kind == SLIDING else self.full_heads
        if own is not None:
            return own
        return AttentionHeads(
            num_heads=self.num_attention_heads,
            num_key_value_heads=self.num_key_value_heads,
            head_dim=self.head_dim,
            value_head_dim=self.head_dim,
        )
