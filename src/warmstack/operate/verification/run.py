"""The whole of `warmstack verify`: what is looked at, in which order, and what is left out once something is missing.

::

    DescribeEndpoint, components ──waiting──▶ Settled ─┬─ endpoint, components ──▶ Results
    cdk.out or CloudFormation ──expected──▶ Expected ──┘
    EndpointClient ──canary, sessions, prefix──▶ Results
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from warmstack.assembly import ComponentDefinition
from warmstack.operate.asking import RefusedError, not_seen
from warmstack.operate.errors import OperateError
from warmstack.operate.results import Report, Result
from warmstack.operate.verification import checks
from warmstack.operate.verification.canary import Asked, ClientOf, check_canaries
from warmstack.operate.verification.components import check_components
from warmstack.operate.verification.endpoint import SERVING, ActiveConfiguration, check_endpoint, check_stack
from warmstack.operate.verification.expected import Expected
from warmstack.operate.verification.live import Live, LiveComponent, LiveEndpoint
from warmstack.operate.verification.prefix import check_prefixes
from warmstack.operate.verification.servers import Servers
from warmstack.operate.verification.sessions import check_sessions, has_sessions
from warmstack.operate.verification.waiting import Settled, Waiting, wait_until_settled
from warmstack.outputs import EndpointOutputs

ExpectedOf = Callable[[LiveEndpoint], Expected | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOrder:
    """What is to be verified.

    Args:
        endpoint: The endpoint's name.
        region: Where it is, as far as it is known before it is asked for.
        outputs: What its stack publishes, or None.
        canary: Whether requests are sent that generate something.
        waiting: How long to wait for it.
    """

    endpoint: str
    region: str | None
    outputs: EndpointOutputs | None
    canary: bool
    waiting: Waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyTools:
    """What verifying takes from its surroundings.

    Args:
        sagemaker: boto3's client of SageMaker's control plane.
        client_of: Makes clients of the endpoint and its components.
        expected_of: Returns what the endpoint is to be, once it is known which account and Region it is in.
        nothing: Why ``expected_of`` returns None, if it does.
        around: Says what is still done to the endpoint's stack, or nothing.
        wall: The time of day.
        new_id: Makes texts that no one has sent before.
    """

    sagemaker: Any
    client_of: ClientOf
    expected_of: ExpectedOf
    nothing: str
    around: Callable[[], str]
    wall: Callable[[], datetime]
    new_id: Callable[[], str]


def verify(order: VerifyOrder, tools: VerifyTools) -> Report:
    """Look at an endpoint, and return what was found. A failure is a result; nothing is raised for it.

    Args:
        order: What is to be verified.
        tools: What it takes.
    """
    live = Live(tools.sagemaker)
    facts: dict[str, str | None] = {"endpoint": order.endpoint, "region": order.region}
    try:
        settled = wait_until_settled(live, order.endpoint, order.waiting, tools.around)
    except RefusedError as refused:
        results = list(_without_endpoint(order, tools, refused))
        return Report(subject=order.endpoint, facts=facts, results=tuple(results))
    endpoint = settled.endpoint
    facts |= {
        "region": endpoint.region or order.region,
        "account": endpoint.account,
        "configuration": endpoint.config_name,
    }
    return Report(subject=order.endpoint, facts=facts, results=tuple(_with_endpoint(order, tools, live, settled)))


def _without_endpoint(order: VerifyOrder, tools: VerifyTools, refused: RefusedError) -> Iterator[Result]:
    if refused.kind == "missing":
        way_out = "deploy it, or look at the Region and the account of the credentials"
        where = f" in {order.region}" if order.region else ""
        yield checks.ENDPOINT.failed(order.endpoint, f"there is no such endpoint{where}", fix=way_out)
        return
    if refused.kind != "denied":
        seen = f"it could not be asked for: {refused.code}: {refused.said}"
        yield checks.ENDPOINT.failed(order.endpoint, seen, fix=refused.way_out())
        return
    yield not_seen(checks.ENDPOINT, order.endpoint, refused)
    # Whoever may only invoke can still see whether it answers.
    names = [one.physical_name for one in order.outputs.components.values()] if order.outputs else []
    asked = [Asked(name=one, shown=one) for one in names] or [Asked(name=None, shown=order.endpoint)]
    if order.canary:
        yield from check_canaries(tools.client_of, asked, Servers().reforms)


def _with_endpoint(order: VerifyOrder, tools: VerifyTools, live: Live, settled: Settled) -> Iterator[Result]:
    expected, nothing, unread = _expected(tools, settled)
    yield from check_stack(expected)
    yield from check_endpoint(settled, expected)
    configuration = ActiveConfiguration(live, settled)
    if unread is None:
        yield from configuration.check(expected, nothing)
    else:
        yield unread
    yield from configuration.check_models(expected, {name: one.model_name for name, one in settled.components.items()})
    published = [one.physical_name for one in order.outputs.components.values()] if order.outputs else []
    yield from check_components(settled, expected, published)
    asked = _asked(settled, published, expected)
    subject = settled.endpoint.name
    if not order.canary:
        for check in (checks.CANARY, checks.SESSION, checks.PREFIX):
            yield check.skipped(subject, "nothing is sent with --no-canary")
        return
    if settled.endpoint.status not in SERVING or not asked:
        seen = "there is nothing in service to ask"
        # Where nothing is wrong and nothing answers: scaled to no copies. Everything else is told by its status.
        is_idle = settled.endpoint.status in SERVING and all(one.settled for one in settled.components.values())
        is_idle = is_idle and all(one.status == "InService" for one in settled.components.values())
        yield checks.CANARY.warned(subject, seen) if is_idle else checks.CANARY.skipped(subject, seen)
        for check in (checks.SESSION, checks.PREFIX):
            yield check.skipped(subject, seen)
        return
    servers = Servers(live=live, expected=expected, outputs=order.outputs, models=_models(configuration, settled))
    silent: set[str | None] = set()
    yield from check_canaries(tools.client_of, asked, servers.reforms, silent)
    asked = [one for one in asked if one.name not in silent]
    if not asked:
        for check in (checks.SESSION, checks.PREFIX):
            yield check.skipped(subject, "nothing answers")
        return
    published_seconds = order.outputs.session_seconds if order.outputs else None
    yield from check_sessions(
        tools.client_of, asked, sessions=has_sessions(published_seconds, expected), wall=tools.wall()
    )
    yield from check_prefixes(
        tools.client_of,
        asked,
        prefix_length=configuration.prefix_length() or _defined_prefix_length(expected),
        servers=lambda one: _servers(settled, one),
        new_id=tools.new_id,
        reforms=servers.reforms,
        dialect=servers.dialect,
    )


def _expected(tools: VerifyTools, settled: Settled) -> tuple[Expected | None, str, Result | None]:
    """Return the definition; or why there is none, and the result that says so where it could not be read."""
    check, subject = checks.CONFIGURATION, settled.endpoint.config_name or settled.endpoint.name
    try:
        return tools.expected_of(settled.endpoint), tools.nothing, None
    except RefusedError as refused:
        return None, "", not_seen(check, subject, refused)
    except OperateError as error:
        # Guard: only what AWS refuses to show is unseen; a definition that is none must not pass in CI.
        way_out = "name what it is to be: --assembly cdk.out"
        return None, "", check.failed(subject, f"there is nothing to compare it with: {error}", fix=way_out)


def _asked(settled: Settled, published: Sequence[str], expected: Expected | None) -> list[Asked]:
    """Return what can be asked for a generation: bases before their adapters."""
    if not settled.components:
        whole = [Asked(name=None, shown=settled.endpoint.name)]
        # Where they may not be listed, those that are defined can be asked all the same.
        defined = expected.definition.components if expected is not None and settled.unlisted is not None else ()
        named = [Asked(name=one.name, shown=one.name, base=one.base) for one in sorted(defined, key=_is_adapter)]
        return named or [Asked(name=one, shown=one) for one in published] or whole
    able = {name for name, one in settled.components.items() if one.base is None and _able(one)}
    bases = [Asked(name=name, shown=name) for name in settled.components if name in able]
    adapters = [
        Asked(name=name, shown=name, base=one.base)
        for name, one in settled.components.items()
        if one.base in able and one.status == "InService"
    ]
    return bases + adapters


def _is_adapter(one: ComponentDefinition) -> bool:
    return one.base is not None


def _models(configuration: ActiveConfiguration, settled: Settled) -> dict[str | None, tuple[str, ...]]:
    """Return the Models by the names of their components; those of the variants by None."""
    found: dict[str | None, tuple[str, ...]] = {None: configuration.model_names()}
    return found | {name: (one.model_name,) for name, one in settled.components.items() if one.model_name}


def _able(one: LiveComponent) -> bool:
    return one.status in ("InService", "Updating") and one.current != 0


def _servers(settled: Settled, one: Asked) -> int:
    """Return how many can serve: prefixes route between instances, so copies on one of them count once."""
    instances = settled.endpoint.instances
    if one.name is None:
        return instances
    component = settled.components.get(one.name)
    return 0 if component is None else min(component.current or 0, instances)


def _defined_prefix_length(expected: Expected | None) -> int | None:
    variants = expected.definition.variants if expected is not None else ()
    return next((one.routing.prefix_length for one in variants if one.routing.strategy == "PREFIX_AWARE"), None)
