"""Checks of inference components and adapters: in service, with their copies, and those that are defined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warmstack.assembly import ComponentDefinition
from warmstack.operate.asking import not_seen
from warmstack.operate.results import Result
from warmstack.operate.verification import checks
from warmstack.operate.verification.expected import Expected
from warmstack.operate.verification.live import LiveComponent
from warmstack.operate.verification.waiting import Settled

# Value that only a deployment knows.
_OPEN = "${"


def check_components(settled: Settled, expected: Expected | None, published: Sequence[str]) -> Iterator[Result]:
    """Yield how each component is: those that are there, and those that should be.

    Args:
        settled: What is there.
        expected: The definition, or None.
        published: The physical names of the components that the stack publishes.
    """
    if settled.unlisted is not None:
        yield not_seen(checks.COMPONENT, settled.endpoint.name, settled.unlisted)
        return
    defined = {} if expected is None else {one.name: one for one in expected.definition.components}
    source = "the stack's outputs" if expected is None else expected.source
    for name in dict.fromkeys([*defined, *published]):
        if name not in settled.components:
            kind = "adapter" if name in defined and defined[name].base is not None else "component"
            yield checks.COMPONENT.failed(
                name, f"the endpoint has no such {kind}; {source} {'defines' if expected else 'name'} it"
            )
    for name, one in settled.components.items():
        yield _status(one, timed_out=settled.timed_out)
        if one.desired is not None:
            yield _copies(one, defined.get(name))
        if name in defined:
            yield from _definition(one, defined[name], source)
        elif expected is not None:
            base = f", an adapter of {one.base}" if one.base else ""
            yield checks.EXTRA.warned(name, f"{source} does not define it{base}")


def _status(one: LiveComponent, *, timed_out: bool) -> Result:
    what = "adapter" if one.base else "component"
    reason = f"; FailureReason: {one.failure}" if one.failure else ""
    if one.status == "InService":
        return checks.COMPONENT.passed(one.name, f"the {what} is InService{reason}")
    late = ", and the time is over" if timed_out else ""
    return checks.COMPONENT.failed(one.name, f"the {what} is {one.status}{late}{reason}")


def _copies(one: LiveComponent, defined: ComponentDefinition | None) -> Result:
    seen = f"{one.current} of {one.desired} copies"
    if defined is not None and one.desired != defined.copy_count:
        seen += f"; the template starts with {defined.copy_count}, scaling may have chosen the rest"
    if one.complete:
        return checks.COPIES.passed(one.name, seen, current=one.current, desired=one.desired)
    return checks.COPIES.failed(one.name, seen, current=one.current, desired=one.desired)


def _definition(one: LiveComponent, defined: ComponentDefinition, source: str) -> Iterator[Result]:
    if defined.base is None:
        return
    differences = []
    if one.base != defined.base:
        differences.append(f"its base is {one.base or 'none'}, defined is {defined.base}")
    artifact = defined.artifact_url
    if artifact is not None and _OPEN not in artifact and one.artifact != artifact:
        differences.append(f"its archive is {one.artifact or 'not told'}, defined is {artifact}")
    if differences:
        yield checks.DEFINITION.failed(one.name, f"it is not that of {source}: {'; '.join(differences)}")
    else:
        yield checks.DEFINITION.passed(one.name, f"on {one.base}, from {one.artifact}")
