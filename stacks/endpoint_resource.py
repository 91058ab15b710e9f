"""The endpoint and its configuration."""

from __future__ import annotations

from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from stacks.model_resource import ModelResource
from warmstack.plan import EndpointPlan, Plan

_Config = sagemaker.CfnEndpointConfig


class EndpointResource(Construct):
    """EndpointConfig and Endpoint. Only the endpoint has a fixed name: its configuration is replaced by edits."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        plan: Plan,
        model: ModelResource | None,
        role_arn: str,
    ) -> None:
        super().__init__(scope, construct_id)
        self._plan = plan
        endpoint = plan.endpoint
        self.config = _Config(
            self,
            "Config",
            production_variants=[_variant(plan, model)],
            execution_role_arn=role_arn if endpoint.uses_components else None,
            enable_network_isolation=True if endpoint.uses_components and endpoint.network_isolation else None,
            metrics_config=_metrics(endpoint),
        )
        self.resource = sagemaker.CfnEndpoint(
            self,
            "Resource",
            endpoint_name=endpoint.name,
            endpoint_config_name=self.config.attr_endpoint_config_name,
            retain_all_variant_properties=True,
            exclude_retained_variant_properties=_excluded(endpoint),
        )

    @property
    def name(self) -> str:
        """The endpoint's name; a reference, so that what uses it waits for the endpoint."""
        return self.resource.attr_endpoint_name

    def grant_invoke(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow a principal to invoke this endpoint, streaming included, and nothing else."""
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["sagemaker:InvokeEndpoint", "sagemaker:InvokeEndpointWithResponseStream"],
            resource_arns=[self.resource.ref],
        )


def _variant(plan: Plan, model: ModelResource | None) -> _Config.ProductionVariantProperty:
    endpoint = plan.endpoint
    own = None if endpoint.uses_components else plan.models[0]
    scaling = None
    if endpoint.instances_max > endpoint.instances_min:
        scaling = _Config.ManagedInstanceScalingProperty(
            status="ENABLED",
            min_instance_count=endpoint.instances_min,
            max_instance_count=endpoint.instances_max,
        )
    return _Config.ProductionVariantProperty(
        variant_name=endpoint.variant_name,
        model_name=None if model is None else model.name,
        instance_type=endpoint.instance.name,
        initial_instance_count=endpoint.instances_min,
        # A variant's traffic share; with one variant it is all of it, and CloudFormation wants it with a model.
        initial_variant_weight=None if model is None else 1,
        routing_config=_routing(endpoint),
        managed_instance_scaling=scaling,
        inference_ami_version=endpoint.inference_ami_version,
        model_data_download_timeout_in_seconds=None if own is None else own.download_timeout_seconds,
        container_startup_health_check_timeout_in_seconds=None if own is None else own.startup_timeout_seconds,
    )


def _routing(endpoint: EndpointPlan) -> _Config.RoutingConfigProperty:
    routing = endpoint.routing
    prefix = None
    if routing.prefix_length is not None and routing.concurrency_threshold is not None:
        prefix = _Config.PrefixAwareRoutingConfigProperty(
            prefix_length=routing.prefix_length, concurrency_threshold=routing.concurrency_threshold
        )
    return _Config.RoutingConfigProperty(routing_strategy=routing.strategy, prefix_aware_routing_config=prefix)


def _metrics(endpoint: EndpointPlan) -> _Config.MetricsConfigProperty | None:
    if not endpoint.enhanced_metrics and endpoint.metric_frequency_seconds == 60:
        return None
    return _Config.MetricsConfigProperty(
        enable_enhanced_metrics=endpoint.enhanced_metrics,
        metric_publish_frequency_in_seconds=endpoint.metric_frequency_seconds,
    )


def _excluded(endpoint: EndpointPlan) -> list[sagemaker.CfnEndpoint.VariantPropertyProperty] | None:
    """Retain what scaling has chosen, but let an edit of instances.min through where nothing scales.

    Guard: RetainAllVariantProperties alone would keep the old instance count and ignore the edit in silence.
    """
    if endpoint.instances_max > endpoint.instances_min:
        return None
    return [sagemaker.CfnEndpoint.VariantPropertyProperty(variant_property_type="DesiredInstanceCount")]
