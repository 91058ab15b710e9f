"""`preflight` against moto: what is well, and each thing that is missing, wrong or not to be seen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws

from tests.unit.operate.fakes import Scripted, refused
from tests.unit.operate.preflighting import (
    BUCKET,
    CONFIG,
    PREFIX,
    QUOTAS,
    SPEC,
    Stage,
    archive,
    fitted,
    look,
    plan_of,
    quotas,
    seen,
    stage,
)
from tests.unit.operate.verifying import one, wrong
from warmstack.operate.preflights.adapters import MOST_READ_BYTES
from warmstack.operate.preflights.properties import property_keys, variable_of
from warmstack.plan import Plan

LEGAL = f"s3://{BUCKET}/adapters/legal.tar.gz"
SECRET = "arn:aws:secretsmanager:us-west-2:123456789012:secret:hub-AbCdEf"


@pytest.fixture
def made() -> Iterator[Stage]:
    with mock_aws():
        yield stage()


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return fitted(plan_of(tmp_path))


def test_an_account_with_everything_passes(made: Stage, plan: Plan) -> None:
    report = look(made, plan)
    assert [each.outcome for each in report.results] == ["pass"] * len(report.results)
    assert not report.failed(strict=True)
    assert (report.subject, report.facts["endpoint"], report.facts["region"]) == (
        "tenants-prod",
        "tenants-prod",
        "us-west-2",
    )


def test_credentials_of_another_account_or_region_fail(made: Stage, plan: Plan) -> None:
    report = look(made, replace(plan, account="999988887777"), given_region="eu-west-1")
    assert wrong(report) == [
        "identity: --region is eu-west-1, and the spec deploys to us-west-2",
        "identity: the credentials are of account 123456789012 (arn:aws:sts::123456789012:user/moto)",
    ]
    open_one = seen(made, replace(plan, account=None, region=None), "identity")
    assert (open_one.outcome, "wherever the credentials point" in open_one.seen) == ("pass", True)


def test_a_quota_that_is_short_names_by_how_much_and_the_command(made: Stage, plan: Plan) -> None:
    name = "ml.g5.12xlarge for endpoint usage"
    made.quotas = quotas(QUOTAS | {name: ("L-65C4BD00", 0.0)})
    result = one(look(made, plan), "quota", name)
    assert result.outcome == "fail"
    assert result.seen == (
        "it allows 0; this endpoint needs 1 steady, 3 scaled out, 3 during an update: 1 short steady; "
        "3 short scaled out; 3 short during an update"
    )
    assert result.fix == (
        "aws service-quotas request-service-quota-increase --service-code sagemaker --quota-code L-65C4BD00 "
        "--desired-value 3"
    )
    made.quotas = quotas({}, defaults=QUOTAS | {name: ("L-65C4BD00", 2.0)})
    later = one(look(made, plan), "quota", name)
    assert (later.outcome, later.seen.startswith("it allows 2, by AWS's default; ")) == ("warning", True)


def test_quotas_that_are_not_there_or_not_to_be_seen(made: Stage, plan: Plan) -> None:
    made.quotas = quotas({})
    assert {each.outcome for each in look(made, plan).results if each.check.id == "quota"} == {"unseen"}
    denied = refused("ListServiceQuotas", "AccessDeniedException")
    made.quotas = Scripted(list_service_quotas=denied, list_aws_default_service_quotas=denied)
    result = one(look(made, plan), "quota", "ml.g5.12xlarge for endpoint usage")
    assert (result.outcome, result.fix) == ("unseen", "allow servicequotas:ListServiceQuotas to whoever runs this")
    made.quotas = Scripted(
        list_service_quotas=quotas(QUOTAS).list_service_quotas(), list_aws_default_service_quotas=denied
    )
    assert one(look(made, plan), "quota", "ml.g5.12xlarge for endpoint usage").outcome == "pass"


@pytest.mark.parametrize(
    ("answer", "outcome", "text"),
    [
        (
            {"images": [], "failures": [{"failureReason": "Requested image not found"}]},
            "fail",
            "it is not there: Requested image not found",
        ),
        (
            refused("BatchGetImage", "RepositoryNotFoundException"),
            "fail",
            "registry 763104351884 has no repository djl-inference",
        ),
        (refused("BatchGetImage", "AccessDeniedException", "no"), "unseen", "could not be seen: ecr:BatchGetImage"),
    ],
)
def test_an_image_that_is_not_there(made: Stage, plan: Plan, answer: Any, outcome: str, text: str) -> None:
    made.ecr = Scripted(batch_get_image=answer)
    result = seen(made, plan, "image")
    assert (result.outcome, text in result.seen) == (outcome, True)


def test_an_image_is_looked_for_where_it_is(made: Stage, plan: Plan) -> None:
    def on(uri: str, build: str | None = None) -> Plan:
        image = replace(plan.models[0].image, uri=uri, build=build)
        return replace(plan, models=(replace(plan.models[0], image=image),))

    digest = f"sha256:{'ab' * 32}"
    assert seen(made, on(f"111122223333.dkr.ecr.us-west-2.amazonaws.com/llm@{digest}"), "image").outcome == "pass"
    assert made.ecr.calls[-1][1]["imageIds"] == [{"imageDigest": digest}]
    elsewhere = "111122223333.dkr.ecr.eu-west-1.amazonaws.com/llm:1"
    assert seen(made, on(elsewhere), "image").seen == "it is in eu-west-1; SageMaker pulls from us-west-2 only"
    assert seen(made, on(elsewhere, build="lmi-1"), "image").outcome == "skipped"
    assert seen(made, on("public.ecr.aws/llm/llm:1", build="lmi-1"), "image").outcome == "skipped"
    assert "no registry of it is known in us-west-2" in seen(made, replace(plan, registries={}), "image").seen


def test_a_bucket_in_another_region_fails(made: Stage, plan: Plan) -> None:
    moved = refused("HeadBucket", "301", "Moved Permanently", 301)
    moved.response["ResponseMetadata"]["HTTPHeaders"] = {"x-amz-bucket-region": "eu-west-1"}
    real = made.s3
    made.s3 = Scripted(
        head_bucket=moved,
        list_objects_v2=real.list_objects_v2,
        get_object=real.get_object,
        head_object=real.head_object,
    )
    assert seen(made, plan, "bucket").seen == "it is in eu-west-1, and the endpoint will be in us-west-2"
    moved.response["ResponseMetadata"]["HTTPHeaders"] = {}
    told = seen(made, plan, "bucket")
    assert (told.outcome, "HeadBucket" in told.seen or "301" in told.seen) == ("fail", True)


def test_a_bucket_that_is_not_there_is_said_once(made: Stage, tmp_path: Path) -> None:
    report = look(made, plan_of(tmp_path, SPEC.replace("acme-models", "acme-nowhere")))
    assert wrong(report) == ["bucket: there is no such bucket", "adapter: there is no such object"]


def test_an_empty_prefix_fails(made: Stage, tmp_path: Path) -> None:
    made.put("empty/", b"")
    plan = plan_of(tmp_path, SPEC.replace("llama-3.1-8b-instruct/}", "empty/}"))
    assert seen(made, plan, "weights").seen == "there is nothing under this prefix"


@pytest.mark.parametrize(
    ("gone", "seen_text"),
    [
        ("config.json", "it lacks config.json"),
        ("tokenizer.json", "it lacks a tokenizer (tokenizer.json, tokenizer.model, tekken.json, vocab.json"),
    ],
)
def test_files_that_are_missing_are_named(made: Stage, plan: Plan, gone: str, seen_text: str) -> None:
    made.delete(PREFIX + gone)
    made.put(f"{PREFIX}original/{gone}", b"{}")
    result = seen(made, plan, "weights")
    assert result.outcome == "fail"
    assert seen_text in result.seen
    if gone == "config.json":
        assert "there is one in original/" in result.seen


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (json.dumps(CONFIG | {"hidden_size": 5120}), "config.json is of another model: hidden_size is 5120"),
        (json.dumps({"text_config": CONFIG | {"num_hidden_layers": 40}}), "num_hidden_layers is 40"),
        ("{", "config.json is no JSON"),
        ("[]", "config.json is no JSON object"),
    ],
)
def test_a_configuration_of_another_model_fails(made: Stage, plan: Plan, text: str, problem: str) -> None:
    made.put(f"{PREFIX}config.json", text.encode())
    result = seen(made, plan, "weights")
    assert result.outcome == "fail"
    assert problem in result.seen


def test_weights_of_another_size_are_a_warning(made: Stage, tmp_path: Path) -> None:
    result = seen(made, plan_of(tmp_path), "weights-size")
    assert (result.outcome, result.measured["bytes"]) == ("warning", 28)
    assert result.seen == "28 B of weights; the plan expects 15.0 GiB (an estimate)"


def test_a_serving_properties_that_wins_is_a_failure_and_its_values_stay_unsaid(made: Stage, plan: Plan) -> None:
    text = "# comment\noption.tensor_parallel_degree=4\noption.hf_token: hf_secret\nengine=Python\n"
    made.put(f"{PREFIX}serving.properties", text.encode())
    result = seen(made, plan, "serving-properties")
    assert result.outcome == "fail"
    assert result.seen == (
        "serving.properties wins over the environment for option.tensor_parallel_degree; "
        "it sets engine, option.hf_token besides"
    )
    made.put(f"{PREFIX}serving.properties", b"option.dtype=fp16\n")
    assert seen(made, plan, "serving-properties").seen == (
        "serving.properties sets option.dtype, which the spec does not show"
    )
    made.put(f"{PREFIX}serving.properties", b"")
    result = seen(made, plan, "serving-properties")
    assert (result.outcome, result.seen.startswith("serving.properties is empty")) == ("warning", True)
    vllm = replace(plan, models=(replace(plan.models[0], server="vllm"),))
    assert seen(made, vllm, "serving-properties").outcome == "pass"


def test_keys_of_properties_are_variables() -> None:
    assert property_keys(b"a=1\n b : 2\n!c=3\n\na=4\nd\n") == ["a", "b", "d"]
    keys = ("option.max_model_len", "option.entryPoint", "engine", "job_queue_size", "minWorkers")
    assert [variable_of(one) for one in keys] == [
        "OPTION_MAX_MODEL_LEN",
        "OPTION_ENTRYPOINT",
        "OPTION_ENGINE",
        "SERVING_JOB_QUEUE_SIZE",
        "SERVING_MIN_WORKERS",
    ]


HUB_SPEC = f"""\
name: hub-chat
environment: prod
target: {{account: "123456789012", region: us-west-2}}
model:
  id: Qwen/Qwen2.5-7B-Instruct
  weights: {{hub: {{revision: a09a35458c702b33eeacc393d103063234e8bc28, token_secret: "{SECRET}"}}}}
engine: {{server: vllm, version: 0.30.0}}
image: {{build: codebuild}}
endpoint: {{instance_type: ml.g5.12xlarge, instances: {{min: 1}}}}
"""


def test_hub_models_are_not_looked_for_and_their_secret_is(made: Stage, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, HUB_SPEC)
    assert seen(made, plan, "secret").seen == "there is no such secret"
    arn = made.secrets.create_secret(Name="hub", SecretString="hf_abcdef")["ARN"]
    held = replace(plan, models=(replace(plan.models[0], token_secret=arn),))
    report = look(made, held)
    assert one(report, "secret").outcome == "pass"
    assert one(report, "hub").seen == "each copy downloads it from the hub; it is not looked for"
    assert "hf_abcdef" not in json.dumps(report.document())
    made.secrets.delete_secret(SecretId=arn)
    assert "scheduled for deletion" in seen(made, held, "secret").seen
    elsewhere = replace(plan.models[0], token_secret=SECRET.replace("us-west-2", "eu-west-1"))
    assert "it is in eu-west-1" in seen(made, replace(plan, models=(elsewhere,)), "secret").seen
    made.secrets = Scripted(describe_secret=refused("DescribeSecret", "AccessDeniedException"))
    assert seen(made, plan, "secret").fix == "allow secretsmanager:DescribeSecret to whoever runs this"


@pytest.mark.parametrize(
    ("data", "outcome", "text"),
    [
        (archive(), "pass", "adapter_config.json at its root, rank 16"),
        (archive(8), "pass", "rank 8, and the spec says 16"),
        (archive(config_last=True), "pass", "rank 16"),
        (archive(padding=3 << 20), "pass", "rank 16"),
        (archive(32), "fail", "the rank is 32"),
        (archive()[:-200], "fail", "it ends too early"),
        (archive(padding=3 << 20)[:-1000], "warning", "its end is not that of a .tar.gz"),
        (b"no archive at all", "fail", "it is no whole .tar.gz"),
        (b"", "fail", "it is empty"),
    ],
    ids=["whole", "smaller", "last", "large", "rank", "truncated", "large and truncated", "other", "empty"],
)
def test_archives_are_read_as_far_as_it_takes(made: Stage, plan: Plan, data: bytes, outcome: str, text: str) -> None:
    made.put("adapters/legal.tar.gz", data)
    result = seen(made, plan, "adapter")
    assert result.outcome == outcome, result.seen
    assert text in result.seen


def test_an_archive_in_a_folder_or_with_more_rank_than_the_spec_fails(made: Stage, plan: Plan) -> None:
    with_room = {**plan.models[0].engine_settings, "max_lora_rank": 64}
    roomy = replace(plan, models=(replace(plan.models[0], engine_settings=with_room),))
    made.put("adapters/legal.tar.gz", archive(32))
    result = seen(made, roomy, "adapter")
    assert (result.seen, result.fix) == (
        "its rank is 32, and the spec says 16",
        "write rank: 32 for legal in the spec",
    )


def test_what_lies_too_far_behind_is_not_read(made: Stage, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warmstack.operate.preflights.adapters.MOST_READ_BYTES", 1 << 20)
    made.put("adapters/legal.tar.gz", archive(padding=3 << 20, config_last=True)[:100] + bytes(3 << 20))
    assert MOST_READ_BYTES > 1 << 20
    assert seen(made, plan, "adapter").outcome in ("warning", "fail")


def test_an_adapter_that_is_not_there_or_not_to_be_seen(made: Stage, plan: Plan) -> None:
    made.delete("adapters/legal.tar.gz")
    assert seen(made, plan, "adapter").seen == "there is no such object"
    real = made.s3
    made.s3 = Scripted(
        head_object=refused("HeadObject", "403", "Forbidden", 403),
        head_bucket=real.head_bucket,
        list_objects_v2=refused("ListObjectsV2", "AccessDenied", "no", 403),
        get_object=real.get_object,
    )
    report = look(made, plan)
    assert one(report, "adapter").fix == "allow s3:GetObject to whoever runs this"
    assert one(report, "weights").fix == "allow s3:ListBucket to whoever runs this"
    assert not report.failed()
    assert report.failed(strict=True)


def test_without_credentials_every_question_fails(plan: Plan) -> None:
    from botocore.exceptions import NoCredentialsError

    nobody = Scripted(
        **dict.fromkeys(
            (
                "get_caller_identity",
                "list_service_quotas",
                "list_aws_default_service_quotas",
                "batch_get_image",
                "head_bucket",
                "head_object",
                "list_objects_v2",
            ),
            NoCredentialsError(),
        )
    )
    report = look(Stage(s3=nobody, ecr=nobody, secrets=nobody, quotas=nobody, sts=nobody), plan)
    assert {each.outcome for each in report.results} == {"fail"}
    assert "log in again" in str(report.results[0].fix)
