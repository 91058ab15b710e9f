"""What starts an image's build and waits for it, for CloudFormation."""

from __future__ import annotations

from pathlib import Path

from aws_cdk import Aws, CfnElement
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as functions
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct

from stacks.statements import acknowledge_wildcard, policy

HANDLER = Path(__file__).parent / "image_build_handler"
RUNTIME = "python3.14"
RUN_SECONDS = 900
MEMORY_MB = 256


class BuildWaiter(Construct):
    """One function, which hands over to a new run of itself while a build goes on.

    The CDK's provider framework would do it with three functions and a state machine, and with the managed and
    wildcard policies of all four (docs/decisions/0017-own-build-waiter.md).
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, repository: ecr.CfnRepository, log_group: logs.CfnLogGroup
    ) -> None:
        super().__init__(scope, construct_id)
        self._role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal(
                "lambda.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
            ),
            description="Starts image builds and looks at how they end",
            inline_policies={
                "LookAtImages": policy(
                    ("DescribeImages", ["ecr:DescribeImages"], [repository.attr_arn]),
                    ("WriteLog", ["logs:CreateLogStream", "logs:PutLogEvents"], [log_group.attr_arn]),
                )
            },
        )
        acknowledge_wildcard(self._role, log_group, "a log stream is named by its run")
        code = s3_assets.Asset(self, "Code", path=str(HANDLER), exclude=["__pycache__", "*.pyc"])
        self._function = functions.CfnFunction(
            self,
            "Function",
            description="Builds images with CodeBuild while the stack deploys",
            runtime=RUNTIME,
            handler="index.handler",
            code=functions.CfnFunction.CodeProperty(s3_bucket=code.s3_bucket_name, s3_key=code.s3_object_key),
            role=self._role.role_arn,
            timeout=RUN_SECONDS,
            memory_size=MEMORY_MB,
            logging_config=functions.CfnFunction.LoggingConfigProperty(log_group=log_group.ref),
        )
        # Apart from the role, because it names the function that has the role.
        self._hand_over = self._allow("HandOver", ["lambda:InvokeFunction"], self._function.attr_arn)

    @property
    def service_token(self) -> str:
        """The function's ARN, for a custom resource."""
        return self._function.attr_arn

    def allow(self, name: str, project: codebuild.CfnProject) -> tuple[CfnElement, ...]:
        """Let the function start and look at the builds of one project; return what a build has to wait for."""
        build = self._allow(name, ["codebuild:BatchGetBuilds", "codebuild:StartBuild"], project.attr_arn)
        return (self._hand_over, build)

    def _allow(self, name: str, actions: list[str], resource: str) -> iam.CfnRolePolicy:
        return iam.CfnRolePolicy(
            self,
            name,
            role_name=self._role.role_name,
            policy_name=name,
            policy_document=policy((None, actions, [resource])),
        )
