"""How many bytes the KV cache of a model takes: by token, by window, and by sequence.

Sources: the layout of vLLM's cache specs (``vllm/v1/kv_cache_interface.py``): a full attention layer keeps
keys and values of every token; latent attention keeps one latent and one rotary key; a windowed layer keeps
its window; a linear attention or Mamba layer keeps one state a sequence, however long it is.
"""

from __future__ import annotations

from warmstack.catalog import ModelShape
from warmstack.catalog.shapes import CHUNKED, FULL, LINEAR, MAMBA, SLIDING
from warmstack.errors import CatalogError

# vLLM keeps index keys in FP8 with a 32-bit scale for 128 values, whatever the cache's type is
# (vllm/model_executor/models/deepseek_v2.py, Indexer.k_cache).
_INDEX_SCALE_BYTES = 4
_INDEX_SCALE_VALUES = 128
_STATE_DTYPE_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
_DEFAULT_DTYPE_BYTES = 2


def kv_bytes_per_token(shape: ModelShape, *, kv_dtype_bytes: int = 2, windows_grow: bool = False) -> int:
    """Return the cache bytes that one more token adds, for the whole model on one GPU.

    Only layers that grow with every token are counted: ``2 * layers * key_value_heads * head_dim * bytes``,
    or for latent attention ``layers * (kv_lora_rank + qk_rope_head_dim) * bytes`` and the index keys of
    sparse attention.

    Args:
        shape: the model.
        kv_dtype_bytes: bytes of a cached value: 2, or 1 for an FP8 cache.
        windows_grow: count windowed layers too, because the engine keeps every layer alike. vLLM 0.32 does so
            with a KV connector that does not support its hybrid cache manager, and LMCacheConnectorV1 does
            not (vllm/config/vllm.py, lmcache_connector.py); models with linear attention or Mamba layers
            do not start with such a connector.

    Raises:
        CatalogError: the model's layout is not understood.
    """
    return kv_bytes_per_token_per_gpu(
        shape, tensor_parallel_degree=1, kv_dtype_bytes=kv_dtype_bytes, windows_grow=windows_grow
    )


def kv_bytes_per_token_per_gpu(
    shape: ModelShape,
    tensor_parallel_degree: int,
    kv_dtype_bytes: int = 2,
    *,
    windows_grow: bool = False,
) -> int:
    """Return the cache bytes that one more token adds on each GPU.

    Key and value heads are split over the GPUs; with more GPUs than heads each GPU holds one head, so the
    cache is held more than once. The latent of latent attention belongs to every head, so every GPU holds all
    of it.

    Raises:
        CatalogError: the model's layout is not understood.
        ValueError: ``tensor_parallel_degree`` is below 1.
    """
    _require(shape, tensor_parallel_degree)
    if shape.mla is not None:
        latent = (shape.mla.kv_lora_rank + shape.mla.qk_rope_head_dim) * kv_dtype_bytes
        return shape.layers_of(FULL) * latent + index_bytes_per_token(shape)
    # Chunked layers are kept whole: vLLM switches its hybrid cache manager off for them by default.
    kinds = (FULL, CHUNKED, SLIDING) if windows_grow else (FULL, CHUNKED)
    return sum(
        shape.layers_of(kind) * _layer_bytes(shape, kind, tensor_parallel_degree, kv_dtype_bytes) for kind in kinds
    )


def index_bytes_per_token(shape: ModelShape) -> int:
    """Return the bytes of the index keys of one token, on every GPU; 0 without sparse attention."""
    if shape.mla is None or shape.mla.index_head_dim is None:
        return 0
    size = shape.mla.index_head_dim
    return len(shape.mla.index_layers) * (size + size // _INDEX_SCALE_VALUES * _INDEX_SCALE_BYTES)


def sliding_window_bytes_per_sequence(
    shape: ModelShape,
    *,
    kv_dtype_bytes: int = 2,
    tensor_parallel_degree: int = 1,
    max_model_len: int | None = None,
) -> int:
    """Return the cache bytes of the windowed layers for one sequence that has filled its window, on each GPU.

    Prefill of a long prompt holds up to ``max_num_batched_tokens`` more tokens for a moment; that is not
    counted.

    Raises:
        CatalogError: the model's layout is not understood.
        ValueError: ``tensor_parallel_degree`` is below 1.
    """
    _require(shape, tensor_parallel_degree)
    if shape.sliding_window is None:
        return 0
    tokens = shape.sliding_window if max_model_len is None else min(shape.sliding_window, max_model_len)
    layer = _layer_bytes(shape, SLIDING, tensor_parallel_degree, kv_dtype_bytes)
    return shape.layers_of(SLIDING) * tokens * layer


def linear_state_bytes_per_sequence(
    shape: ModelShape, *, tensor_parallel_degree: int = 1, state_dtype_bytes: int | None = None
) -> int | None:
    """Return the state bytes of the linear attention and Mamba layers for one sequence, on each GPU.

    The state is a convolution window of the model's type and a recurrent matrix (vLLM
    ``MambaStateShapeCalculator``); the padding that makes its pages as large as those of attention is not
    counted. None: the model has no such layer.

    Args:
        shape: the model.
        tensor_parallel_degree: GPUs that share the heads.
        state_dtype_bytes: bytes of a value of the recurrent state; None: what the config states, else the
            model's type.

    Raises:
        CatalogError: the model's layout is not understood.
        ValueError: ``tensor_parallel_degree`` is below 1.
    """
    _require(shape, tensor_parallel_degree)
    conv_bytes = _STATE_DTYPE_BYTES.get(shape.dtype, _DEFAULT_DTYPE_BYTES)
    if shape.linear_attention is not None:
        linear = shape.linear_attention
        recurrent = linear.num_value_heads * linear.value_head_dim * linear.key_head_dim
        window = linear.conv_width * (linear.conv_kernel - 1)
        layers, stated = shape.layers_of(LINEAR), linear.state_dtype
    elif shape.mamba is not None:
        recurrent = shape.mamba.inner_size * shape.mamba.state_size
        window = shape.mamba.conv_width * (shape.mamba.conv_kernel - 1)
        layers, stated = shape.layers_of(MAMBA), shape.mamba.state_dtype
    else:
        return None
    state_bytes = state_dtype_bytes or _STATE_DTYPE_BYTES.get(stated or shape.dtype, conv_bytes)
    layer = _share(window, tensor_parallel_degree) * conv_bytes
    layer += _share(recurrent, tensor_parallel_degree) * state_bytes
    return layers * layer


def _layer_bytes(shape: ModelShape, kind: str, tensor_parallel_degree: int, kv_dtype_bytes: int) -> int:
    heads = shape.heads_of(kind)
    own = _share(heads.num_key_value_heads, tensor_parallel_degree)
    return own * (heads.head_dim + heads.value_head_dim) * kv_dtype_bytes


def _share(count: int, tensor_parallel_degree: int) -> int:
    """Return what one GPU holds of something that is split, at least one: rounded up."""
    return -(-count // tensor_parallel_degree)


def _require(shape: ModelShape, tensor_parallel_degree: int) -> None:
    if tensor_parallel_degree < 1:
        raise ValueError(f"tensor_parallel_degree is {tensor_parallel_degree}; it is at least 1")
    if not shape.complete:
        raise CatalogError(f"the cache size of {shape.id} is not known: {shape.incomplete_reason}")
