"""Calls of SageMaker that its handlers share: tags, names, and waiting for a status."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from warmstack.assembly.identities import name_in
from warmstack.local.aws.errors import ResourceError
from warmstack.local.aws.resources.handler import Existing, Order
from warmstack.local.wire.errors import ApiError

FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 1.0
_GROWTH = 1.5
_NOT_FOUND = "Could not find"
Pause = Callable[[float], Awaitable[None]]


async def call(order: Order, operation: str, members: Mapping[str, Any]) -> Mapping[str, Any]:
    """Call SageMaker.

    Raises:
        ResourceError: The stack is in another Region than the local SageMaker.
        ApiError: SageMaker refuses.
    """
    home = order.around.home_region
    if order.region != home:
        raise ResourceError(
            f"SageMaker is in {home} here, and the stack is in {order.region}: start the local AWS with --region "
            f"{order.region}"
        )
    return await order.around.sagemaker.call(operation, members)


def is_gone(error: ApiError) -> bool:
    """Return whether an error says that there is no such thing."""
    return _NOT_FOUND in error.message


def name_of(value: Any) -> str:
    """Return a name from a name or an ARN: ``Ref`` of SageMaker's resources answers their ARN."""
    return name_in(str(value))


async def wait_until(order: Order, kind: str, name: str, pause: Pause) -> Mapping[str, Any]:
    """Wait until an endpoint or a component is in no passing status; return its description.

    Args:
        order: The resource.
        kind: ``Endpoint`` or ``InferenceComponent``.
        name: Its name.
        pause: Waits some seconds.
    """
    seconds = FIRST_PAUSE_SECONDS
    while True:
        found = await call(order, f"Describe{kind}", {f"{kind}Name": name})
        if not _is_passing(str(found[f"{kind}Status"])):
            return found
        await pause(seconds)
        seconds = min(seconds * _GROWTH, LONGEST_PAUSE_SECONDS)


async def expect_in_service(order: Order, kind: str, name: str) -> Mapping[str, Any]:
    """Wait until an endpoint or a component serves; return its description.

    Raises:
        ResourceError: It failed; the reason is its own.
    """
    found = await wait_until(order, kind, name, order.pause)
    status = found[f"{kind}Status"]
    if status != "InService":
        raise ResourceError(str(found.get("FailureReason") or f"{name} is {status}"))
    return found


async def delete_and_wait(order: Order, kind: str, name: str) -> None:
    """Delete an endpoint or a component, and wait until it is gone. One that is gone already is no error."""
    sleep = order.around.sleep
    try:
        # What is being made or changed cannot be deleted: SageMaker wants it to end first.
        found = await wait_until(order, kind, name, sleep)
        if found[f"{kind}Status"] != "Deleting":
            await call(order, f"Delete{kind}", {f"{kind}Name": name})
        seconds = FIRST_PAUSE_SECONDS
        while True:
            found = await call(order, f"Describe{kind}", {f"{kind}Name": name})
            if found[f"{kind}Status"] == "Failed":
                raise ResourceError(str(found.get("FailureReason") or f"{name} could not be deleted"))
            await sleep(seconds)
            seconds = min(seconds * _GROWTH, LONGEST_PAUSE_SECONDS)
    except ApiError as error:
        if not is_gone(error):
            raise


async def delete(order: Order, kind: str, name: str) -> None:
    """Delete a model or an endpoint configuration; one that is gone already is no error."""
    try:
        await call(order, f"Delete{kind}", {f"{kind}Name": name})
    except ApiError as error:
        if not is_gone(error):
            raise


async def set_tags(order: Order, arn: str, before: Existing) -> None:
    """Set tags to what the properties say, and take away those that they no longer have."""
    now, then = (
        {one["Key"]: str(one["Value"]) for one in properties.get("Tags") or []}
        for properties in (order.properties, before.properties)
    )
    if gone := sorted(then.keys() - now.keys()):
        await call(order, "DeleteTags", {"ResourceArn": arn, "TagKeys": gone})
    if now and now != then:
        tags = [{"Key": key, "Value": value} for key, value in now.items()]
        await call(order, "AddTags", {"ResourceArn": arn, "Tags": tags})


def _is_passing(status: str) -> bool:
    return status.endswith("ing") or status == "RollingBack"
