"""A SageMaker Model: image, environment, weights."""

from __future__ import annotations

from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from stacks.images import Images
from warmstack.plan import ServedModel


class ModelResource(Construct):
    """One Model. It has no fixed name: every change replaces it, and CloudFormation cannot replace a fixed name."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        served: ServedModel,
        images: Images,
        role_arn: str,
        network_isolation: bool,
    ) -> None:
        super().__init__(scope, construct_id)
        source = None
        if served.weights_s3 is not None:
            source = sagemaker.CfnModel.ModelDataSourceProperty(
                s3_data_source=sagemaker.CfnModel.S3DataSourceProperty(
                    s3_uri=served.weights_s3, s3_data_type="S3Prefix", compression_type="None"
                )
            )
        self.resource = sagemaker.CfnModel(
            self,
            "Resource",
            execution_role_arn=role_arn,
            enable_network_isolation=True if network_isolation else None,
            primary_container=sagemaker.CfnModel.ContainerDefinitionProperty(
                image=images.uri(served),
                environment=dict(served.environment),
                model_data_source=source,
            ),
        )

        images.wait_for(served, self.resource)

    @property
    def name(self) -> str:
        """The Model's generated name."""
        return self.resource.attr_model_name
