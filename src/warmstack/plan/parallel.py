"""Tensor parallel degrees that a model allows, and the one to choose."""

from __future__ import annotations

from collections.abc import Callable

from warmstack.catalog import ModelShape


def allows(shape: ModelShape, degree: int) -> bool:
    """Return whether the model can be split over ``degree`` GPUs.

    The degree divides the attention heads; KV heads are split when there are enough, else replicated whole
    (vLLM ``verify_with_parallel_config``: heads % degree == 0, and KV heads divide the degree or the reverse).
    """
    if shape.num_attention_heads % degree:
        return False
    kv_heads = shape.num_key_value_heads
    return shape.mla is not None or kv_heads % degree == 0 or degree % kv_heads == 0


def degrees(shape: ModelShape, gpus: int) -> tuple[int, ...]:
    """Return the degrees that the model allows on at most ``gpus`` GPUs, smallest first."""
    return tuple(degree for degree in range(1, gpus + 1) if allows(shape, degree))


def largest(shape: ModelShape, gpus: int) -> int:
    """Return the largest degree on ``gpus`` GPUs: what a variant that hosts the model itself uses."""
    return degrees(shape, gpus)[-1]


def smallest_that_fits(shape: ModelShape, gpus: int, fits: Callable[[int], bool]) -> int | None:
    """Return the smallest degree for which ``fits`` holds: what a component uses; None if none does."""
    return next((degree for degree in degrees(shape, gpus) if fits(degree)), None)


def nearest(shape: ModelShape, wanted: int, gpus: int) -> tuple[int, ...]:
    """Return the allowed degrees just below and just above ``wanted``, for a message."""
    allowed = degrees(shape, gpus)
    below = [degree for degree in allowed if degree < wanted][-1:]
    above = [degree for degree in allowed if degree > wanted][:1]
    return tuple(below + above)
