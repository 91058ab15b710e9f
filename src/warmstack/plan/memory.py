"""What fits on the GPUs of one copy: weights, overhead, and the KV cache that is left.

Assumptions, each of them visible in the plan:

* The engine takes ``gpu_memory_utilization`` (0.90 unless the spec says otherwise) of the memory that the GPU
  reports, of which the driver keeps 1 %.
* Overhead per GPU is 1 GiB for the runtime, NCCL and CUDA graphs, plus activations of a prefill of 8,192 tokens,
  plus the logits of 256 requests. It is an estimate; engines measure their own at start.
* Weights are split evenly over the tensor parallel ranks.

On ml.p4de.24xlarge this gives Qwen2.5-1.5B about 2.5 M tokens of KV (degree 1) and Qwen2.5-72B about 470 K
(degree 4), within 5 % of the published 2.6 M and 480 K (AWS, LMI LMCache performance page).
"""

from __future__ import annotations

from dataclasses import dataclass

from warmstack.catalog import InstanceType, ModelShape
from warmstack.plan.kv import (
    kv_bytes_per_token_per_gpu,
    linear_state_bytes_per_sequence,
    sliding_window_bytes_per_sequence,
)
from warmstack.plan.model import GpuMemoryPlan
from warmstack.units import GIB

DRIVER_SHARE = 0.01
RUNTIME_BYTES = 1 * GIB
PREFILL_TOKENS = 8192
LOGIT_ROWS = 256
DEFAULT_UTILIZATION = 0.90
SGLANG_MEM_FRACTION = 0.85


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What a copy has to hold.

    Args:
        shape: the model.
        parameter_count: its parameters.
        weight_bytes: its weights as loaded.
        stored_bytes: its weights as they lie in S3 or on the hub.
        kv_dtype_bytes: bytes of one KV element: 2, or 1 with an 8-bit cache.
        gpu_memory_utilization: the engine's share of a GPU.
        extra_bytes: draft model and adapters on the GPUs, for the whole copy.
        outside_share: whether activations are taken from beyond the share (SGLang's mem_fraction_static).
        windows_grow: whether windowed layers keep every token. LMCache's connector makes vLLM switch its hybrid
            cache manager off (vLLM 0.32 ``config/vllm.py``), and then all layers are kept alike.
    """

    shape: ModelShape
    parameter_count: int
    weight_bytes: int
    stored_bytes: int
    kv_dtype_bytes: int
    gpu_memory_utilization: float
    extra_bytes: int
    outside_share: bool
    windows_grow: bool


def fit(load: Load, instance: InstanceType, degree: int, max_model_len: int | None) -> GpuMemoryPlan:
    """Return what one copy over ``degree`` GPUs holds.

    Args:
        load: what has to fit.
        instance: whose GPUs.
        degree: tensor parallel degree.
        max_model_len: tokens, or None while it is not chosen yet (then no full sequence is counted).
    """
    available = instance.gpu_memory_bytes * (1 - DRIVER_SHARE) * load.gpu_memory_utilization
    overhead = overhead_bytes(load.shape, degree, inside=not load.outside_share)
    rest = int(available - (load.weight_bytes + load.extra_bytes) / degree - overhead)
    per_gpu = kv_bytes_per_token_per_gpu(load.shape, degree, load.kv_dtype_bytes, windows_grow=load.windows_grow)
    left = max(0, rest - fixed_sequence_bytes(load, degree))
    tokens = left // per_gpu if per_gpu else 0
    return GpuMemoryPlan(
        tensor_parallel_degree=degree,
        gpu_memory_bytes=instance.gpu_memory_bytes,
        gpu_memory_utilization=load.gpu_memory_utilization,
        parameter_count=load.parameter_count,
        weight_bytes=load.weight_bytes,
        overhead_bytes_per_gpu=overhead + load.extra_bytes // degree,
        kv_bytes_per_gpu=max(0, rest),
        kv_bytes_per_token=per_gpu * degree,
        kv_tokens=tokens,
        max_full_sequences=tokens // max_model_len if max_model_len else 0,
    )


def overhead_bytes(shape: ModelShape, degree: int, *, inside: bool = True) -> int:
    """Return the estimated bytes of one GPU that are neither weights nor KV cache."""
    if not inside:
        return RUNTIME_BYTES // 2
    inner = shape.intermediate_size or 4 * shape.hidden_size
    if shape.experts is not None and shape.experts.moe_intermediate_size:
        inner = max(inner, shape.experts.moe_intermediate_size * (shape.experts.per_token or 1))
    # Residual, norm, attention output and a copy: 4 x hidden; gate and up projections: 2 x inner, split by rank.
    activations = PREFILL_TOKENS * (4 * shape.hidden_size + 2 * inner // degree) * 2
    logits = LOGIT_ROWS * shape.vocab_size * 4
    return RUNTIME_BYTES + activations + logits


def fixed_sequence_bytes(load: Load, degree: int) -> int:
    """Return bytes per GPU that running sequences take whatever their length: windows and linear states.

    Counted for 16 sequences: hybrid models reserve them as slots, so this is a floor, not a maximum.
    """
    window = 0
    if not load.windows_grow:
        window = sliding_window_bytes_per_sequence(
            load.shape, kv_dtype_bytes=load.kv_dtype_bytes, tensor_parallel_degree=degree
        )
    state = linear_state_bytes_per_sequence(load.shape, tensor_parallel_degree=degree) or 0
    return 16 * (window + state)


def lora_slot_bytes(shape: ModelShape, rank: int) -> int:
    """Return the bytes of one adapter of ``rank`` on every linear layer, 16-bit, for the whole copy.

    Each adapted matrix adds rank x (in + out) parameters (LoRA, Hu et al. 2021, section 4.1).
    """
    hidden, head = shape.hidden_size, shape.head_dim
    query, kv = shape.num_attention_heads * head, shape.num_key_value_heads * head
    inner = shape.intermediate_size or 4 * hidden
    widths = 2 * (hidden + query) + 2 * (hidden + kv) + 3 * (hidden + inner)
    return shape.num_layers * rank * widths * 2


def draft_head_bytes(shape: ModelShape) -> int:
    """Return an estimate of an EAGLE draft's bytes: one decoder layer, a fusing projection and its own head."""
    hidden = shape.hidden_size
    inner = shape.intermediate_size or 4 * hidden
    layer = 4 * hidden * hidden + 3 * hidden * inner
    return 2 * (layer + 3 * hidden * hidden + 2 * shape.vocab_size * hidden)
