"""What SageMaker says of an endpoint that is deployed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from warmstack.operate.asking import ask, ask_all, reading

MOVING = frozenset({"Creating", "Updating", "SystemUpdating", "RollingBack"})
"""Statuses that end by themselves (botocore 1.44.8, EndpointStatus and InferenceComponentStatus)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveVariant:
    """A production variant that runs.

    Args:
        name: Its name.
        current: Instances that are there; None where it is not told.
        desired: Instances that there are to be.
        status: What it is doing besides, such as ``Baking``; empty for nothing.
    """

    name: str
    current: int | None
    desired: int | None
    status: str

    @property
    def complete(self) -> bool:
        """Whether it has its instances."""
        return self.current is None or self.desired is None or self.current == self.desired


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveEndpoint:
    """An endpoint that is there.

    Args:
        name: Its name.
        arn: Its ARN.
        status: EndpointStatus.
        failure: FailureReason, or None.
        config_name: The configuration that it runs.
        variants: Its variants.
    """

    name: str
    arn: str
    status: str
    failure: str | None
    config_name: str | None
    variants: tuple[LiveVariant, ...]

    @property
    def account(self) -> str | None:
        """The account in its ARN."""
        parts = self.arn.split(":")
        return parts[4] if len(parts) > 5 and parts[4] else None

    @property
    def region(self) -> str | None:
        """The Region in its ARN."""
        parts = self.arn.split(":")
        return parts[3] if len(parts) > 5 and parts[3] else None

    @property
    def instances(self) -> int:
        """The instances that are there."""
        return sum(one.current or 0 for one in self.variants)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveComponent:
    """An inference component that is there.

    Args:
        name: Its name.
        status: InferenceComponentStatus.
        failure: FailureReason, or None.
        current: Copies that run; None for an adapter.
        desired: Copies that are to run; None for an adapter.
        base: The base component of an adapter, or None.
        artifact: The archive of an adapter, or None.
        model_name: The Model, or None.
        needs: What a copy asks for, by the names of ComputeResourceRequirements; empty where it is not told.
        image: The image of a container of its own, as it was specified, or None.
        environment: The environment of a container of its own, or None.
    """

    name: str
    status: str
    failure: str | None
    current: int | None
    desired: int | None
    base: str | None
    artifact: str | None
    model_name: str | None
    needs: Mapping[str, float] = field(default_factory=dict)
    image: str | None = None
    environment: Mapping[str, str] | None = None

    @property
    def complete(self) -> bool:
        """Whether it has its copies."""
        return self.current is None or self.desired is None or self.current == self.desired

    @property
    def settled(self) -> bool:
        """Whether nothing about it will change by itself."""
        return self.status not in MOVING and (self.status != "InService" or self.complete)


class Live:
    """Asks SageMaker's control plane.

    Args:
        client: boto3's client of SageMaker.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def endpoint(self, name: str) -> LiveEndpoint:
        """Return an endpoint.

        Raises:
            RefusedError: It could not be asked for, or there is none (``missing``).
        """
        action = "sagemaker:DescribeEndpoint"
        found = ask(action, self._client.describe_endpoint, EndpointName=name)
        with reading(action):
            return LiveEndpoint(
                name=found["EndpointName"],
                arn=str(found.get("EndpointArn", "")),
                status=str(found["EndpointStatus"]),
                failure=found.get("FailureReason"),
                config_name=found.get("EndpointConfigName"),
                variants=tuple(_variant(one) for one in found.get("ProductionVariants") or ()),
            )

    def configuration(self, name: str) -> Mapping[str, Any]:
        """Return an endpoint configuration.

        Raises:
            RefusedError: It could not be asked for.
        """
        action = "sagemaker:DescribeEndpointConfig"
        found: Mapping[str, Any] = ask(action, self._client.describe_endpoint_config, EndpointConfigName=name)
        with reading(action):
            _ = [one["VariantName"] for one in found["ProductionVariants"]]
        return found

    def model(self, name: str) -> Mapping[str, Any]:
        """Return a Model.

        Raises:
            RefusedError: It could not be asked for.
        """
        found: Mapping[str, Any] = ask("sagemaker:DescribeModel", self._client.describe_model, ModelName=name)
        return found

    def component_statuses(self, endpoint: str) -> Iterator[tuple[str, str]]:
        """Yield the name and the status of each inference component of an endpoint.

        Raises:
            RefusedError: They could not be asked for.
        """
        action = "sagemaker:ListInferenceComponents"
        for one in ask_all(
            action,
            self._client,
            "list_inference_components",
            "InferenceComponents",
            EndpointNameEquals=endpoint,
            SortBy="Name",
            SortOrder="Ascending",
            MaxResults=100,
        ):
            with reading(action):
                pair = str(one["InferenceComponentName"]), str(one.get("InferenceComponentStatus", ""))
            yield pair

    def component(self, name: str) -> LiveComponent:
        """Return an inference component.

        Raises:
            RefusedError: It could not be asked for, or there is none (``missing``).
        """
        action = "sagemaker:DescribeInferenceComponent"
        found = ask(action, self._client.describe_inference_component, InferenceComponentName=name)
        with reading(action):
            return _component(found)


def container_of(model: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the container of an answer of DescribeModel; of several, the first."""
    containers = model.get("Containers") or ()
    found: Mapping[str, Any] = model.get("PrimaryContainer") or (containers[0] if containers else {})
    return found


def _component(found: Mapping[str, Any]) -> LiveComponent:
    # With several instance types the specifications are a list; what is compared here is the same in each.
    several = found.get("Specifications") or ()
    specification = found.get("Specification") or (several[0] if several else {})
    container = specification.get("Container") or {}
    runtime = found.get("RuntimeConfig") or {}
    base = specification.get("BaseInferenceComponentName")
    return LiveComponent(
        name=found["InferenceComponentName"],
        status=found.get("InferenceComponentStatus", ""),
        failure=found.get("FailureReason"),
        current=None if base else _count(runtime.get("CurrentCopyCount")),
        desired=None if base else _count(runtime.get("DesiredCopyCount")),
        base=base,
        artifact=container.get("ArtifactUrl"),
        model_name=specification.get("ModelName"),
        needs=_needs(specification.get("ComputeResourceRequirements") or {}),
        image=(container.get("DeployedImage") or {}).get("SpecifiedImage"),
        environment=container.get("Environment"),
    )


def _needs(found: Mapping[str, Any]) -> dict[str, float]:
    numbers = {name: float(value) for name, value in found.items() if value}
    return {name: int(value) if value.is_integer() else value for name, value in numbers.items()}


def _variant(found: Mapping[str, Any]) -> LiveVariant:
    return LiveVariant(
        name=found["VariantName"],
        current=_count(found.get("CurrentInstanceCount")),
        desired=_count(found.get("DesiredInstanceCount")),
        status=", ".join(one.get("Status", "") for one in found.get("VariantStatus") or ()),
    )


def _count(value: Any) -> int | None:
    return None if value is None else int(value)
