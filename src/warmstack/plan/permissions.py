"""The execution role's statements: what SageMaker needs to start these models, and nothing else.

Source: DG sagemaker-roles, "CreateModel API: execution role permissions". ARNs are for ``Fn::Sub``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warmstack.plan.images import repository_arn
from warmstack.plan.model import EndpointPlan, Permission, ServedModel
from warmstack.spec import PUBLIC_REGISTRY

BUILT_REPOSITORY = "${ImageRepositoryArn}"
"""Stands for the repository of the images that the stack builds, which only the stack knows."""


def plan_permissions(endpoint: EndpointPlan, models: Sequence[ServedModel]) -> tuple[Permission, ...]:
    """Return the statements, each with its reason."""
    return (
        *_pull(models),
        *_weights(models),
        *_secrets(models),
        *_remote_tier(models),
        *_logs(endpoint, models),
        _metrics(),
    )


def _pull(models: Sequence[ServedModel]) -> Iterator[Permission]:
    yield Permission(
        sid="RegistryLogin",
        actions=("ecr:GetAuthorizationToken",),
        resources=("*",),
        condition={},
        reason="ecr:GetAuthorizationToken has no resource to name",
    )
    yield Permission(
        sid="PullImage",
        actions=("ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"),
        resources=tuple(sorted({_repository_arn(model) for model in models})),
        condition={},
        reason="the repositories of the images this endpoint runs",
    )


def _repository_arn(model: ServedModel) -> str:
    # A public image is an error of the spec without a build (WS111), and no plan with errors is deployed.
    if model.image.build is not None or model.image.uri.startswith(PUBLIC_REGISTRY):
        return BUILT_REPOSITORY
    return repository_arn(model.image)


def _weights(models: Sequence[ServedModel]) -> Iterator[Permission]:
    objects: set[str] = set()
    prefixes: dict[str, set[str]] = {}
    for model in models:
        if model.weights_s3 is not None:
            path = model.weights_s3.removeprefix("s3://")
            objects.add(f"arn:${{AWS::Partition}}:s3:::{path}*")
            bucket, _, prefix = path.partition("/")
            prefixes.setdefault(bucket, set()).add(prefix)
        for adapter in model.adapters:
            # By folder, not by archive: adding an adapter then leaves the role as it is. Not by bucket, though.
            path = adapter.artifact.removeprefix("s3://")
            folder = path.rsplit("/", 1)[0]
            objects.add(f"arn:${{AWS::Partition}}:s3:::{f'{folder}/*.tar.gz' if '/' in folder else path}")
    if objects:
        yield Permission(
            sid="ReadArtifacts",
            actions=("s3:GetObject",),
            resources=tuple(sorted(objects)),
            condition={},
            reason="every file under the weights' prefixes, and the archives in the adapters' folders",
        )
    for number, (bucket, under) in enumerate(sorted(prefixes.items())):
        yield Permission(
            sid=f"ListWeights{number}",
            actions=("s3:ListBucket",),
            resources=(f"arn:${{AWS::Partition}}:s3:::{bucket}",),
            condition={"StringLike": {"s3:prefix": tuple(f"{prefix}*" for prefix in sorted(under))}},
            reason="listing is limited to the weights' prefixes",
        )


def _secrets(models: Sequence[ServedModel]) -> Iterator[Permission]:
    secrets = sorted({one.token_secret for one in models if one.token_secret is not None})
    if secrets:
        yield Permission(
            sid="ReadHubToken",
            actions=("secretsmanager:GetSecretValue",),
            # Guard: Secrets Manager ends an ARN with a random suffix; an ARN written without it names nothing.
            resources=tuple(secrets),
            condition={},
            reason="the secrets with the hub tokens, and no other",
        )


def _remote_tier(models: Sequence[ServedModel]) -> Iterator[Permission]:
    urls = {str(one.carried.lmcache.get("remote_url", "")) for one in models}
    buckets = sorted({url.removeprefix("s3://").rpartition(".s3.")[0] for url in urls if url.startswith("s3://")})
    if not buckets:
        return
    arns = tuple(f"arn:${{AWS::Partition}}:s3:::{bucket}" for bucket in buckets)
    yield Permission(
        sid="UseRemoteTier",
        actions=("s3:GetObject", "s3:PutObject"),
        resources=tuple(f"{arn}/*" for arn in arns),
        condition={},
        reason="chunks are named by their hash, which no one knows before",
    )
    yield Permission(
        sid="ListRemoteTier",
        actions=("s3:ListBucket",),
        resources=arns,
        condition={},
        reason="without it S3 answers 403, not 404, for a chunk that is not there",
    )


def _logs(endpoint: EndpointPlan, models: Sequence[ServedModel]) -> Iterator[Permission]:
    groups = [f"/aws/sagemaker/Endpoints/{endpoint.name}"]
    groups += [f"/aws/sagemaker/InferenceComponents/{one.physical_name}" for one in models if one.physical_name]
    arns = [f"arn:${{AWS::Partition}}:logs:${{AWS::Region}}:${{AWS::AccountId}}:log-group:{group}" for group in groups]
    yield Permission(
        sid="WriteLogs",
        actions=(
            "logs:CreateLogGroup",
            "logs:CreateLogStream",
            "logs:DescribeLogStreams",
            "logs:PutLogEvents",
        ),
        resources=tuple(f"{arn}{suffix}" for arn in arns for suffix in ("", ":*")),
        condition={},
        reason="log streams are named by instance, which no one knows before it runs",
    )


def _metrics() -> Permission:
    return Permission(
        sid="PublishMetrics",
        actions=("cloudwatch:PutMetricData",),
        resources=("*",),
        condition={"StringLike": {"cloudwatch:namespace": ("AWS/SageMaker", "/aws/sagemaker/*")}},
        reason="cloudwatch:PutMetricData has no resource to name; the condition limits the namespace",
    )
