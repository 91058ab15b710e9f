"""``AWS::SageMaker::Endpoint``: only its name replaces it; another configuration is an update in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warmstack.local.aws.errors import ResourceError
from warmstack.local.aws.resources.handler import Existing, Made, Order
from warmstack.local.aws.resources.sagemaker_calls import (
    call,
    delete_and_wait,
    expect_in_service,
    name_of,
    set_tags,
    wait_until,
)
from warmstack.local.aws.resources.shapes import members_of

# Of these, CreateEndpoint knows nothing: they say what an update keeps.
_OF_UPDATES = ("ExcludeRetainedVariantProperties", "RetainAllVariantProperties", "RetainDeploymentConfig")


class Endpoint:
    """An endpoint."""

    replaces = frozenset({"EndpointName"})
    name_property = "EndpointName"
    attributes = frozenset({"EndpointArn", "EndpointName"})

    async def create(self, order: Order) -> Made:
        """Create the endpoint, and wait until it serves."""
        name = order.name("EndpointName")
        given = {key: value for key, value in order.properties.items() if key not in _OF_UPDATES}
        members = members_of("CreateEndpoint", {**given, "EndpointName": name, **_config(order)})
        arn = str((await call(order, "CreateEndpoint", members))["EndpointArn"])
        made = Made(physical_id=arn, attributes={"EndpointArn": arn, "EndpointName": name})
        order.began(made)
        await expect_in_service(order, "Endpoint", name)
        return made

    async def update(self, order: Order, before: Existing) -> Made:
        """Move the endpoint to its configuration, and wait until it serves with it."""
        name = name_of(before.physical_id)
        await set_tags(order, before.physical_id, before)
        wanted = _config(order)["EndpointConfigName"]
        # One that an earlier step has left in between comes to rest first.
        found = await wait_until(order, "Endpoint", name, order.pause)
        if not _serves(found, wanted) or _differs(order, before, "DeploymentConfig"):
            given = {key: value for key, value in order.properties.items() if key != "Tags"}
            members = members_of("UpdateEndpoint", {**given, "EndpointName": name, "EndpointConfigName": wanted})
            await call(order, "UpdateEndpoint", members)
            found = await expect_in_service(order, "Endpoint", name)
        if not _serves(found, wanted):
            # SageMaker takes an update back where new instances fail, and then the endpoint is in service as before.
            reason = found.get("FailureReason") or f"it still has configuration {found.get('EndpointConfigName')}"
            raise ResourceError(f"the update of endpoint {name} was rolled back by SageMaker: {reason}")
        return Made(physical_id=before.physical_id, attributes=before.attributes)

    async def delete(self, order: Order, existing: Existing) -> None:
        """Delete the endpoint, and wait until it is gone."""
        await delete_and_wait(order, "Endpoint", name_of(existing.physical_id))


def _config(order: Order) -> dict[str, Any]:
    if "EndpointConfigName" not in order.properties:
        raise ResourceError("EndpointConfigName is missing; CloudFormation requires it")
    return {"EndpointConfigName": name_of(order.properties["EndpointConfigName"])}


def _serves(found: Mapping[str, Any], config: str) -> bool:
    return found["EndpointStatus"] == "InService" and found.get("EndpointConfigName") == config


def _differs(order: Order, before: Existing, name: str) -> bool:
    return bool(order.properties.get(name) != before.properties.get(name))
