"""`verify` against a local endpoint in a thread, with a clock that goes by itself when something sleeps."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.unit.local.clients import control, session
from tests.unit.local.running import Local
from warmstack.assembly import EndpointDefinition
from warmstack.client import EndpointClient, RetryPolicy, connect
from warmstack.operate import Expected, Report, Result, VerifyOrder, VerifyTools, Waiting, verify
from warmstack.outputs import EndpointOutputs


@dataclass
class Time:
    """A clock that goes when something sleeps, and what happens then."""

    now: float = 0.0
    then: list[Callable[[], object]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.then:
            self.then.pop(0)()

    def waiting(self, timeout_seconds: float = 60) -> Waiting:
        return Waiting(
            timeout_seconds=timeout_seconds,
            clock=lambda: self.now,
            sleep=self.sleep,
            progress=lambda what, seconds: self.told.append(f"{what} ({seconds:.0f} s)"),
        )


def look(
    local: Local,
    endpoint: str = "demo",
    *,
    defined: EndpointDefinition | Expected | None = None,
    outputs: EndpointOutputs | None = None,
    canary: bool = True,
    time: Time | None = None,
    timeout_seconds: float = 60,
    sagemaker: Any = None,
    around: Callable[[], str] = str,
    expected_of: Callable[[Any], Expected | None] | None = None,
    client_of: Callable[[str | None], EndpointClient] | None = None,
) -> Report:
    """Verify an endpoint."""
    expected = defined if not isinstance(defined, EndpointDefinition) else of(defined)
    connection = connect(
        boto3_session=session(), endpoint_url=local.url, retry=RetryPolicy(attempts=2, base_seconds=0.01)
    )
    numbers = itertools.count()
    order = VerifyOrder(
        endpoint=endpoint,
        region="us-west-2",
        outputs=outputs,
        canary=canary,
        waiting=(time or Time()).waiting(timeout_seconds),
    )
    tools = VerifyTools(
        sagemaker=sagemaker or control(local.url),
        client_of=client_of or (lambda name: EndpointClient(endpoint, component=name, connection=connection)),
        expected_of=expected_of or (lambda _: expected),
        nothing="no template is named",
        around=around,
        wall=lambda: datetime.now(UTC),
        new_id=lambda: f"record-{next(numbers)}",
    )
    try:
        return verify(order, tools)
    finally:
        connection.close()


def of(definition: EndpointDefinition, **changes: Any) -> Expected:
    """Return a definition as a cloud assembly's."""
    return Expected(**{"source": "cdk.out", "definition": definition} | changes)


def outcomes(report: Report) -> dict[tuple[str, str], str]:
    return {(one.check.id, one.subject): one.outcome for one in report.results}


def one(report: Report, check: str, subject: str | None = None) -> Result:
    found = [each for each in report.results if each.check.id == check and subject in (None, each.subject)]
    assert len(found) == 1, [(each.check.id, each.subject, each.seen) for each in report.results]
    return found[0]


def wrong(report: Report) -> list[str]:
    return [f"{each.check.id}: {each.seen}" for each in report.results if each.outcome == "fail"]
