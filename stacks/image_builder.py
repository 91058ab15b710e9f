"""Images built in the account by CodeBuild while the stack deploys: no Docker is needed where the CDK CLI runs."""

from __future__ import annotations

from pathlib import Path

from aws_cdk import Acknowledgment, Aws, CustomResource, Duration, RemovalPolicy, Validations
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct

from stacks.build_waiter import BuildWaiter
from stacks.registry import Registry
from stacks.statements import acknowledge_wildcard, policy
from warmstack.plan import ImageBuild

# Below the hour that CloudFormation waits for a custom resource, so that a build that hangs ends with its reason.
BUILD_MINUTES = 45
QUEUE_MINUTES = 5
LOG_DAYS = 30
BUILD_IMAGE = "aws/codebuild/standard:7.0"
# 7 GiB of RAM, 128 GB of disk: the server images take 20 GB and more, unpacked beside what is built on them.
COMPUTE = "BUILD_GENERAL1_MEDIUM"

# Values come as environment variables and are only ever read in quotes: no text in them becomes a command.
BUILD_SPEC = """\
version: 0.2
env:
  shell: bash
phases:
  pre_build:
    commands:
      - set -o pipefail
      - >-
        if [ "$BASE_LOGIN" = "true" ]; then
        aws ecr get-login-password --region "$BASE_REGION" |
        docker login --username AWS --password-stdin "$BASE_REGISTRY"; fi
      - >-
        aws ecr get-login-password --region "$AWS_REGION" |
        docker login --username AWS --password-stdin "$IMAGE_REGISTRY"
  build:
    commands:
      - docker build --platform linux/amd64 --build-arg "BASE_IMAGE=$BASE_IMAGE" --tag "$IMAGE_URI" .
      - docker push "$IMAGE_URI"
"""


class ImageBuilder(Construct):
    """A repository, and a build for each image; a failed build fails the stack with its reason."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self.repository = ecr.CfnRepository(
            self,
            "Repository",
            # A tag is the hash of what the image is made from: it never means anything else.
            image_tag_mutability="IMMUTABLE",
            image_scanning_configuration=ecr.CfnRepository.ImageScanningConfigurationProperty(scan_on_push=True),
            empty_on_delete=True,
        )
        self.logs = logs.CfnLogGroup(self, "Logs", retention_in_days=LOG_DAYS)
        self.logs.apply_removal_policy(RemovalPolicy.DESTROY)
        self.waiter = BuildWaiter(self, "Waiter", repository=self.repository, log_group=self.logs)

    @property
    def repository_arn(self) -> str:
        """The repository's ARN."""
        return self.repository.attr_arn


class BuiltImage(Construct):
    """One image: its build context, its project, and the resource that is there when the image is."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        builder: ImageBuilder,
        image: ImageBuild,
        folder: Path,
        registry: Registry,
    ) -> None:
        """Define the build.

        Args:
            scope: the parent.
            construct_id: the image's name in the plan.
            builder: the repository to push to, and what waits for builds.
            image: the image in the plan.
            folder: its build context.
            registry: fills in the plan's texts.
        """
        super().__init__(scope, construct_id)
        context = s3_assets.Asset(self, "Context", path=str(folder))
        self.uri = f"{builder.repository.attr_repository_uri}:{context.asset_hash}"
        role = self._role(builder, image, context, registry)
        project = codebuild.CfnProject(
            self,
            "Project",
            description=f"Builds the {image.server} image {image.version}",
            service_role=role.role_arn,
            artifacts=codebuild.CfnProject.ArtifactsProperty(type="NO_ARTIFACTS"),
            source=codebuild.CfnProject.SourceProperty(
                type="S3", location=f"{context.s3_bucket_name}/{context.s3_object_key}", build_spec=BUILD_SPEC
            ),
            environment=codebuild.CfnProject.EnvironmentProperty(
                type="LINUX_CONTAINER",
                compute_type=COMPUTE,
                image=BUILD_IMAGE,
                privileged_mode=True,
                environment_variables=[
                    codebuild.CfnProject.EnvironmentVariableProperty(name=name, value=value, type="PLAINTEXT")
                    for name, value in self._variables(image, registry).items()
                ],
            ),
            timeout_in_minutes=BUILD_MINUTES,
            queued_timeout_in_minutes=QUEUE_MINUTES,
            logs_config=codebuild.CfnProject.LogsConfigProperty(
                cloud_watch_logs=codebuild.CfnProject.CloudWatchLogsConfigProperty(
                    status="ENABLED", group_name=builder.logs.ref
                )
            ),
        )
        Validations.of(project).acknowledge(
            Acknowledgment(id="AwsSolutions-CB3", reason="Docker runs inside the build, which needs a privileged one"),
            Acknowledgment(id="AwsSolutions-CB4", reason="the build has no artifacts to encrypt; it pushes to ECR"),
        )
        ready = CustomResource(
            self,
            "Ready",
            resource_type="Custom::WarmstackImage",
            service_token=builder.waiter.service_token,
            service_timeout=Duration.hours(1),
            properties={
                "Project": project.ref,
                "Repository": builder.repository.ref,
                "Tag": context.asset_hash,
            },
        )
        for one in builder.waiter.allow(f"Build-{construct_id}", project):
            ready.node.add_dependency(one)

    def _variables(self, image: ImageBuild, registry: Registry) -> dict[str, str]:
        return {
            "BASE_IMAGE": registry.resolve(image.base.uri),
            "BASE_LOGIN": "false" if image.base_repository_arn is None else "true",
            "BASE_REGION": registry.resolve(image.base_region),
            "BASE_REGISTRY": registry.resolve(image.base_registry),
            "IMAGE_REGISTRY": f"{Aws.ACCOUNT_ID}.dkr.ecr.{Aws.REGION}.{Aws.URL_SUFFIX}",
            "IMAGE_URI": self.uri,
        }

    def _role(self, builder: ImageBuilder, image: ImageBuild, context: s3_assets.Asset, registry: Registry) -> iam.Role:
        pull = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
        push = ["ecr:CompleteLayerUpload", "ecr:InitiateLayerUpload", "ecr:PutImage", "ecr:UploadLayerPart"]
        statements: list[tuple[str | None, list[str], list[str]]] = [
            ("RegistryLogin", ["ecr:GetAuthorizationToken"], ["*"]),
            ("PushImage", [*pull, *push], [builder.repository.attr_arn]),
            (
                "ReadContext",
                ["s3:GetObject", "s3:GetObjectVersion"],
                [f"{context.bucket.bucket_arn}/{context.s3_object_key}"],
            ),
            ("WriteLog", ["logs:CreateLogStream", "logs:PutLogEvents"], [builder.logs.attr_arn]),
        ]
        if image.base_repository_arn is not None:
            statements.append(("PullBase", pull, [registry.resolve(image.base_repository_arn)]))
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal(
                "codebuild.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
            ),
            description=f"Builds the {image.server} image",
            inline_policies={"BuildImage": policy(*statements)},
        )
        acknowledge_wildcard(role, "*", "ecr:GetAuthorizationToken has no resource to name")
        acknowledge_wildcard(role, builder.logs, "a log stream is named by its build")
        return role
