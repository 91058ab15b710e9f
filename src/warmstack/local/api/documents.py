"""What the control plane says of endpoints, configurations and components."""

from __future__ import annotations

from typing import Any

from warmstack.assembly import ComponentDefinition
from warmstack.local.api.services import Services
from warmstack.local.platform.copies import CopyState
from warmstack.local.platform.endpoints import Component, Endpoint, Variant


class Documents:
    """Writes the members of describe and list operations.

    Args:
        services: What it works with.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    def arn(self, kind: str, name: str) -> str:
        """Return the ARN of a resource."""
        return f"arn:aws:sagemaker:{self._services.region}:{self._services.account}:{kind}/{name}"

    def endpoint(self, endpoint: Endpoint) -> dict[str, Any]:
        """Return the members of DescribeEndpoint."""
        document = {
            "EndpointName": endpoint.name,
            "EndpointArn": self.arn("endpoint", endpoint.name),
            "EndpointConfigName": endpoint.definition.config_name,
            "ProductionVariants": [_variant_summary(endpoint, one) for one in endpoint.variants.values()],
            "EndpointStatus": _endpoint_status(endpoint) if self._services.platform.ready else "Creating",
            "CreationTime": endpoint.created_at,
            "LastModifiedTime": endpoint.progress.changed_at,
        }
        if endpoint.progress.failure:
            document["FailureReason"] = endpoint.progress.failure
        return document

    def endpoint_summary(self, endpoint: Endpoint) -> dict[str, Any]:
        """Return an entry of ListEndpoints."""
        whole = self.endpoint(endpoint)
        names = ("EndpointName", "EndpointArn", "CreationTime", "LastModifiedTime", "EndpointStatus")
        return {name: whole[name] for name in names}

    def config(self, endpoint: Endpoint) -> dict[str, Any]:
        """Return the members of DescribeEndpointConfig."""
        return {
            "EndpointConfigName": endpoint.definition.config_name,
            "EndpointConfigArn": self.arn("endpoint-config", endpoint.definition.config_name),
            "ProductionVariants": [_variant_config(one) for one in endpoint.variants.values()],
            "CreationTime": endpoint.created_at,
        }

    def component(self, endpoint: Endpoint, component: Component) -> dict[str, Any]:
        """Return the members of DescribeInferenceComponent."""
        definition = component.definition
        document: dict[str, Any] = {
            "InferenceComponentName": component.name,
            "InferenceComponentArn": self.arn("inference-component", component.name),
            "EndpointName": endpoint.name,
            "EndpointArn": self.arn("endpoint", endpoint.name),
            "VariantName": self.variant_name(endpoint, component),
            "Specification": _specification(definition),
            "CreationTime": component.created_at or endpoint.created_at,
            "LastModifiedTime": component.progress.changed_at or endpoint.created_at,
            "InferenceComponentStatus": _component_status(endpoint, component),
        }
        if component.progress.failure:
            document["FailureReason"] = component.progress.failure
        if definition.base is None:
            current = len(_serving(endpoint, component))
            document["RuntimeConfig"] = {"DesiredCopyCount": component.desired_copies, "CurrentCopyCount": current}
        return document

    def component_summary(self, endpoint: Endpoint, component: Component) -> dict[str, Any]:
        """Return an entry of ListInferenceComponents."""
        whole = self.component(endpoint, component)
        left_out = ("Specification", "RuntimeConfig", "FailureReason")
        return {name: value for name, value in whole.items() if name not in left_out}

    def variant_name(self, endpoint: Endpoint, component: Component) -> str:
        """Return the name of the variant that hosts a component."""
        return endpoint.components[component.hosts].definition.variant_name


def _specification(definition: ComponentDefinition) -> dict[str, Any]:
    if definition.base is not None:
        return {
            "BaseInferenceComponentName": definition.base,
            "Container": {"ArtifactUrl": definition.artifact_url},
        }
    model = definition.model
    needs = {
        "NumberOfAcceleratorDevicesRequired": definition.accelerators,
        "NumberOfCpuCoresRequired": definition.cpu_cores,
        "MinMemoryRequiredInMb": definition.min_memory_mib,
        "MaxMemoryRequiredInMb": definition.max_memory_mib,
    }
    asked = {"ComputeResourceRequirements": {name: value for name, value in needs.items() if value is not None}}
    if model.logical_id != definition.logical_id:
        return {"ModelName": model.name, **asked}
    # It has no model's name: its container is its own.
    container: dict[str, Any] = {
        "DeployedImage": {"SpecifiedImage": model.image},
        "Environment": dict(model.environment),
    }
    archive = {"ArtifactUrl": definition.artifact_url} if definition.artifact_url else {}
    return {"Container": container | archive, **asked}


def _serving(endpoint: Endpoint, component: Component) -> list[object]:
    return [copy for copy in endpoint.copies_of(component.hosts) if copy.state is CopyState.IN_SERVICE]


def _component_status(endpoint: Endpoint, component: Component) -> str:
    if component.progress.status != "InService":
        return component.progress.status
    if component.definition.base is not None:
        base = endpoint.components[component.definition.base]
        return _component_status(endpoint, base)
    states = {copy.state for copy in endpoint.copies_of(component.name)}
    if len(_serving(endpoint, component)) == component.desired_copies and states <= {CopyState.IN_SERVICE}:
        return "InService"
    return "Updating"


def _endpoint_status(endpoint: Endpoint) -> str:
    if endpoint.progress.status != "InService":
        return endpoint.progress.status
    own = endpoint.copies_of(None)
    return "Updating" if any(copy.state is CopyState.STARTING for copy in own) else "InService"


def _variant_summary(endpoint: Endpoint, variant: Variant) -> dict[str, Any]:
    definition = variant.definition
    current = len(variant.instances)
    if definition.model is not None:
        # An instance whose container does not serve is none of those that there are.
        current = len({copy.instance.name for copy in endpoint.serving(None, variant)})
    summary: dict[str, Any] = {
        "VariantName": definition.name,
        "CurrentWeight": definition.weight,
        "DesiredWeight": definition.weight,
        "CurrentInstanceCount": current,
        "DesiredInstanceCount": variant.desired_instances,
    }
    return summary | _managed_scaling(variant) | _routing(variant)


def _variant_config(variant: Variant) -> dict[str, Any]:
    definition = variant.definition
    document: dict[str, Any] = {
        "VariantName": definition.name,
        "InstanceType": definition.instance_type,
        "InitialInstanceCount": definition.initial_instance_count,
        "InitialVariantWeight": definition.weight,
    }
    if definition.model is not None:
        document["ModelName"] = definition.model.name
    return document | _managed_scaling(variant) | _routing(variant)


def _managed_scaling(variant: Variant) -> dict[str, Any]:
    definition = variant.definition
    if definition.max_instance_count is None:
        return {}
    return {
        "ManagedInstanceScaling": {
            "Status": "ENABLED",
            "MinInstanceCount": definition.min_instance_count or 0,
            "MaxInstanceCount": definition.max_instance_count,
        }
    }


def _routing(variant: Variant) -> dict[str, Any]:
    rules = variant.rules
    config: dict[str, Any] = {"RoutingStrategy": rules.strategy.value}
    if rules.prefix_length is not None:
        config["PrefixAwareRoutingConfig"] = {
            "PrefixLength": rules.prefix_length,
            "ConcurrencyThreshold": rules.concurrency_threshold,
        }
    return {"RoutingConfig": config}
