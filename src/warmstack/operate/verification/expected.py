"""What an endpoint is to be: as a cloud assembly defines it, or the template of a deployed stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from warmstack.assembly import Assembly, AssemblyError, EndpointDefinition, read_assembly
from warmstack.operate.errors import OperateError


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The endpoint as it is defined.

    Args:
        source: Where that is said, for messages.
        definition: The endpoint.
        deployed: Logical id → the physical name that CloudFormation tells; empty without a deployed stack.
        configurations: The names of the stack's endpoint configurations; empty without a deployed stack.
        unclear: Logical ids of resources of whose environment the template does not say all.
        stack_status: That of the deployed stack, or None.
    """

    source: str
    definition: EndpointDefinition
    deployed: Mapping[str, str] = field(default_factory=dict)
    configurations: frozenset[str] = frozenset()
    unclear: frozenset[str] = frozenset()
    stack_status: str | None = None


def of_assembly(
    path: Path,
    *,
    endpoint: str | None,
    stack: str | None,
    account: str | None,
    region: str | None,
    parameters: Mapping[str, str] | None = None,
    deployed: Mapping[str, str] | None = None,
) -> Expected:
    """Return an endpoint as a cloud assembly or template defines it.

    Args:
        path: A ``cdk.out`` or a template.
        endpoint: The endpoint's name; None for the only one.
        stack: The stack; None for all.
        account: The account that it is deployed in, where it is known.
        region: Likewise the Region.
        parameters: Values of the template's parameters.
        deployed: The physical ids of a deployed stack's resources, by their logical ids.

    Raises:
        OperateError: It cannot be read, or does not define that endpoint.
    """
    try:
        assembly = read_assembly(
            path,
            stack=stack,
            account=account,
            region=region,
            parameters=parameters,
            deployed=deployed,
            # A name that is made up here is never that which CloudFormation makes.
            is_open=True,
        )
    except AssemblyError as error:
        raise OperateError(str(error)) from error
    return Expected(
        source=str(path),
        definition=_pick(assembly, endpoint, path),
        unclear=frozenset(one.logical_id for one in assembly.notices if "Environment" in one.what),
    )


def _pick(assembly: Assembly, endpoint: str | None, path: Path) -> EndpointDefinition:
    names = [one.name for one in assembly.endpoints]
    if endpoint is None:
        if len(names) > 1:
            raise OperateError(f"{path} defines several endpoints ({', '.join(names)}); name one, or its --stack")
        return assembly.endpoints[0]
    if endpoint not in names:
        raise OperateError(f"{path} does not define the endpoint {endpoint!r}; it defines {', '.join(names)}")
    return assembly.endpoints[names.index(endpoint)]
