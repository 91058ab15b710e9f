"""What a stack publishes and the client reads: one place for the names of outputs and parameters.

Adapter names follow from the naming rule; the list of them is in SSM parameters, because CloudFormation limits
outputs and an endpoint may have hundreds of adapters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from warmstack.errors import WarmstackError
from warmstack.plan import ServedModel, physical_name

ENDPOINT_NAME = "EndpointName"
"""Output: the endpoint's physical name."""
DIALECT = "Dialect"
"""Output: the server whose request forms the endpoint speaks; components that differ say so themselves."""
SESSION_SECONDS = "SessionSeconds"
"""Output: how long a session lives, in seconds; 0 where the deployment has none."""
COMPONENT_PREFIX = "Component"
"""Outputs whose names start with this hold one component each, as JSON."""

# SSM: a standard parameter's value has at most 4,096 characters.
PARAMETER_CHARACTERS = 4096
_MOST_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentOutput:
    """One inference component as published.

    Args:
        name: the name in the spec.
        physical_name: the inference component's name.
        dialect: lmi, vllm or sglang.
    """

    name: str
    physical_name: str
    dialect: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOutputs:
    """A deployed endpoint as its stack's outputs describe it.

    Args:
        endpoint_name: the endpoint's name.
        dialect: the server's dialect.
        components: by the name in the spec; empty when the variant hosts the model itself.
        session_seconds: how long a session lives, in seconds; 0 for none, None where the stack does not tell.
    """

    endpoint_name: str
    dialect: str
    components: Mapping[str, ComponentOutput]
    session_seconds: int | None = None

    @classmethod
    def from_outputs(cls, outputs: Mapping[str, str]) -> EndpointOutputs:
        """Read a stack's outputs, as in ``cdk deploy --outputs-file`` or DescribeStacks.

        Raises:
            WarmstackError: an output is missing or is not what a Warmstack stack publishes.
        """
        missing = [name for name in (ENDPOINT_NAME, DIALECT) if name not in outputs]
        if missing:
            raise WarmstackError(f"the stack has no output {missing[0]}; it is not a Warmstack endpoint stack")
        found = [_component(key, text) for key, text in outputs.items() if key.startswith(COMPONENT_PREFIX)]
        return cls(
            endpoint_name=outputs[ENDPOINT_NAME],
            dialect=outputs[DIALECT],
            components={one.name: one for one in sorted(found, key=lambda one: one.name)},
            session_seconds=_seconds(outputs.get(SESSION_SECONDS)),
        )


def component_value(served: ServedModel) -> str:
    """Return the value of a component's output: JSON with its name, physical name and dialect."""
    value = {"name": served.component, "physical_name": served.physical_name, "dialect": served.server}
    return json.dumps(value, separators=(",", ":"))


def _seconds(text: str | None) -> int | None:
    # Guard: int() raises an error of its own for thousands of digits.
    if text is not None and not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise WarmstackError(f"output {SESSION_SECONDS} is {text[:80]!r}; it must be a whole number of seconds")
    return None if text is None else int(text)


def _component(key: str, text: str) -> ComponentOutput:
    try:
        value = json.loads(text)
        name, physical, dialect = (value[one] for one in ("name", "physical_name", "dialect"))
        if not (isinstance(name, str) and isinstance(physical, str) and isinstance(dialect, str)):
            raise TypeError("a field is no text")
        return ComponentOutput(name=name, physical_name=physical, dialect=dialect)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise WarmstackError(f"output {key} is not a component of a Warmstack stack: {text[:80]!r}") from error


def adapter_parameter_name(endpoint_name: str, component: str, part: int) -> str:
    """Return the name of the SSM parameter that lists adapters: ``/warmstack/{endpoint}/{component}/adapters/0``."""
    return f"/warmstack/{endpoint_name}/{component}/adapters/{part}"


def adapter_lists(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the adapters' names in the spec, in lists that each fit one parameter."""
    part: list[str] = []
    size = 0
    for name in sorted(names):
        if size + len(name) + 1 > PARAMETER_CHARACTERS:
            yield tuple(part)
            part, size = [], 0
        part.append(name)
        size += len(name) + 1
    if part:
        yield tuple(part)


def adapter_physical_name(endpoint_name: str, component: str, adapter: str) -> str:
    """Return an adapter's inference component name by the naming rule.

    Args:
        endpoint_name: the endpoint's name, which is ``{name}-{environment}`` unless it was cut.
        component: the component's name in the spec.
        adapter: the adapter's name in the spec.
    """
    return physical_name(endpoint_name, component, adapter)
