"""Which endpoint is to be verified, and where its definition is, from what the caller named."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warmstack.client.address import read_outputs
from warmstack.operate.errors import OperateError
from warmstack.operate.verification.expected import Expected, of_assembly
from warmstack.operate.verification.live import LiveEndpoint
from warmstack.operate.verification.run import ExpectedOf
from warmstack.operate.verification.stack import DeployedStack, describe_stack, of_stack
from warmstack.outputs import EndpointOutputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What the caller named.

    Args:
        target: An endpoint's name, or a file of outputs.
        stack: A stack: of the file, of the assembly, or a deployed one.
        assembly: A cloud assembly or template.
        local: Whether the endpoint is a local one, which has no CloudFormation.
        region: The Region.
    """

    target: str | None
    stack: str | None
    assembly: Path | None
    local: bool
    region: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An endpoint and its definition.

    Args:
        endpoint: The endpoint's name.
        outputs: What its stack publishes, or None.
        expected_of: Returns what it is to be.
        nothing: Why that is None, if it is.
    """

    endpoint: str
    outputs: EndpointOutputs | None
    expected_of: ExpectedOf
    nothing: str


def find_place(named: Named, cloudformation: Callable[[], Any]) -> Place:
    """Return the endpoint that is meant.

    Args:
        named: What the caller named.
        cloudformation: Makes boto3's client of CloudFormation, should it be needed.

    Raises:
        OperateError: Nothing is named, or no such endpoint is defined.
        EndpointError: The outputs cannot be read.
        RefusedError: CloudFormation could not be asked.
    """
    if named.target is not None and is_file(named.target):
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
        raise OperateError(
            "no endpoint is named: give its name, a file of cdk deploy --outputs-file, --stack with the name of a "
            "deployed stack, or --assembly cdk.out"
        )
    if named.local:
        raise OperateError(
            f"--stack is {named.stack!r}, and a local endpoint has no stacks to ask for: add --assembly cdk.out"
        )
    deployed = describe_stack(cloudformation(), named.stack)
    outputs = EndpointOutputs.from_outputs(deployed.outputs)
    return Place(
        endpoint=outputs.endpoint_name,
        outputs=outputs,
        expected_of=_of_deployed(deployed, cloudformation),
        nothing="",
    )


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
    if named.assembly is not None:
        expected_of = _of_assembly(named)
    elif stack is not None and not named.local:
        expected_of = _of_named(stack, cloudformation)
    elif named.local:
        nothing = "no --assembly is named, and a local endpoint has no stacks to ask for"
    return Place(endpoint=endpoint, outputs=outputs, expected_of=expected_of, nothing=nothing)


def _nothing(_: LiveEndpoint) -> Expected | None:
    return None


def _of_assembly(named: Named) -> ExpectedOf:
    assembly = named.assembly
    assert assembly is not None  # the callers have looked

    def read(live: LiveEndpoint) -> Expected:
        # Images of a stack without an environment lie in the account that it was deployed to.
        return of_assembly(
            assembly, endpoint=live.name, stack=None, account=live.account, region=live.region or named.region
        )

    return read


def _of_named(stack: str, cloudformation: Callable[[], Any]) -> ExpectedOf:
    def read(live: LiveEndpoint) -> Expected | None:
        # Not before the endpoint has come to rest: a stack that is still being updated has no status to judge.
        return _of_deployed(describe_stack(cloudformation(), stack), cloudformation)(live)

    return read


def _of_deployed(stack: DeployedStack, cloudformation: Callable[[], Any]) -> ExpectedOf:
    return lambda live: of_stack(cloudformation(), stack, endpoint=live.name, account=live.account, region=live.region)
