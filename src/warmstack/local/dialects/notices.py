"""What the dialects of a whole assembly cannot do here."""

from __future__ import annotations

from collections.abc import Iterator

from warmstack.assembly import Assembly, ModelDefinition
from warmstack.local.dialects.limits import said_at_start


def dialect_notices(assembly: Assembly, *, real: bool, defects: frozenset[str]) -> tuple[str, ...]:
    """Return what is otherwise than in the models' containers, a sentence each.

    Args:
        assembly: What was read.
        real: Whether the engines are real ones.
        defects: The servers' defects that are reproduced.
    """
    found: list[str] = []
    for model, strategy in _models(assembly):
        found += said_at_start(model, real=real, strategy=strategy, defects=defects)
    return tuple(dict.fromkeys(found))


def _models(assembly: Assembly) -> Iterator[tuple[ModelDefinition, str]]:
    for endpoint in assembly.endpoints:
        strategies = {variant.name: variant.routing.strategy for variant in endpoint.variants}
        for variant in endpoint.variants:
            if variant.model is not None:
                yield variant.model, variant.routing.strategy
        for component in endpoint.components:
            if component.base is None:
                yield component.model, strategies[component.variant_name]
