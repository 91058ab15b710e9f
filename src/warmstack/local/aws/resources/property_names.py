"""The names of the properties of each type, without those that CloudFormation only answers.

Source: CloudFormation's resource schemas, in cfn-lint's copy (read 2026-11-30); a test holds the table to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warmstack.assembly.near import near
from warmstack.local.aws.errors import invalid

PROPERTY_NAMES: Mapping[str, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        "AWS::ApplicationAutoScaling::ScalableTarget": (
            "MaxCapacity MinCapacity ResourceId RoleARN ScalableDimension ScheduledActions ServiceNamespace "
            "SuspendedState Tags"
        ),
        "AWS::ApplicationAutoScaling::ScalingPolicy": (
            "PolicyName PolicyType PredictiveScalingPolicyConfiguration ResourceId ScalableDimension "
            "ScalingTargetId ServiceNamespace StepScalingPolicyConfiguration "
            "TargetTrackingScalingPolicyConfiguration"
        ),
        "AWS::CDK::Metadata": "Analytics Modules",
        "AWS::CloudWatch::Alarm": (
            "ActionConfiguration ActionsEnabled AlarmActions AlarmDescription AlarmName ComparisonOperator "
            "DatapointsToAlarm Dimensions EvaluateLowSampleCountPercentile EvaluationCriteria "
            "EvaluationInterval EvaluationPeriods EvaluationWindow ExtendedStatistic InsufficientDataActions "
            "MetricName Metrics Namespace OKActions Period Statistic Tags Threshold ThresholdMetricId "
            "TreatMissingData Unit WarmUpConfiguration"
        ),
        "AWS::CloudWatch::Dashboard": "DashboardBody DashboardName Tags",
        "AWS::CodeBuild::Project": (
            "Artifacts AutoRetryLimit BadgeEnabled BuildBatchConfig Cache ConcurrentBuildLimit Description "
            "EncryptionKey Environment FileSystemLocations LogsConfig Name QueuedTimeoutInMinutes "
            "ResourceAccessRole SecondaryArtifacts SecondarySourceVersions SecondarySources ServiceRole Source "
            "SourceVersion Tags TimeoutInMinutes Triggers Visibility VpcConfig"
        ),
        "AWS::ECR::Repository": (
            "EmptyOnDelete EncryptionConfiguration ImageScanningConfiguration ImageTagMutability "
            "ImageTagMutabilityExclusionFilters LifecyclePolicy RepositoryName RepositoryPolicyText Tags"
        ),
        "AWS::IAM::ManagedPolicy": "Description Groups ManagedPolicyName Path PolicyDocument Roles Users",
        "AWS::IAM::Policy": "Groups PolicyDocument PolicyName Roles Users",
        "AWS::IAM::Role": (
            "AssumeRolePolicyDocument Description ManagedPolicyArns MaxSessionDuration Path PermissionsBoundary "
            "Policies RoleName Tags"
        ),
        "AWS::IAM::RolePolicy": "PolicyDocument PolicyName RoleName",
        "AWS::KMS::Alias": "AliasName TargetKeyId",
        "AWS::KMS::Key": (
            "BypassPolicyLockoutSafetyCheck Description EnableKeyRotation Enabled KeyPolicy KeySpec KeyUsage "
            "MultiRegion Origin PendingWindowInDays RotationPeriodInDays Tags"
        ),
        "AWS::Lambda::Function": (
            "Architectures CapacityProviderConfig Code CodeSigningConfigArn DeadLetterConfig Description "
            "DurableConfig Environment EphemeralStorage FileSystemConfigs FunctionName FunctionScalingConfig "
            "Handler ImageConfig KmsKeyArn Layers LoggingConfig MemorySize PackageType PublishToLatestPublished "
            "RecursiveLoop ReservedConcurrentExecutions Role Runtime RuntimeManagementConfig SnapStart Tags "
            "TenancyConfig Timeout TracingConfig VpcConfig"
        ),
        "AWS::Logs::LogGroup": (
            "BearerTokenAuthenticationEnabled DataProtectionPolicy DeletionProtectionEnabled FieldIndexPolicies "
            "KmsKeyId LogGroupClass LogGroupName ResourcePolicyDocument RetentionInDays Tags"
        ),
        "AWS::S3::Bucket": (
            "AbacStatus AccelerateConfiguration AccessControl AnalyticsConfigurations BucketEncryption "
            "BucketName BucketNamePrefix BucketNamespace CorsConfiguration IntelligentTieringConfigurations "
            "InventoryConfigurations LifecycleConfiguration LoggingConfiguration MetadataConfiguration "
            "MetadataTableConfiguration MetricsConfigurations NotificationConfiguration ObjectLockConfiguration "
            "ObjectLockEnabled OwnershipControls PublicAccessBlockConfiguration ReplicationConfiguration Tags "
            "VersioningConfiguration WebsiteConfiguration"
        ),
        "AWS::S3::BucketPolicy": "Bucket PolicyDocument",
        "AWS::SSM::Parameter": "AllowedPattern DataType Description Name Policies Tags Tier Type Value",
        "AWS::SageMaker::Endpoint": (
            "DeploymentConfig EndpointConfigName EndpointName ExcludeRetainedVariantProperties "
            "RetainAllVariantProperties RetainDeploymentConfig Tags"
        ),
        "AWS::SageMaker::EndpointConfig": (
            "AsyncInferenceConfig DataCaptureConfig EnableNetworkIsolation EndpointConfigName ExecutionRoleArn "
            "ExplainerConfig KmsKeyId MetricsConfig ProductionVariants ShadowProductionVariants Tags VpcConfig"
        ),
        "AWS::SageMaker::InferenceComponent": (
            "DeploymentConfig EndpointArn EndpointName InferenceComponentName RuntimeConfig Specification "
            "Specifications Tags VariantName"
        ),
        "AWS::SageMaker::Model": (
            "Containers EnableNetworkIsolation ExecutionRoleArn InferenceExecutionConfig ModelName "
            "PrimaryContainer Tags VpcConfig"
        ),
    }.items()
}
"""By the types; a custom resource has any."""


def check_names(kind: str, logical_id: str, properties: Mapping[str, Any]) -> None:
    """Refuse a property that a type does not have.

    Raises:
        StackError: There is one.
    """
    known = PROPERTY_NAMES.get(kind)
    unknown = [] if known is None else [one for one in properties if one not in known]
    if known is not None and unknown:
        said = "; ".join(f"extraneous key [{one}] is not permitted{near(one, known)}" for one in unknown)
        # CloudFormation's own words.
        raise invalid(f"Properties validation failed for resource {logical_id} with message: {said}")
