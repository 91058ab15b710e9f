"""Checks of the endpoint itself: it is in service, with its instances, and runs the configuration that is defined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from warmstack.operate.asking import RefusedError, not_seen
from warmstack.operate.results import Result
from warmstack.operate.verification import checks
from warmstack.operate.verification.differences import model_differences, open_parts, routing_of, variant_differences
from warmstack.operate.verification.expected import Expected
from warmstack.operate.verification.live import Live
from warmstack.operate.verification.waiting import Settled

# SageMaker's maintenance: the endpoint serves while it lasts.
SERVING = frozenset({"InService", "SystemUpdating"})
COMPLETE = frozenset({"CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS"})


def check_stack(expected: Expected | None) -> Iterator[Result]:
    """Yield whether the stack's last operation came to its end."""
    if expected is None or expected.stack_status is None:
        return
    subject, status = expected.definition.stack, expected.stack_status
    check = checks.STACK
    yield check.passed(subject, status) if status in COMPLETE else check.failed(subject, f"its status is {status}")


def check_endpoint(settled: Settled, expected: Expected | None) -> Iterator[Result]:
    """Yield whether the endpoint is in service, and each variant has its instances.

    Args:
        settled: The endpoint.
        expected: The definition, or None.
    """
    endpoint = settled.endpoint
    reason = f"; FailureReason: {endpoint.failure}" if endpoint.failure else ""
    waited = f" after {settled.seconds:.0f} s" if settled.seconds >= 1 else ""
    if endpoint.status not in SERVING:
        late = f"{waited}, and the time is over" if settled.timed_out else waited
        yield checks.ENDPOINT.failed(
            endpoint.name,
            f"it is {endpoint.status}{late}{reason}",
            fix="wait longer with --timeout" if settled.timed_out and not endpoint.failure else None,
        )
    elif settled.rolled_back:
        yield checks.ENDPOINT.failed(
            endpoint.name, f"it is {endpoint.status}, and an update was rolled back while this waited{reason}"
        )
    elif reason:
        yield checks.ENDPOINT.warned(endpoint.name, f"it is {endpoint.status}{waited}{reason}")
    else:
        yield checks.ENDPOINT.passed(endpoint.name, f"it is {endpoint.status}{waited}")
    starts = {one.name: one.initial_instance_count for one in expected.definition.variants} if expected else {}
    for variant in endpoint.variants:
        status = f"; it is {variant.status}" if variant.status else ""
        seen = f"{variant.current} of {variant.desired} instances{status}"
        if starts.get(variant.name, variant.desired) != variant.desired:
            seen += f"; the template starts with {starts[variant.name]}, scaling may have chosen the rest"
        if variant.complete:
            yield checks.INSTANCES.passed(variant.name, seen, current=variant.current, desired=variant.desired)
        else:
            yield checks.INSTANCES.failed(variant.name, seen, current=variant.current, desired=variant.desired)


class ActiveConfiguration:
    """The configuration that an endpoint runs.

    Args:
        live: SageMaker.
        settled: The endpoint.
    """

    def __init__(self, live: Live, settled: Settled) -> None:
        self._live = live
        self._endpoint = settled.endpoint
        self._refused: RefusedError | None = None
        self._variants: dict[str, Mapping[str, Any]] = {}
        if self._endpoint.config_name is not None:
            try:
                found = live.configuration(self._endpoint.config_name)
                self._variants = {one["VariantName"]: one for one in found.get("ProductionVariants") or ()}
            except RefusedError as refused:
                self._refused = refused

    def prefix_length(self) -> int | None:
        """Return the PrefixLength of the variant that routes by prefixes, or None where none does."""
        lengths = [routing_of(one)[1] for one in self._variants.values() if routing_of(one)[0] == "PREFIX_AWARE"]
        return next((one for one in lengths if one is not None), None)

    def model_names(self) -> tuple[str, ...]:
        """Return the Models that its variants host."""
        return tuple(str(one["ModelName"]) for one in self._variants.values() if one.get("ModelName"))

    def check(self, expected: Expected | None, nothing: str) -> Iterator[Result]:
        """Yield whether it is the one that is defined.

        Args:
            expected: The definition, or None.
            nothing: Why there is none.
        """
        check, name = checks.CONFIGURATION, self._endpoint.config_name or "no configuration"
        if expected is None:
            yield check.skipped(
                name, f"there is nothing to compare it with: {nothing}", fix="name what it is to be: --assembly cdk.out"
            )
            return
        if expected.configurations and name not in expected.configurations:
            defined = ", ".join(sorted(expected.configurations))
            yield check.failed(
                name, f"the endpoint still runs configuration {name}; that of {expected.source} is {defined}"
            )
            return
        if self._refused is not None:
            yield not_seen(check, name, self._refused)
            return
        differences = self._differences(expected)
        if differences:
            yield check.failed(name, f"it is not that of {expected.source}: {'; '.join(differences)}")
        else:
            how = "by name and values" if expected.configurations else "by its values"
            yield check.passed(name, f"it is that of {expected.source}, {how}")

    def check_models(self, expected: Expected | None, components: Mapping[str, str | None]) -> Iterator[Result]:
        """Yield whether each model is the one that is defined.

        Args:
            expected: The definition, or None.
            components: The Model of each component that is there.
        """
        if expected is None:
            return
        pairs = [
            (defined.model, self._variants[defined.name].get("ModelName"))
            for defined in expected.definition.variants
            if defined.model is not None and defined.name in self._variants
        ]
        pairs += [
            (defined.model, components[defined.name])
            for defined in expected.definition.components
            if defined.base is None and components.get(defined.name)
        ]
        # Several may run one Model, and each is to run its own.
        for model, name in {(one.logical_id, str(name)): (one, str(name)) for one, name in pairs if name}.values():
            yield self._model(expected, model, name)

    def _differences(self, expected: Expected) -> list[str]:
        defined = {one.name: one for one in expected.definition.variants}
        found = [f"variant {one} is not there" for one in sorted(set(defined) - set(self._variants))]
        found += [f"variant {one} is not defined" for one in sorted(set(self._variants) - set(defined))]
        for name, variant in defined.items():
            if name in self._variants:
                prefix = f"{name}: " if len(defined) > 1 else ""
                found += [f"{prefix}{one}" for one in variant_differences(variant, self._variants[name])]
        return found

    def _model(self, expected: Expected, defined: Any, name: str) -> Result:
        check = checks.MODEL
        deployed = expected.deployed.get(defined.logical_id)
        if deployed is not None and deployed != name:
            return check.failed(name, f"the endpoint still runs model {name}; that of {expected.source} is {deployed}")
        try:
            live = self._live.model(name)
        except RefusedError as refused:
            if refused.kind == "missing":
                seen = "the endpoint runs it, and there is no such model any more: the next copy does not start"
                return check.failed(name, seen)
            if deployed is not None and refused.kind in ("denied", "unknown"):
                return check.passed(name, f"it is that of {expected.source}, by name")
            if refused.kind == "unknown":
                # The local endpoint runs from the template and has no Models of its own.
                return check.skipped(name, "this address describes no models: nothing of it is compared")
            return not_seen(check, name, refused)
        whole = defined.logical_id not in expected.unclear
        differences = list(model_differences(defined, live, whole=whole))
        if differences:
            return check.failed(name, f"it is not that of {expected.source}: {'; '.join(differences)}")
        unknown = " and ".join(open_parts(defined))
        told = f"; {unknown} cannot be known from the template" if unknown else ""
        return check.passed(name, f"it is that of {expected.source}: image, weights and environment{told}")
