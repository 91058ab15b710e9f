"""What is known of the server that answers: whether a formatter stands before it, and which server it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from warmstack.assembly import ModelDefinition
from warmstack.operate.asking import RefusedError
from warmstack.operate.verification.canary import Asked
from warmstack.operate.verification.expected import Expected
from warmstack.operate.verification.live import Live, container_of
from warmstack.outputs import EndpointOutputs

FORMATTERS = "WARMSTACK_FORMATTERS"
"""The variable that names the file with a model's formatters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Servers:
    """The servers of an endpoint.

    Args:
        live: SageMaker; None where it may not be asked.
        expected: The definition, or None.
        outputs: What the stack publishes, or None.
        models: The Models that are deployed, by the component's name; None for those of the variants.
    """

    live: Live | None = None
    expected: Expected | None = None
    outputs: EndpointOutputs | None = None
    models: Mapping[str | None, tuple[str, ...]] = field(default_factory=dict)

    def reforms(self, one: Asked) -> bool | None:
        """Return whether a formatter may change the form of answers; None where nothing says it."""
        if one.base is not None:
            # What its archive holds is known to nobody here: it may bring a formatter of its own.
            return True
        environments = list(self._environments(one.name))
        return any(FORMATTERS in each for each in environments) if environments else None

    def dialect(self, one: Asked) -> str | None:
        """Return which server it is: lmi, vllm or sglang; None where nothing says it."""
        defined = next((each.server for each in self._defined(one.name) if each.server is not None), None)
        if defined is not None or self.outputs is None:
            return defined
        published = {each.physical_name: each.dialect for each in self.outputs.components.values()}
        return published.get(one.name or "", self.outputs.dialect)

    def _defined(self, name: str | None) -> Iterator[ModelDefinition]:
        if self.expected is None:
            return
        if name is None:
            yield from (each.model for each in self.expected.definition.variants if each.model is not None)
        else:
            yield from (each.model for each in self.expected.definition.components if each.name == name)

    def _environments(self, name: str | None) -> Iterator[Mapping[str, str]]:
        yield from (each.environment for each in self._defined(name))
        if self.live is None:
            return
        for model in self.models.get(name, ()):
            try:
                found = self.live.model(model)
            except RefusedError:
                continue
            yield container_of(found).get("Environment") or {}
