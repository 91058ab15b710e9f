"""The derived values of a served model, each with its reason, as the plan's page shows them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warmstack.plan.model import Derived, ServedModel

GIVEN = "given in the spec"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Which values the spec gave, and how the others came about.

    Args:
        degree_reason: how the tensor parallel degree came about.
        degree_given: whether the spec gave it.
        allowed_degrees: the degrees the model allows on one instance.
        version_given: whether the spec pins the image.
        length_given: whether the spec gave max_model_len.
        sequences_given: whether the spec gave the number of requests at once.
        share_given: whether the spec gave the engine's share of the GPU memory.
        download_given: whether the spec gave the download timeout.
        startup_given: whether the spec gave the start-up timeout.
        request_tokens: the length of a request that max_num_seqs is derived from.
    """

    degree_reason: str
    degree_given: bool
    allowed_degrees: tuple[int, ...]
    version_given: bool
    length_given: bool
    sequences_given: bool
    share_given: bool
    download_given: bool
    startup_given: bool
    request_tokens: int


def served_derived(model: ServedModel, choices: Choices) -> Iterator[Derived]:
    """Yield the values of one served model; with a component its name stands before each."""
    allowed = ", ".join(str(one) for one in choices.allowed_degrees)
    own = model.shape.max_position_embeddings
    rows: list[tuple[str, str, str, bool]] = [
        (
            "image",
            f"{model.image.repository}:{model.image.tag}",
            ("engine.version" if choices.version_given else "the newest in the catalog")
            + ("" if model.image.build is None else "; an image of ours is built on it"),
            choices.version_given,
        ),
        (
            "tensor_parallel_degree",
            str(model.memory.tensor_parallel_degree),
            f"{choices.degree_reason} (allowed: {allowed})",
            choices.degree_given,
        ),
        (
            "max_model_len",
            f"{model.max_model_len:,} tokens",
            GIVEN
            if choices.length_given
            else "the model's own"
            if model.max_model_len == own
            else "the model's own, cut to what one copy's KV cache holds",
            choices.length_given,
        ),
        (
            "max_num_seqs",
            str(model.max_num_seqs),
            GIVEN
            if choices.sequences_given
            else f"KV for requests of {choices.request_tokens:,} tokens, a power of two, at most 256",
            choices.sequences_given,
        ),
        (
            "gpu_memory_utilization",
            f"{model.memory.gpu_memory_utilization:.2f}",
            GIVEN if choices.share_given else "rendered, so that a new engine version does not move it",
            choices.share_given,
        ),
        (
            "download_timeout",
            f"{model.download_timeout_seconds} s",
            GIVEN if choices.download_given else "300 s, plus twice the weights at 250 MB/s unless the hub serves them",
            choices.download_given,
        ),
        (
            "startup_timeout",
            f"{model.startup_timeout_seconds} s",
            GIVEN if choices.startup_given else "600 s, plus twice the weights at 500 MB/s, plus any hub download",
            choices.startup_given,
        ),
    ]
    if model.component is not None:
        reason = "worker processes, weights staging and the CPU tier, within the copy's share of the RAM"
        rows.insert(5, ("memory_request", f"{model.memory_request_mb:,} MiB", reason, False))
    prefix = "" if model.component is None else f"{model.component}."
    for name, value, why, given in rows:
        yield Derived(name=prefix + name, value=value, reason=why, given=given)
