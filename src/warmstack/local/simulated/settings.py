"""What a simulated engine is told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """How long an answer takes. Zero everywhere: no time at all.

    Args:
        prefill_seconds_per_token: For each token of the prompt that is not cached.
        decode_seconds_per_token: For each token of the answer.
        overhead_seconds: For each request.
    """

    prefill_seconds_per_token: float = 0.0
    decode_seconds_per_token: float = 0.0
    overhead_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedSettings:
    """How an engine is simulated.

    Args:
        model_names: What the model is called; the first is shown. At least one.
        max_model_len: The longest prompt and answer, in tokens.
        max_num_seqs: How many requests run at once; others wait.
        block_size_tokens: The block of the prefix cache: 16 as vLLM's on a GPU.
        cache_blocks: How many blocks the prefix cache holds.
        prefix_caching: Whether there is one.
        reports_cached_tokens: Whether ``usage`` tells the cached tokens.
        adapters: Whether LoRA is on.
        latency: How long answers take.
    """

    model_names: tuple[str, ...] = ("simulated",)
    max_model_len: int = 32_768
    max_num_seqs: int = 256
    block_size_tokens: int = 16
    cache_blocks: int = 16_384
    prefix_caching: bool = True
    reports_cached_tokens: bool = False
    adapters: bool = False
    latency: Latency = Latency()
