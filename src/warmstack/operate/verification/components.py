"""Checks of inference components and adapters: in service, with their copies, and those that are defined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warmstack.assembly import ComponentDefinition
from warmstack.operate.asking import not_seen
from warmstack.operate.results import Result
from warmstack.operate.verification import checks
from warmstack.operate.verification.differences import base_differences, needs_defined, needs_of
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
    for name, refused in settled.undescribed.items():
        yield not_seen(checks.COMPONENT, name, refused)
    defined = {} if expected is None else {one.name: one for one in expected.definition.components}
    source = "the stack's outputs" if expected is None else expected.source
    for name in dict.fromkeys([*defined, *published]):
        if name not in settled.components and name not in settled.undescribed:
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
        # As for an endpoint: something that was asked of it did not come about.
        tell = checks.COMPONENT.warned if reason else checks.COMPONENT.passed
        return tell(one.name, f"the {what} is InService{reason}")
    late = ", and the time is over" if timed_out else ""
    return checks.COMPONENT.failed(one.name, f"the {what} is {one.status}{late}{reason}")


def _copies(one: LiveComponent, defined: ComponentDefinition | None) -> Result:
    seen = f"{one.current} of {one.desired} copies"
    if defined is not None and one.desired != defined.copy_count:
        seen += f"; the template starts with {defined.copy_count}, scaling may have chosen the rest"
    if one.desired == 0 and defined is not None and defined.copy_count:
        return checks.COPIES.warned(
            one.name,
            f"{seen}: it answers nothing until scaling adds a copy",
            fix="raise copies.min, or ask it once more when a copy is there",
            current=one.current,
            desired=0,
        )
    if one.complete:
        return checks.COPIES.passed(one.name, seen, current=one.current, desired=one.desired)
    return checks.COPIES.failed(one.name, seen, current=one.current, desired=one.desired)


def _definition(one: LiveComponent, defined: ComponentDefinition, source: str) -> Iterator[Result]:
    if defined.base is None:
        differences, seen = list(base_differences(defined, one)), f"it asks for {needs_of(one)}"
    else:
        differences, seen = list(_adapter_differences(defined, one)), f"on {one.base}, from {one.artifact}"
    if differences:
        yield checks.DEFINITION.failed(one.name, f"it is not that of {source}: {'; '.join(differences)}")
    elif defined.base is not None or one.needs:
        yield checks.DEFINITION.passed(one.name, seen)
    elif needs_defined(defined):
        yield checks.DEFINITION.skipped(one.name, "this address does not tell what a copy asks for")


def _adapter_differences(defined: ComponentDefinition, live: LiveComponent) -> Iterator[str]:
    if live.base != defined.base:
        yield f"its base is {live.base or 'none'}, defined is {defined.base}"
    artifact = defined.artifact_url
    if artifact is not None and _OPEN not in artifact and live.artifact != artifact:
        yield f"its archive is {live.artifact or 'not told'}, defined is {artifact}"
