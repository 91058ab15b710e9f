"""What specs/tiered-cache.yaml deploys, written by hand with the CDK: the measure for what the plan costs on top.

It has the same resources and settings as the spec's stack. It reads no spec, checks nothing and serves one Region.
"""

from aws_cdk import App, Aws, CfnOutput, Fn, Stack, Tags
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker

NAME = "tiered-prod"
GROUP = f"arn:${{AWS::Partition}}:logs:${{AWS::Region}}:${{AWS::AccountId}}:log-group:/aws/sagemaker/Endpoints/{NAME}"
WEIGHTS = "qwen2.5-72b-instruct/"
ENVIRONMENT = {
    "LMCACHE_CHUNK_SIZE": "256",
    "LMCACHE_EXTRA_CONFIG": '{"use_odirect":true}',
    "LMCACHE_LOCAL_CPU": "True",
    "LMCACHE_LOCAL_DISK": "file:///tmp/lmcache/",
    "LMCACHE_MAX_LOCAL_CPU_SIZE": "65",
    "LMCACHE_MAX_LOCAL_DISK_SIZE": "512",
    "OPTION_ENABLE_PREFIX_CACHING": "true",
    "OPTION_GPU_MEMORY_UTILIZATION": "0.9",
    "OPTION_KV_TRANSFER_CONFIG": '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}',
    "OPTION_MAX_MODEL_LEN": "32768",
    "OPTION_MAX_ROLLING_BATCH_SIZE": "256",
    "OPTION_MODEL_LOADING_TIMEOUT": "1200",
    "OPTION_TENSOR_PARALLEL_DEGREE": "8",
    "PYTHONHASHSEED": "0",
}


def allow(actions: list[str], resources: list[str], **conditions: dict[str, list[str]]) -> iam.PolicyStatement:
    """Return a statement; the resources are for Fn::Sub."""
    return iam.PolicyStatement(
        actions=actions,
        resources=[Fn.sub(one) if "${" in one else one for one in resources],
        conditions=conditions or None,
    )


app = App(builtin_cloud_formation_validation=False)
stack = Stack(app, NAME, stack_name=NAME)
role = iam.Role(
    stack,
    "Role",
    assumed_by=iam.ServicePrincipal(
        "sagemaker.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
    ),
    inline_policies={
        "StartModels": iam.PolicyDocument(
            minimize=False,
            statements=[
                allow(["ecr:GetAuthorizationToken"], ["*"]),
                allow(
                    ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
                    ["arn:${AWS::Partition}:ecr:${AWS::Region}:763104351884:repository/djl-inference"],
                ),
                allow(["s3:GetObject"], [f"arn:${{AWS::Partition}}:s3:::acme-models/{WEIGHTS}*"]),
                allow(
                    ["s3:ListBucket"],
                    ["arn:${AWS::Partition}:s3:::acme-models"],
                    StringLike={"s3:prefix": [f"{WEIGHTS}*"]},
                ),
                allow(
                    ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
                    [GROUP, f"{GROUP}:*"],
                ),
                allow(
                    ["cloudwatch:PutMetricData"],
                    ["*"],
                    StringLike={"cloudwatch:namespace": ["AWS/SageMaker", "/aws/sagemaker/*"]},
                ),
            ],
        )
    },
)
model = sagemaker.CfnModel(
    stack,
    "Model",
    execution_role_arn=role.role_arn,
    primary_container=sagemaker.CfnModel.ContainerDefinitionProperty(
        image=Fn.sub("763104351884.dkr.ecr.${AWS::Region}.${AWS::URLSuffix}/djl-inference:0.38.0-lmi29.0.0-cu130"),
        environment=ENVIRONMENT,
        model_data_source=sagemaker.CfnModel.ModelDataSourceProperty(
            s3_data_source=sagemaker.CfnModel.S3DataSourceProperty(
                s3_uri=f"s3://acme-models/{WEIGHTS}", s3_data_type="S3Prefix", compression_type="None"
            )
        ),
    ),
)
config = sagemaker.CfnEndpointConfig(
    stack,
    "Config",
    production_variants=[
        sagemaker.CfnEndpointConfig.ProductionVariantProperty(
            variant_name="primary",
            model_name=model.attr_model_name,
            instance_type="ml.p4de.24xlarge",
            initial_instance_count=2,
            initial_variant_weight=1,
            inference_ami_version="al2023-ami-sagemaker-inference-gpu-4-1",
            model_data_download_timeout_in_seconds=1500,
            container_startup_health_check_timeout_in_seconds=1200,
            routing_config=sagemaker.CfnEndpointConfig.RoutingConfigProperty(
                routing_strategy="PREFIX_AWARE",
                prefix_aware_routing_config=sagemaker.CfnEndpointConfig.PrefixAwareRoutingConfigProperty(
                    prefix_length=4096, concurrency_threshold=128
                ),
            ),
        )
    ],
)
endpoint = sagemaker.CfnEndpoint(
    stack,
    "Endpoint",
    endpoint_name=NAME,
    endpoint_config_name=config.attr_endpoint_config_name,
    retain_all_variant_properties=True,
    exclude_retained_variant_properties=[
        sagemaker.CfnEndpoint.VariantPropertyProperty(variant_property_type="DesiredInstanceCount")
    ],
)
CfnOutput(stack, "EndpointName", value=endpoint.attr_endpoint_name)
CfnOutput(stack, "Dialect", value="lmi")
Tags.of(stack).add("team", "research")
app.synth()
