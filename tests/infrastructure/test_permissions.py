"""Least privilege: the execution role may do what starting these models takes, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.infrastructure.intrinsics import ACCOUNT, REGION, resolve
from tests.infrastructure.synthesis import Synthesized, of_type, path_of, synthesized
from warmstack.plan import Plan

Statement = dict[str, Any]

# IAM has no resource to name for these two.
WITHOUT_RESOURCE = {"ecr:GetAuthorizationToken", "cloudwatch:PutMetricData"}
PULL = {"ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"}
LOGS = {"logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"}
S3 = {"s3:GetObject", "s3:ListBucket"}
REMOTE_TIER = {"s3:GetObject", "s3:ListBucket", "s3:PutObject"}
TOKEN = {"secretsmanager:GetSecretValue"}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _statements(stack: Synthesized) -> list[Statement]:
    (policy,) = stack.execution_role[1]["Policies"]
    found: list[Statement] = resolve(policy["PolicyDocument"]["Statement"], stack.template)
    return found


def _resources(stack: Synthesized, action: str) -> set[str]:
    return {
        resource for one in _statements(stack) if action in _list(one["Action"]) for resource in _list(one["Resource"])
    }


def test_the_role_has_its_policies_inline(stack: Synthesized) -> None:
    """A policy of its own may come after the Model that needs it, and go before the Endpoint that needs it."""
    logical_id, properties = stack.execution_role
    others = {key: one for kind in ("IAM::Policy", "IAM::RolePolicy") for key, one in stack.of_type(kind).items()}
    assert [key for key, one in others.items() if logical_id in json.dumps(one)] == []
    assert "ManagedPolicyArns" not in properties
    if not stack.plan.images:
        types = [resource["Type"] for resource in stack.template["Resources"].values()]
        assert [one for one in types if one.startswith("AWS::IAM::")] == ["AWS::IAM::Role"]


def test_every_action_is_known_and_spelled_out(stack: Synthesized) -> None:
    actions = {action for one in _statements(stack) for action in _list(one["Action"])}
    expected = WITHOUT_RESOURCE | PULL | LOGS | S3
    expected |= REMOTE_TIER if _remote_buckets(stack) else set()
    expected |= TOKEN if any(one.token_secret for one in stack.plan.models) else set()
    assert actions <= expected
    assert actions >= WITHOUT_RESOURCE | PULL | LOGS
    assert {one["Effect"] for one in _statements(stack)} == {"Allow"}


def test_only_what_has_no_resource_is_allowed_on_all(stack: Synthesized) -> None:
    on_all = {
        action
        for one in _statements(stack)
        if any(resource in ("*", "arn:aws:s3:::*") for resource in _list(one["Resource"]))
        for action in _list(one["Action"])
    }
    assert on_all == WITHOUT_RESOURCE


def test_metrics_are_limited_to_sagemakers_namespaces(stack: Synthesized) -> None:
    (statement,) = (one for one in _statements(stack) if "cloudwatch:PutMetricData" in _list(one["Action"]))
    assert statement["Condition"] == {"StringLike": {"cloudwatch:namespace": ["AWS/SageMaker", "/aws/sagemaker/*"]}}


def _remote_buckets(stack: Synthesized) -> set[str]:
    urls = [str(one.carried.lmcache.get("remote_url", "")) for one in stack.plan.models]
    return {f"arn:aws:s3:::{url.removeprefix('s3://').split('.s3.')[0]}" for url in urls if url.startswith("s3://")}


def test_the_remote_tier_is_one_bucket_and_the_token_one_secret() -> None:
    built = synthesized(path_of("built-docker"))
    assert _remote_buckets(built) == {"arn:aws:s3:::acme-kv"}
    assert _resources(built, "s3:PutObject") == {"arn:aws:s3:::acme-kv/*"}
    (model,) = built.plan.models
    assert _resources(built, "secretsmanager:GetSecretValue") == {model.token_secret}


def _objects(plan: Plan) -> set[str]:
    """The objects that the spec's own prefixes and folders hold."""
    weights = {one.weights_s3.removeprefix("s3://") + "*" for one in plan.models if one.weights_s3 is not None}
    paths = [adapter.artifact.removeprefix("s3://") for one in plan.models for adapter in one.adapters]
    # An archive at its bucket's root is named: a pattern there would open every archive of the bucket.
    archives = {path if path.count("/") == 1 else f"{path.rpartition('/')[0]}/*.tar.gz" for path in paths}
    return {f"arn:aws:s3:::{one}" for one in weights | archives}


def test_objects_are_read_under_the_specs_prefixes_only(stack: Synthesized) -> None:
    remote = {f"{arn}/*" for arn in _remote_buckets(stack)}
    assert _resources(stack, "s3:GetObject") == _objects(stack.plan) | remote


def test_buckets_are_listed_under_the_weights_prefixes_only(stack: Synthesized) -> None:
    expected: dict[str, list[str]] = {}
    for one in stack.plan.models:
        if one.weights_s3 is not None:
            bucket, _, prefix = one.weights_s3.removeprefix("s3://").partition("/")
            expected.setdefault(f"arn:aws:s3:::{bucket}", []).append(f"{prefix}*")
    listed = {
        statement["Resource"]: statement["Condition"]
        for statement in _statements(stack)
        if "s3:ListBucket" in _list(statement["Action"]) and statement["Sid"] != "ListRemoteTier"
    }
    assert listed == {
        bucket: {"StringLike": {"s3:prefix": sorted(set(prefixes))}} for bucket, prefixes in expected.items()
    }


def test_a_hub_deployment_reads_nothing_from_s3() -> None:
    hub = synthesized(path_of("hub"))
    assert {one for one in S3 if _resources(hub, one)} == set()


def test_logs_are_written_to_this_endpoints_groups_only(stack: Synthesized) -> None:
    groups = [f"/aws/sagemaker/Endpoints/{stack.plan.endpoint.name}"]
    groups += [
        f"/aws/sagemaker/InferenceComponents/{one.physical_name}"
        for one in stack.plan.models
        if one.component is not None
    ]
    arns = {f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{group}" for group in groups}
    for action in LOGS:
        assert _resources(stack, action) == arns | {f"{arn}:*" for arn in arns}


def test_only_sagemaker_in_this_account_assumes_the_role(stack: Synthesized) -> None:
    document = resolve(stack.execution_role[1]["AssumeRolePolicyDocument"], stack.template)
    assert document["Statement"] == [
        {
            "Action": "sts:AssumeRole",
            "Condition": {"StringEquals": {"aws:SourceAccount": ACCOUNT}},
            "Effect": "Allow",
            "Principal": {"Service": "sagemaker.amazonaws.com"},
        }
    ]


def test_statement_ids_differ(stack: Synthesized) -> None:
    sids = [one["Sid"] for one in _statements(stack)]
    assert sorted(set(sids)) == sorted(sids)
    assert all(sid.isalnum() for sid in sids)


INVOKE = ["sagemaker:InvokeEndpoint", "sagemaker:InvokeEndpointWithResponseStream"]
ENDPOINT = {"Ref": "EndpointEEF1FD8F"}
COMPONENT = {"Ref": "Componentschat8DE96166"}


def _granted(tmp_path: Path, grant: Callable[[Any, Any], Any]) -> list[Statement]:
    """The statements that a grant gives to a user in the stack of two-models."""
    from aws_cdk import App, aws_iam

    from stacks.endpoint_stack import EndpointStack

    plan = synthesized(path_of("two-models")).plan
    app = App(outdir=str(tmp_path), builtin_cloud_formation_validation=False)
    stack = EndpointStack(app, plan.stack_name, plan=plan)
    grant(stack, aws_iam.User(stack, "Caller"))
    app.synth()
    template = json.loads((tmp_path / f"{plan.stack_name}.template.json").read_text(encoding="utf-8"))
    (policy,) = of_type(template, "IAM::Policy").values()
    assert policy["Properties"]["Users"] == [{"Ref": next(iter(of_type(template, "IAM::User")))}]
    statements: list[Statement] = policy["Properties"]["PolicyDocument"]["Statement"]
    return statements


@pytest.mark.parametrize(
    ("grant", "resource"),
    [
        (lambda stack, user: stack.endpoint.grant_invoke(user), ENDPOINT),
        (lambda stack, user: stack.components["chat"].grant_invoke(user), [COMPONENT, ENDPOINT]),
    ],
    ids=["the endpoint", "a component"],
)
def test_a_grant_allows_invoking_it_and_nothing_else(
    tmp_path: Path, grant: Callable[[Any, Any], Any], resource: object
) -> None:
    assert _granted(tmp_path, grant) == [{"Action": INVOKE, "Effect": "Allow", "Resource": resource}]
