"""Stacks of other apps: types that the local AWS does not have, and a failed deployment that is kept for a while."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.deploy.toolkit import Toolkit, spec_of

pytestmark = pytest.mark.deploy

STACK = "rag-prod"
SPEC = spec_of("rag-prefix-aware")


def app_with(folder: Path, **resources: tuple[str, dict[str, Any]]) -> Path:
    """Return the assembly of an app with one stack of these resources, by their types and properties."""
    from aws_cdk import App, CfnResource, DefaultStackSynthesizer, Stack

    app = App(outdir=str(folder), builtin_cloud_formation_validation=False)
    stack = Stack(app, "other", synthesizer=DefaultStackSynthesizer())
    for name, (kind, properties) in resources.items():
        CfnResource(stack, name, type=kind, properties=properties)
    app.synth()
    return folder


def test_a_type_that_is_not_known_fails_by_name_before_anything_is_made(toolkit: Toolkit, tmp_path: Path) -> None:
    assembly = app_with(
        tmp_path / "out",
        Bucket=("AWS::S3::Bucket", {}),
        Queue=("AWS::SQS::Queue", {}),
    )
    outcome = toolkit.run("deploy", "--app", str(assembly), "--require-approval", "never")
    assert outcome.status != 0
    assert "the local AWS cannot make AWS::SQS::Queue (Queue); nothing was created" in outcome.text
    buckets = toolkit.aws.client("s3").list_buckets()["Buckets"]
    assert [one["Name"] for one in buckets if one["Name"].startswith("other")] == []


def test_a_difference_to_nothing_leaves_nothing(toolkit: Toolkit) -> None:
    outcome = toolkit.run("diff", "--app", str(toolkit.synthesize(SPEC)))
    assert outcome.status == 0, outcome.text
    assert "[+] AWS::SageMaker::Endpoint" in outcome.text
    assert [one["StackName"] for one in toolkit.aws.cloudformation.describe_stacks()["Stacks"]] == ["CDKToolkit"]


def test_a_failed_deployment_is_kept_and_rolled_back_when_asked(toolkit: Toolkit) -> None:
    toolkit.deploy(SPEC)
    # A change in place: the CDK CLI wants a rollback for what replaces something.
    tagged = {**SPEC, "tags": {"team": "retrieval"}}
    toolkit.aws.sagemaker.refused["AddTags"] = "tags are not taken today"
    outcome = toolkit.deploy(tagged, "--no-rollback")
    assert outcome.status != 0
    assert "tags are not taken today" in outcome.text
    assert toolkit.aws.stack(STACK)["StackStatus"] == "UPDATE_FAILED"
    toolkit.aws.sagemaker.refused.clear()
    outcome = toolkit.run("rollback", STACK, "--app", str(toolkit.synthesize(SPEC)))
    assert outcome.status == 0, outcome.text
    assert toolkit.aws.stack(STACK)["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    again = toolkit.deploy(tagged)
    assert again.status == 0, again.text
