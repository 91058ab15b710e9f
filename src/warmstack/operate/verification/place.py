"""Which endpoint is to be verified, and where its definition is, from what the caller named."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from warmstack.client.address import read_outputs
from warmstack.errors import WarmstackError
from warmstack.operate.asking import RefusedError
from warmstack.operate.errors import OperateError
from warmstack.operate.verification.endpoint import COMPLETE
from warmstack.operate.verification.expected import Expected, of_assembly
from warmstack.operate.verification.live import LiveEndpoint
from warmstack.operate.verification.run import ExpectedOf
from warmstack.operate.verification.stack import describe_stack, of_stack, work_on
from warmstack.outputs import EndpointOutputs

_NOTHING_NAMED = (
    "no endpoint is named: give its name, a file of cdk deploy --outputs-file, --stack with the name of a deployed "
    "stack, or --assembly cdk.out"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What the caller named.

    Args:
        target: An endpoint's name, or a file of outputs.
        stack: A stack: of the file, of the assembly, or a deployed one.
        assembly: A cloud assembly or template.
        stackless: Why there are no stacks to ask for, as the end of a sentence; empty where CloudFormation answers.
        region: The Region.
    """

    target: str | None
    stack: str | None
    assembly: Path | None
    stackless: str
    region: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An endpoint and its definition.

    Args:
        endpoint: The endpoint's name.
        outputs: What its stack publishes, or None.
        expected_of: Returns what it is to be.
        nothing: Why that is None, if it is.
        around: Says what is still done to its stack, or nothing.
    """

    endpoint: str
    outputs: EndpointOutputs | None
    expected_of: ExpectedOf
    nothing: str
    around: Callable[[], str] = str


def find_place(named: Named, cloudformation: Callable[[], Any]) -> Place:
    """Return the endpoint that is meant.

    Args:
        named: What the caller named.
        cloudformation: Makes boto3's client of CloudFormation, should it be needed.

    Raises:
        OperateError: Nothing is named, or no such endpoint is defined, or the assembly cannot be read.
        EndpointError: The outputs cannot be read.
        RefusedError: CloudFormation could not be asked.
    """
    in_file = named.target is not None and is_file(named.target)
    if named.stack is not None and named.stackless and named.assembly is None and not in_file:
        raise OperateError(
            f"--stack is {named.stack!r}, and {named.stackless}; add --assembly cdk.out, or deploy the stack to "
            "`warmstack local aws up`"
        )
    if named.target is not None and in_file:
        path = Path(named.target)
        outputs = read_outputs(path, stack=named.stack, cloudformation=cloudformation)
        stack = named.stack or next(iter(json.loads(path.read_text(encoding="utf-8"))))
        return _place(named, outputs.endpoint_name, outputs, stack, cloudformation)
    if named.target is not None:
        return _place(named, named.target, None, named.stack, cloudformation)
    if named.assembly is not None:
        found = of_assembly(named.assembly, endpoint=None, stack=named.stack, account=None, region=named.region)
        return _place(named, found.definition.name, None, named.stack, cloudformation)
    if named.stack is None:
        raise OperateError(_NOTHING_NAMED)
    outputs = _published(named.stack, named.region, cloudformation)
    return Place(
        endpoint=outputs.endpoint_name,
        outputs=outputs,
        expected_of=_of_named(named.stack, cloudformation),
        nothing="",
        around=_around(named.stack, cloudformation),
    )


def check_named(target: str | None, stack: str | None, assembly: Path | None) -> None:
    """Look at what was named as far as it can be without AWS: what is wrong there needs no Region to be told.

    Args:
        target: An endpoint's name, or a file of outputs.
        stack: A stack: of the file, of the assembly, or a deployed one.
        assembly: A cloud assembly or template.

    Raises:
        OperateError: Nothing is named, or the assembly is not there.
        EndpointError: The outputs cannot be read.
    """
    if target is None and stack is None and assembly is None:
        raise OperateError(_NOTHING_NAMED)
    if target is not None and is_file(target):
        read_outputs(Path(target), stack=stack, cloudformation=lambda: None)
    if assembly is not None and not assembly.exists():
        of_assembly(assembly, endpoint=None, stack=None, account=None, region=None)


def is_file(target: str) -> bool:
    """Return whether a target names a file of outputs, and not an endpoint."""
    return target.endswith(".json") or Path(target).is_file()


def _place(
    named: Named,
    endpoint: str,
    outputs: EndpointOutputs | None,
    stack: str | None,
    cloudformation: Callable[[], Any],
) -> Place:
    nothing = "no --assembly and no --stack is named"
    expected_of: ExpectedOf = _nothing
    around: Callable[[], str] = str
    if named.assembly is not None:
        # Before anything is waited for: a path that is wrong is told at once.
        of_assembly(named.assembly, endpoint=endpoint, stack=named.stack, account=None, region=named.region)
        expected_of = _of_assembly(named)
    elif named.stackless:
        nothing = f"no --assembly is named, and {named.stackless}"
    elif stack is not None:
        expected_of = _of_named(stack, cloudformation)
        around = _around(stack, cloudformation)
    return Place(endpoint=endpoint, outputs=outputs, expected_of=expected_of, nothing=nothing, around=around)


def _published(stack: str, region: str | None, cloudformation: Callable[[], Any]) -> EndpointOutputs:
    """Return what a deployed stack publishes."""
    try:
        deployed = describe_stack(cloudformation(), stack)
    except RefusedError as refused:
        if refused.kind != "missing":
            raise
        raise OperateError(
            f"--stack is {stack!r}, and there is no such stack in {region}; look at its name, the Region and the "
            "account, or deploy it"
        ) from refused
    try:
        return EndpointOutputs.from_outputs(deployed.outputs)
    except WarmstackError as error:
        # A creation that was rolled back leaves a stack that has a status and nothing else.
        way_out = "read its first failed event, mend it, and deploy again"
        if deployed.status in COMPLETE:
            way_out = "give the endpoint's name besides --stack"
        elif work_on(deployed):
            way_out = "wait until it has come to its end"
        why = str(error) if deployed.status in COMPLETE else "it publishes no endpoint"
        raise OperateError(f"--stack is {stack!r}, whose status is {deployed.status}: {why}; {way_out}") from error


def _nothing(_: LiveEndpoint) -> Expected | None:
    return None


def _of_assembly(named: Named) -> ExpectedOf:
    assembly = named.assembly
    assert assembly is not None  # the callers have looked

    def read(live: LiveEndpoint) -> Expected:
        # Images of a stack without an environment lie in the account that it was deployed to.
        return of_assembly(
            assembly, endpoint=live.name, stack=named.stack, account=live.account, region=live.region or named.region
        )

    return read


def _around(stack: str, cloudformation: Callable[[], Any]) -> Callable[[], str]:
    """Return what tells whether a stack is still being worked on."""
    client = cache(cloudformation)

    def tell() -> str:
        try:
            return work_on(describe_stack(client(), stack))
        except RefusedError:
            # That its template cannot be read is said where it is compared.
            return ""

    return tell


def _of_named(stack: str, cloudformation: Callable[[], Any]) -> ExpectedOf:
    def read(live: LiveEndpoint) -> Expected | None:
        # Not before the endpoint has come to rest: a stack that is still being updated has no status to judge.
        client = cloudformation()
        deployed = describe_stack(client, stack)
        return of_stack(client, deployed, endpoint=live.name, account=live.account, region=live.region)

    return read
