"""What is otherwise than in the template when a real engine stands in for the one on a GPU, as sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from warmstack.assembly import Assembly, ModelDefinition, carried_file
from warmstack.catalog import load_catalog
from warmstack.local.engines import LocalModel, Translation, TranslationRequest, translate

STAND_IN = LocalModel(
    folder=Path("small random model"),
    longest_tokens=32_768,
    layers=6,
    hidden_size=256,
    query_size=256,
    key_value_size=128,
    stands_in=True,
)
"""The shape of the small random model, for a look at what would be replaced before it is made."""


WOULD_NOT_START = "the container would not start with it"
"""In the reason of a setting that the server's own start refuses: on AWS, the worst of what is said here."""


def is_fatal(notice: str) -> bool:
    """Return whether a sentence tells of a setting with which a container would not start."""
    return WOULD_NOT_START in notice


def fatal_settings(assembly: Assembly) -> tuple[str, ...]:
    """Return a sentence for each setting with which a container of the template would not start."""
    return tuple(one for one in replacements(assembly, STAND_IN, 256 << 20) if is_fatal(one))


def translated(model: ModelDefinition, local: LocalModel, kv_cache_bytes: int) -> Translation:
    """Return what a local copy gets in the place of a model's environment.

    Args:
        model: The template's model.
        local: The one that is served here.
        kv_cache_bytes: How large the copy's KV cache is.
    """
    return translate(
        TranslationRequest(
            server=model.server or "vllm",
            environment=model.environment,
            model=local,
            tables=load_catalog().flags,
            carried=lambda path: carried_file(model, path),
            kv_cache_bytes=kv_cache_bytes,
        )
    )


def replacements(assembly: Assembly, local: LocalModel, kv_cache_bytes: int) -> tuple[str, ...]:
    """Return a sentence for each setting that the local engine does not get as it is in the template.

    Args:
        assembly: What was read.
        local: The model that is served here.
        kv_cache_bytes: How large each copy's KV cache is.
    """
    found: list[str] = []
    for model in _models(assembly):
        found.append(f"{model.name}: its model is replaced by {_described(local)}")
        found += [f"{model.name}: {one}" for one in translated(model, local, kv_cache_bytes).replacements]
    return tuple(dict.fromkeys(found))


def _described(local: LocalModel) -> str:
    return "a small random one: its answers mean nothing" if local.stands_in else f"the one in {local.folder}"


def _models(assembly: Assembly) -> Iterator[ModelDefinition]:
    for endpoint in assembly.endpoints:
        for variant in endpoint.variants:
            if variant.model is not None:
                yield variant.model
        yield from (component.model for component in endpoint.components if component.base is None)
