"""`preflight` of weights and drafts: what lies in a folder, what is empty, and what cannot be listed or read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws

from tests.unit.operate.fakes import Scripted, refused
from tests.unit.operate.preflighting import BUCKET, PREFIX, SHARDS, SPEC, Stage, fitted, look, plan_of, seen, stage
from tests.unit.operate.verifying import one
from warmstack.plan import Plan

LMI = "0.38.0-lmi29.0.0-cu130"
NAMED = f"s3://{BUCKET}/{PREFIX}"
DRAFT_SPEC = """\
name: fast-chat
environment: prod
model:
  id: meta-llama/Llama-3.1-8B-Instruct
  weights: {s3: s3://acme-models/llama-3.1-8b-instruct/}
  max_model_len: 16384
engine:
  server: vllm
  version: 0.30.0
  speculative: {method: eagle3, draft: drafts/eagle3/, num_speculative_tokens: 4}
endpoint: {instance_type: ml.g6e.2xlarge, instances: {min: 2}}
"""


@pytest.fixture
def made() -> Iterator[Stage]:
    with mock_aws():
        yield stage()


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return fitted(plan_of(tmp_path))


def test_a_shard_that_is_missing_is_named(made: Stage, plan: Plan) -> None:
    made.delete(f"{PREFIX}model-00003-of-00004.safetensors")
    for indexed in (True, False):
        result = seen(made, plan, "weights-shards")
        assert result.seen == "1 of 4 files are missing: model-00003-of-00004.safetensors"
        assert result.outcome == "fail"
        if indexed:
            made.delete(f"{PREFIX}model.safetensors.index.json")


def test_shards_that_are_empty_or_an_index_that_is_none_fail(made: Stage, plan: Plan) -> None:
    made.put(f"{PREFIX}model-00002-of-00004.safetensors", b"")
    assert seen(made, plan, "weights-shards").seen == "empty: model-00002-of-00004.safetensors"
    made.put(f"{PREFIX}model.safetensors.index.json", b"[1]")
    assert seen(made, plan, "weights-shards").seen == "model.safetensors.index.json is no index of weights: TypeError"
    made.put(f"{PREFIX}model.safetensors.index.json", b"")
    result = seen(made, plan, "weights-shards")
    assert (result.outcome, result.seen) == ("fail", "model.safetensors.index.json is empty")


def test_pickles_are_a_warning_and_nothing_is_a_failure(made: Stage, plan: Plan) -> None:
    for number in range(1, 5):
        made.delete(f"{PREFIX}model-{number:05}-of-00004.safetensors")
    made.delete(f"{PREFIX}model.safetensors.index.json")
    assert seen(made, plan, "weights-shards").seen == "there are no safetensors directly under the prefix"
    made.put(f"{PREFIX}pytorch_model.bin", b"x" * 28)
    assert seen(made, plan, "weights-shards").outcome == "warning"


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer.model"])
def test_a_configuration_or_tokenizer_that_is_empty_fails(made: Stage, plan: Plan, name: str) -> None:
    made.put(PREFIX + name, b"")
    result = seen(made, plan, "weights")
    assert (result.outcome, result.seen) == ("fail", f"empty: {name}")


def test_files_that_may_not_be_read_are_unseen_once(made: Stage, plan: Plan) -> None:
    made.put(f"{PREFIX}serving.properties", b"engine=Python\n")
    real = made.s3
    made.s3 = Unreadable(real)
    report = look(made, plan)
    for check in ("weights", "weights-shards", "serving-properties"):
        result = one(report, check)
        assert (result.outcome, result.fix) == ("unseen", "allow s3:GetObject to whoever runs this"), check
    real.delete_object(Bucket=BUCKET, Key=f"{PREFIX}model-00003-of-00004.safetensors")
    assert seen(made, plan, "weights-shards").seen == "1 of 4 files are missing: model-00003-of-00004.safetensors"


class Unreadable:
    """S3 that lists and refuses to read."""

    def __init__(self, s3: Any) -> None:
        self._s3 = s3

    def get_object(self, **_: str) -> Any:
        raise refused("GetObject", "AccessDenied", "no", 403)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._s3, name)


class SmallPages:
    """S3 that lists two entries a page."""

    def __init__(self, s3: Any) -> None:
        self._s3 = s3

    def get_paginator(self, name: str) -> Any:
        paginator = self._s3.get_paginator(name)
        return Scripted(paginate=lambda **members: paginator.paginate(**members, PaginationConfig={"PageSize": 2}))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._s3, name)


def test_checkpoints_below_the_prefix_do_not_count(made: Stage, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warmstack.operate.preflights.storage.MOST_ENTRIES", 10)
    for number in range(20):
        made.put(f"{PREFIX}checkpoints/{number}/optimizer.pt", b"x")
    made.s3 = SmallPages(made.s3)
    report = look(made, plan)
    assert {each.outcome for each in report.results} == {"pass"}
    assert one(report, "weights").measured["files"] == 7


def test_what_a_listing_that_is_cut_does_not_show_is_unseen(
    made: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warmstack.operate.preflights.storage.MOST_ENTRIES", 4)
    plan = fitted(plan_of(tmp_path, DRAFT_SPEC.replace("server: vllm", "server: lmi").replace("0.30.0", LMI)))
    for number in range(9):
        made.put(f"{PREFIX}{number}.txt", b"x")
        made.put(f"{PREFIX}drafts/eagle3/{number}.txt", b"x")
    made.s3 = SmallPages(made.s3)
    report = look(made, plan)
    cut = "the first 4 entries were listed, and there are more: "
    for check, what in (
        ("weights", "config.json and a tokenizer (tokenizer.json, tokenizer.model, tekken.json, vocab.json or "),
        ("weights-shards", "whether every file of the weights is there is not known"),
        ("serving-properties", "serving.properties not among them"),
        ("draft", "config.json and its weights not among them"),
    ):
        result = one(report, check)
        assert (result.outcome, result.seen.startswith(cut + what)) == ("unseen", True), result
    assert [each for each in report.results if each.check.id == "weights-size"] == []


@pytest.mark.parametrize("other", ["t.bin", "scheduler.pt"])
def test_an_empty_file_beside_a_drafts_weights_is_nobodys(made: Stage, tmp_path: Path, other: str) -> None:
    folder = f"{PREFIX}drafts/eagle3/"
    weights = "model.safetensors" if other == "t.bin" else "pytorch_model.bin"
    for name, body in (("config.json", b"{}"), (weights, b"x"), (other, b"")):
        made.put(folder + name, body)
    result = seen(made, plan_of(tmp_path, DRAFT_SPEC), "draft")
    assert result.outcome == ("pass" if other == "t.bin" else "warning")


def test_of_mistrals_own_form_only_its_own_files_count(made: Stage, plan: Plan) -> None:
    """A download of `consolidated*` and `*.json` brings the other form's index without its files."""
    for name in SHARDS:
        made.delete(PREFIX + name)
    made.put(f"{PREFIX}params.json", b"{}")
    made.put(f"{PREFIX}consolidated.safetensors", b"x")
    of_mistral = [
        replace(one, engine_settings={**one.engine_settings, "load_format": "mistral"}) for one in plan.models
    ]
    plan = replace(plan, models=tuple(of_mistral))
    result = seen(made, plan, "weights-shards")
    assert (result.outcome, result.seen) == ("pass", "1 safetensors, none missing")
    index = b'{"weight_map": {"a": "consolidated.safetensors", "b": "consolidated-b.safetensors"}}'
    made.put(f"{PREFIX}consolidated.safetensors.index.json", index)
    result = seen(made, plan, "weights-shards")
    assert result.seen == "1 of 2 files are missing: consolidated-b.safetensors"


def test_a_draft_that_lacks_a_shard_fails(made: Stage, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, DRAFT_SPEC)
    made.put(f"{PREFIX}drafts/eagle3/config.json", b"{}")
    made.put(f"{PREFIX}drafts/eagle3/model-00001-of-00002.safetensors", b"x")
    result = seen(made, plan, "draft")
    assert (result.outcome, result.seen) == ("fail", "1 of 2 files are missing: model-00002-of-00002.safetensors")


@pytest.mark.parametrize("other_first", [True, False])
def test_a_serving_properties_is_held_to_every_component_that_reads_it(
    made: Stage, tmp_path: Path, other_first: bool
) -> None:
    """Only the one with adapters has an environment that the file wins over."""
    other = "  - name: other\n    accelerators: 1\n    copies: {min: 1, max: 1}\n"
    text = SPEC.replace("components:\n", f"components:\n{other}") if other_first else SPEC + other
    made.put(f"{PREFIX}serving.properties", b"option.enable_lora=false\n")
    result = seen(made, fitted(plan_of(tmp_path, text)), "serving-properties")
    assert (result.outcome, result.seen) == (
        "fail",
        "serving.properties wins over the environment for option.enable_lora",
    )


def test_a_draft_is_looked_for_in_its_folder(made: Stage, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, DRAFT_SPEC)
    assert seen(made, plan, "draft").seen == "there is no such folder"
    made.put(f"{PREFIX}drafts/eagle3/config.json", b"{}")
    assert seen(made, plan, "draft").seen == "it lacks its weights"
    made.put(f"{PREFIX}drafts/eagle3/model.safetensors", b"x")
    result = seen(made, plan, "draft")
    assert (result.outcome, result.subject) == ("pass", f"{NAMED}drafts/eagle3/")
    made.put(f"{PREFIX}drafts/eagle3/model.safetensors", b"")
    assert seen(made, plan, "draft").seen == "empty: model.safetensors"
    hub = plan_of(tmp_path, DRAFT_SPEC.replace("drafts/eagle3/", "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B"))
    assert seen(made, hub, "hub").seen == "each copy downloads the draft from the hub; it is not looked for"
