"""Target tracking of a component's copies."""

from __future__ import annotations

from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from warmstack.plan import ServedModel

# Copies take minutes to start: scale out again only when the last ones count, scale in slowly.
SCALE_OUT_COOLDOWN_SECONDS = 300
SCALE_IN_COOLDOWN_SECONDS = 900


class CopyScaling(Construct):
    """Keeps the in-flight requests of a copy near the target (high resolution: 10-second data)."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        served: ServedModel,
        component: sagemaker.CfnInferenceComponent,
    ) -> None:
        super().__init__(scope, construct_id)
        # Late: the module takes 20 ms to load, and most stacks do not scale.
        from aws_cdk import aws_applicationautoscaling as scaling

        target = scaling.CfnScalableTarget(
            self,
            "Target",
            service_namespace="sagemaker",
            resource_id=f"inference-component/{served.physical_name}",
            scalable_dimension="sagemaker:inference-component:DesiredCopyCount",
            min_capacity=served.copies_min,
            max_capacity=served.copies_max,
        )
        target.add_resource_dependency(component)
        self.policy = scaling.CfnScalingPolicy(
            self,
            "Policy",
            policy_name=f"{served.physical_name}-in-flight",
            policy_type="TargetTrackingScaling",
            scaling_target_id=target.ref,
            target_tracking_scaling_policy_configuration=(
                scaling.CfnScalingPolicy.TargetTrackingScalingPolicyConfigurationProperty(
                    target_value=served.target_concurrency or 1,
                    scale_in_cooldown=SCALE_IN_COOLDOWN_SECONDS,
                    scale_out_cooldown=SCALE_OUT_COOLDOWN_SECONDS,
                    predefined_metric_specification=(
                        scaling.CfnScalingPolicy.PredefinedMetricSpecificationProperty(
                            predefined_metric_type=(
                                "SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution"
                            )
                        )
                    ),
                )
            ),
        )
