"""Inference components: a base with its copies, and the adapters on it."""

from __future__ import annotations

from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from stacks.copy_scaling import CopyScaling
from stacks.endpoint_resource import EndpointResource
from stacks.execution_role import ExecutionRole
from stacks.model_resource import ModelResource
from warmstack.plan import AdapterPlan, EndpointPlan, ServedModel

_Component = sagemaker.CfnInferenceComponent


class BaseComponent(Construct):
    """One served model as an inference component, with its scaling. Construct ids are names, never positions."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        served: ServedModel,
        endpoint: EndpointResource,
        plan: EndpointPlan,
        model: ModelResource,
    ) -> None:
        super().__init__(scope, construct_id)
        self.served = served
        self._endpoint = endpoint
        self.physical_name = str(served.physical_name)
        self.resource = _Component(
            self,
            "Resource",
            inference_component_name=self.physical_name,
            endpoint_name=endpoint.name,
            variant_name=plan.variant_name,
            specification=_Component.InferenceComponentSpecificationProperty(
                model_name=model.name,
                startup_parameters=_Component.InferenceComponentStartupParametersProperty(
                    model_data_download_timeout_in_seconds=served.download_timeout_seconds,
                    container_startup_health_check_timeout_in_seconds=served.startup_timeout_seconds,
                ),
                compute_resource_requirements=_Component.InferenceComponentComputeResourceRequirementsProperty(
                    number_of_accelerator_devices_required=served.accelerators,
                    min_memory_required_in_mb=served.memory_request_mb,
                ),
                scheduling_config=_spread() if served.spread else None,
            ),
            runtime_config=_Component.InferenceComponentRuntimeConfigProperty(copy_count=served.copies_min),
        )
        if served.target_concurrency is not None:
            CopyScaling(self, "Scaling", served=served, component=self.resource)

    def grant_invoke(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow a principal to invoke this component through its endpoint, streaming included, and nothing else.

        Both actions are authorized on the endpoint and on the component (Service Authorization Reference,
        Amazon SageMaker, InvokeEndpoint: endpoint, inference-component).
        """
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["sagemaker:InvokeEndpoint", "sagemaker:InvokeEndpointWithResponseStream"],
            resource_arns=[self._endpoint.resource.ref, self.resource.ref],
        )


class AdapterComponent(Construct):
    """One LoRA adapter: created after its base, deleted before it; it runs on the base's copies."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        adapter: AdapterPlan,
        base: BaseComponent,
        endpoint: EndpointResource,
        role: ExecutionRole,
    ) -> None:
        super().__init__(scope, construct_id)
        self.resource = _Component(
            self,
            "Resource",
            inference_component_name=adapter.physical_name,
            endpoint_name=endpoint.name,
            specification=_Component.InferenceComponentSpecificationProperty(
                # The resource has no attribute with its own name, so the literal is needed, and the
                # dependency below does what a reference would have done.
                base_inference_component_name=base.physical_name,
                container=_Component.InferenceComponentContainerSpecificationProperty(artifact_url=adapter.artifact),
            ),
        )
        self.resource.add_resource_dependency(base.resource)
        # A first adapter from a new folder widens the role's policy; the archive is read with it.
        self.resource.add_resource_dependency(role.resource)


def _spread() -> _Component.InferenceComponentSchedulingConfigProperty:
    """Copies on different instances: PREFIX_AWARE applies only when two instances can serve the request."""
    return _Component.InferenceComponentSchedulingConfigProperty(
        placement_strategy="SPREAD",
        availability_zone_balance=_Component.InferenceComponentAvailabilityZoneBalanceProperty(
            enforcement_mode="PERMISSIVE", max_imbalance=0
        ),
    )
