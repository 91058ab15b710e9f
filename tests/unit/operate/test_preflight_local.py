"""`preflight` against a local AWS: what it has is looked at, and what only an account has is skipped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws

from tests.unit.operate.fakes import Scripted, refused
from tests.unit.operate.preflighting import BUCKET, PREFIX, SPEC, Stage, plan_of, stage
from tests.unit.operate.verifying import one, outcomes, wrong
from warmstack.operate import Account, LocalAws, Report, preflight
from warmstack.plan import Plan

# moto answers as this account.
LOCAL = LocalAws(account="123456789012", region="us-west-2")
OWN_IMAGE = "123456789012.dkr.ecr.us-west-2.amazonaws.com/lmi:1"
SECRET = "arn:aws:secretsmanager:us-west-2:123456789012:secret:hub-token-AbCdEf"


@pytest.fixture
def made() -> Iterator[Stage]:
    with mock_aws():
        yield stage()


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_of(tmp_path)


def look(made: Stage, plan: Plan, **services: Any) -> Report:
    account = made.account()
    # What is not served is not asked for: a call of these would be an error.
    given = {"service-quotas": Scripted(), "ecr": Scripted()} | services
    asked = Account(region=account.region, make=lambda name: given.get(name) or account.make(name), local=LOCAL)
    return preflight(plan, asked)


def with_secret(plan: Plan, arn: str = SECRET) -> Plan:
    return replace(plan, models=tuple(replace(one, token_secret=arn) for one in plan.models))


def with_image(plan: Plan) -> Plan:
    models = [replace(one, image=replace(one.image, uri=OWN_IMAGE, build=None)) for one in plan.models]
    return replace(plan, models=tuple(models))


def test_what_it_has_passes_and_what_only_an_account_has_is_skipped(made: Stage, plan: Plan) -> None:
    report = look(made, plan)
    assert [(each.check.id, each.outcome) for each in report.results] == [
        ("identity", "pass"),
        ("quota", "skipped"),
        ("quota", "skipped"),
        ("image", "skipped"),
        ("bucket", "pass"),
        ("weights", "pass"),
        ("weights-shards", "pass"),
        ("weights-size", "warning"),
        ("serving-properties", "pass"),
        ("adapter", "pass"),
    ]
    assert one(report, "identity").seen == "a local AWS: account 123456789012, SageMaker in us-west-2"
    assert "a local AWS has no quotas" in report.results[1].seen
    assert one(report, "image").seen == (
        "a local AWS has no registry of 763104351884; local copies start without images"
    )


def test_what_it_lacks_fails_with_the_way_out(made: Stage, plan: Plan) -> None:
    made.delete(f"{PREFIX}model-00003-of-00004.safetensors")
    made.delete("adapters/legal.tar.gz")
    assert wrong(look(made, plan)) == [
        "weights-shards: 1 of 4 files are missing: model-00003-of-00004.safetensors",
        "adapter: there is no such object",
    ]
    for found in made.s3.list_objects_v2(Bucket=BUCKET)["Contents"]:
        made.delete(found["Key"])
    made.s3.delete_bucket(Bucket=BUCKET)
    bucket = one(look(made, plan), "bucket")
    assert (bucket.outcome, bucket.seen) == ("fail", "there is no such bucket")
    assert bucket.fix == "with the variables of `warmstack local aws env`: aws s3 mb s3://acme-models, and upload"


def test_a_target_that_it_does_not_play_fails(made: Stage, tmp_path: Path) -> None:
    text = SPEC.replace('{account: "123456789012", region: us-west-2}', '{account: "999988887777", region: eu-west-1}')
    account = Account(region="eu-west-1", make=made.account().make, local=LOCAL)
    identity = one(preflight(plan_of(tmp_path, text), account), "identity")
    assert identity.outcome == "fail"
    assert identity.seen == (
        "a local AWS: account 123456789012, SageMaker in us-west-2; the deploy goes to 999988887777 in eu-west-1"
    )
    assert identity.fix == "start it as the target: warmstack local aws up --account 999988887777 --region eu-west-1"


def test_without_a_target_the_report_names_the_account_that_it_plays(made: Stage, plan: Plan) -> None:
    report = look(made, replace(plan, account=None, region=None))
    assert report.facts["account"] == "123456789012"
    assert one(report, "identity").outcome == "pass"


def test_an_image_of_its_own_registry_is_looked_for_and_never_needed(made: Stage, plan: Plan) -> None:
    there = Scripted(batch_get_image={"images": [{"imageId": {"imageDigest": "sha256:0123456789abcdef"}}]})
    assert one(look(made, with_image(plan), ecr=there), "image").outcome == "pass"
    no_tag = Scripted(batch_get_image={"images": [], "failures": [{"failureReason": "Requested image not found"}]})
    no_repository = Scripted(batch_get_image=refused("BatchGetImage", "RepositoryNotFoundException"))
    for registry in (no_tag, no_repository):
        image = one(look(made, with_image(plan), ecr=registry), "image")
        assert image.outcome == "skipped"
        assert image.seen == "it is not in the local registry; local copies start without images"


def test_a_secret_is_found_by_its_name_because_its_arn_ends_otherwise(made: Stage, plan: Plan) -> None:
    missing = one(look(made, with_secret(plan)), "secret")
    assert (missing.outcome, missing.seen) == ("fail", "the local AWS has no secret hub-token")
    assert "aws secretsmanager create-secret --name hub-token" in str(missing.fix)
    made_arn = made.secrets.create_secret(Name="hub-token", SecretString="x")["ARN"]
    for arn in (SECRET, made_arn):
        assert one(look(made, with_secret(plan, arn)), "secret").outcome == "pass"
    foreign = SECRET.replace("123456789012", "999988887777")
    assert outcomes(look(made, with_secret(plan, foreign)))[("secret", foreign)] == "skipped"
    denied = Scripted(describe_secret=refused("DescribeSecret", "AccessDenied"))
    assert one(look(made, with_secret(plan), secretsmanager=denied), "secret").outcome == "unseen"
