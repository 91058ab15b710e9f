"""``AWS::SageMaker::InferenceComponent``: copies of a model on an endpoint, and adapters on them.

The resource's schema has no property that replaces (cfn-lint's copy, 2026-10-20), and UpdateInferenceComponent has no
member for an endpoint or a variant. What CloudFormation does with such a change is not documented: it is refused here.
"""

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

_FIXED = ("EndpointName", "InferenceComponentName", "VariantName")
_CHANGEABLE = ("DeploymentConfig", "RuntimeConfig", "Specification", "Specifications")


class InferenceComponent:
    """A component, or an adapter on one."""

    replaces: frozenset[str] = frozenset()
    name_property = "InferenceComponentName"
    attributes = frozenset({"CreationTime", "FailureReason", "InferenceComponentArn", "InferenceComponentStatus",
                            "LastModifiedTime", "RuntimeConfig.CurrentCopyCount",
                            "RuntimeConfig.DesiredCopyCount"})  # fmt: skip

    async def create(self, order: Order) -> Made:
        """Create the component, and wait until its copies serve."""
        name = order.name("InferenceComponentName")
        given = {
            key: value for key, value in order.properties.items() if key not in ("DeploymentConfig", "EndpointArn")
        }
        given |= {"InferenceComponentName": name, **_names(order)}
        members = members_of("CreateInferenceComponent", given)
        arn = str((await call(order, "CreateInferenceComponent", members))["InferenceComponentArn"])
        order.began(Made(physical_id=arn, attributes={"InferenceComponentArn": arn}))
        return _made(arn, await expect_in_service(order, "InferenceComponent", name))

    async def update(self, order: Order, before: Existing) -> Made:
        """Change its specification or its copies, and wait until they serve."""
        name = name_of(before.physical_id)
        found = await wait_until(order, "InferenceComponent", name, order.pause)
        _refuse_moves(order, found)
        await set_tags(order, before.physical_id, before)
        changed = _changed(order, before)
        if changed is not None or found["InferenceComponentStatus"] != "InService" or _former(order, found):
            members = {**(changed or _changeable(order)), "InferenceComponentName": name}
            await call(order, "UpdateInferenceComponent", members_of("UpdateInferenceComponent", members))
        found = await expect_in_service(order, "InferenceComponent", name)
        if former := _former(order, found):
            # SageMaker goes back where new copies do not start, and then the component is in service as before.
            raise ResourceError(
                f"the update of inference component {name} was rolled back by SageMaker: "
                f"{found.get('FailureReason') or former}"
            )
        return _made(before.physical_id, found)

    async def delete(self, order: Order, existing: Existing) -> None:
        """Delete the component, and wait until its copies are gone."""
        await delete_and_wait(order, "InferenceComponent", name_of(existing.physical_id))


def _refuse_moves(order: Order, found: Mapping[str, Any]) -> None:
    for fixed in _FIXED:
        now, wanted = found.get(fixed), order.properties.get(fixed)
        if wanted is not None and now is not None and name_of(wanted) != now:
            raise ResourceError(
                f"{fixed} changes from {now} to {wanted}: UpdateInferenceComponent cannot change it, and what "
                "CloudFormation does about it is not documented; give the component another logical id"
            )


def _changeable(order: Order) -> dict[str, Any]:
    """Return what an update can change, as SageMaker takes it."""
    names = _names(order)
    return {key: names.get(key, order.properties[key]) for key in _CHANGEABLE if key in order.properties}


def _changed(order: Order, before: Existing) -> dict[str, Any] | None:
    """Return the members of an update but the name; None where nothing changes that needs one."""
    now = _changeable(order)
    changed = {key for key in _CHANGEABLE if order.properties.get(key) != before.properties.get(key)}
    if changed == {"RuntimeConfig"} and "RuntimeConfig" in now:
        # The other members would say nothing new, and what there is may have been scaled out of band.
        return {"RuntimeConfig": now["RuntimeConfig"]}
    return now if changed - {"DeploymentConfig"} else None


def _former(order: Order, found: Mapping[str, Any]) -> str:
    """Return which part of its specification a component has not taken; empty where it runs what it is to run."""
    # As SageMaker was sent it, where a number in an environment is a text.
    wanted = members_of("UpdateInferenceComponent", _changeable(order)).get("Specification") or {}
    now = found.get("Specification") or {}
    container, runs = wanted.get("Container") or {}, now.get("Container") or {}
    for what, one, other in (
        ("ModelName", wanted.get("ModelName"), now.get("ModelName")),
        ("Container.ArtifactUrl", container.get("ArtifactUrl"), runs.get("ArtifactUrl")),
        ("Container.Image", container.get("Image"), (runs.get("DeployedImage") or {}).get("SpecifiedImage")),
        ("Container.Environment", container.get("Environment"), runs.get("Environment")),
    ):
        # What a description leaves out says nothing.
        if one is not None and other is not None and one != other:
            return f"its {what} is still {other}, not {one}"
    return ""


def _names(order: Order) -> dict[str, Any]:
    """Return the properties that name other resources, with names for ARNs."""
    found: dict[str, Any] = {}
    if "EndpointName" in order.properties:
        found["EndpointName"] = name_of(order.properties["EndpointName"])
    specification = order.properties.get("Specification")
    if isinstance(specification, dict):
        named = {key: name_of(specification[key]) for key in ("BaseInferenceComponentName", "ModelName")
                 if key in specification}  # fmt: skip
        found["Specification"] = {**specification, **named}
    return found


def _made(arn: str, found: Mapping[str, Any]) -> Made:
    runtime = found.get("RuntimeConfig") or {}
    attributes = {
        "CreationTime": str(found.get("CreationTime", "")),
        "FailureReason": str(found.get("FailureReason", "")),
        "InferenceComponentArn": arn,
        "InferenceComponentStatus": str(found["InferenceComponentStatus"]),
        "LastModifiedTime": str(found.get("LastModifiedTime", "")),
    }
    counts = {f"RuntimeConfig.{key}": str(value) for key, value in runtime.items()}
    return Made(physical_id=arn, attributes={**attributes, **counts})
