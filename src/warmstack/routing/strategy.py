"""The routing strategies of a production variant, and the rules that go with one."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from warmstack.routing.choices import RoutingChoices


class RoutingStrategy(StrEnum):
    """``RoutingStrategy`` of ProductionVariantRoutingConfig (botocore 1.44.8, read 2026-11-30)."""

    RANDOM = "RANDOM"
    LEAST_OUTSTANDING_REQUESTS = "LEAST_OUTSTANDING_REQUESTS"
    PREFIX_AWARE = "PREFIX_AWARE"
    KV_AWARE = "KV_AWARE"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingRules:
    """What decides where the requests of one production variant go.

    Args:
        strategy: The strategy of the variant.
        prefix_length: Bytes of the body, or characters of the messages; required by PREFIX_AWARE. SageMaker accepts
            1024..65536, and whoever reads a template holds it to that.
        concurrency_threshold: Requests in flight from which an instance or a copy is passed over; required by
            PREFIX_AWARE. SageMaker accepts 1..1024.
        per_copy: Whether requests are for an inference component: then the load is that of its copies, else that of
            the instance.
        choices: What SageMaker does not document.

    Raises:
        ValueError: PREFIX_AWARE without a length or threshold of at least one.
    """

    strategy: RoutingStrategy
    prefix_length: int | None = None
    concurrency_threshold: int | None = None
    per_copy: bool = False
    choices: RoutingChoices = field(default_factory=RoutingChoices)

    def __post_init__(self) -> None:
        if self.strategy is not RoutingStrategy.PREFIX_AWARE:
            return
        for name in ("prefix_length", "concurrency_threshold"):
            value = getattr(self, name)
            if value is None or value < 1:
                raise ValueError(f"{name} is {value}; PREFIX_AWARE needs it, and at least one")
