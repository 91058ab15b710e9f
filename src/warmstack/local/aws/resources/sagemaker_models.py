"""``AWS::SageMaker::Model`` and ``AWS::SageMaker::EndpointConfig``: every change but that of tags replaces them."""

from __future__ import annotations

from typing import Any

from warmstack.local.aws.resources.handler import Existing, Made, Order
from warmstack.local.aws.resources.sagemaker_calls import call, delete, name_of, set_tags
from warmstack.local.aws.resources.shapes import members_of


class Model:
    """A model: image, environment and weights."""

    replaces = frozenset(
        {
            "Containers", "EnableNetworkIsolation", "ExecutionRoleArn", "InferenceExecutionConfig", "ModelName",
            "PrimaryContainer", "VpcConfig",
        }
    )  # fmt: skip
    name_property = "ModelName"
    attributes = frozenset({"ModelArn", "ModelName"})

    async def create(self, order: Order) -> Made:
        """Create the model."""
        name = order.name("ModelName")
        members = members_of("CreateModel", {**order.properties, "ModelName": name})
        arn = str((await call(order, "CreateModel", members))["ModelArn"])
        return Made(physical_id=arn, attributes={"ModelArn": arn, "ModelName": name})

    async def update(self, order: Order, before: Existing) -> Made:
        """Set its tags."""
        await set_tags(order, before.physical_id, before)
        return Made(physical_id=before.physical_id, attributes=before.attributes)

    async def delete(self, order: Order, existing: Existing) -> None:
        """Delete the model."""
        await delete(order, "Model", name_of(existing.physical_id))


class EndpointConfig:
    """An endpoint's configuration: variants, instances, routing."""

    replaces = frozenset(
        {
            "AsyncInferenceConfig", "DataCaptureConfig", "EnableNetworkIsolation", "EndpointConfigName",
            "ExecutionRoleArn", "ExplainerConfig", "KmsKeyId", "MetricsConfig", "ProductionVariants",
            "ShadowProductionVariants", "VpcConfig",
        }
    )  # fmt: skip
    name_property = "EndpointConfigName"
    attributes = frozenset({"EndpointConfigArn", "EndpointConfigName"})

    async def create(self, order: Order) -> Made:
        """Create the configuration."""
        name = order.name("EndpointConfigName")
        properties: dict[str, Any] = {**order.properties, "EndpointConfigName": name}
        for variants in ("ProductionVariants", "ShadowProductionVariants"):
            if variants in properties:
                properties[variants] = [_by_name(one) for one in properties[variants]]
        members = members_of("CreateEndpointConfig", properties)
        arn = str((await call(order, "CreateEndpointConfig", members))["EndpointConfigArn"])
        return Made(physical_id=arn, attributes={"EndpointConfigArn": arn, "EndpointConfigName": name})

    async def update(self, order: Order, before: Existing) -> Made:
        """Set its tags."""
        await set_tags(order, before.physical_id, before)
        return Made(physical_id=before.physical_id, attributes=before.attributes)

    async def delete(self, order: Order, existing: Existing) -> None:
        """Delete the configuration."""
        await delete(order, "EndpointConfig", name_of(existing.physical_id))


def _by_name(variant: Any) -> Any:
    if isinstance(variant, dict) and "ModelName" in variant:
        return {**variant, "ModelName": name_of(variant["ModelName"])}
    return variant
