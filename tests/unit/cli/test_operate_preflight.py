"""`warmstack preflight`, with the services of moto."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws

from tests.unit.cli.runner import Runner, process, write
from tests.unit.operate.preflighting import SPEC, Stage, stage
from warmstack.cli import preflight
from warmstack.cli.operate_report import show_report
from warmstack.operate import Report
from warmstack.operate.preflights.checks import ADAPTER
from warmstack.operate.verification.checks import CANARY


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with mock_aws():
        found = stage()
        asked: list[str | None] = []

        def client(session: Any, service: str, *, region: str, endpoint_url: str | None) -> Any:
            asked.append(endpoint_url)
            return found.account().service(service)

        monkeypatch.setattr(preflight, "make_client", client)
        yield found


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    return write(tmp_path / "tenants.yaml", SPEC)


def test_what_is_there_and_what_is_not_is_a_table(made: Stage, spec: Path) -> None:
    run = Runner()
    out = run("preflight", str(spec))
    assert run.code == 0, out
    assert out.startswith("tenants-prod: region us-west-2, account 123456789012\n")
    assert out.endswith("tenants-prod: passed (9 passed, 1 warned)\n")
    assert "way out: look whether the prefix holds the model of the spec" in " ".join(out.split())
    assert Runner()("preflight", str(spec), "--strict").endswith(
        "tenants-prod: failed with --strict (9 passed, 1 warned)\n"
    )
    made.delete("adapters/legal.tar.gz")
    out = run("preflight", str(spec))
    assert run.code == 1
    assert out.endswith("tenants-prod: failed (8 passed, 1 failed, 1 warned)\n")


def test_several_specs_are_one_document(made: Stage, spec: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other.yaml", SPEC.replace("name: tenants", "name: others"))
    run = Runner()
    document = json.loads(run("preflight", str(spec), str(other), "--json"))
    assert run.code == 0
    assert document["version"] == 1
    assert [one["subject"] for one in document["reports"]] == ["tenants-prod", "others-prod"]
    assert {one["outcome"] for one in document["reports"]} == {"passed"}


def test_a_spec_that_is_invalid_is_not_looked_for(broken: Path, run: Runner) -> None:
    out = run("preflight", str(broken))
    assert (run.code, "unknown key 'modle'" in out) == (1, True)
    document = json.loads(run("preflight", str(broken), "--json"))
    assert "unknown key 'modle'" in document["error"]["message"]
    assert "unknown key 'modle'" in run.err


def test_without_a_region_it_says_where_to_write_one(warned: Path, tmp_path: Path) -> None:
    nothing = {"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_REGION": ""}
    nothing |= {"AWS_DEFAULT_REGION": "", "AWS_EC2_METADATA_DISABLED": "true"}
    done = process("preflight", str(warned), cwd=tmp_path, env=nothing)
    assert done.returncode == 1
    assert done.stderr.strip() == (
        "warmstack: chat-dev: there is no Region: write target in the spec, or give --region"
    )
    scripts = process("preflight", str(warned), "--json", cwd=tmp_path, env=nothing)
    assert scripts.returncode == 1
    assert json.loads(scripts.stdout)["error"]["message"] == done.stderr.strip().removeprefix("warmstack: ")
    assert scripts.stderr == done.stderr


def test_an_address_that_answers_nothing_is_a_failure(spec: Path, tmp_path: Path) -> None:
    keys = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_MAX_ATTEMPTS": "1"}
    done = process("preflight", str(spec), "--endpoint-url", "nowhere", cwd=tmp_path, env=keys)
    assert done.returncode == 1
    assert "the address 'nowhere' is none" in done.stderr
    far = process("preflight", str(spec), "--endpoint-url", "http://localhost:99999", cwd=tmp_path, env=keys)
    assert (far.returncode, far.stdout) == (1, "")
    assert far.stderr.startswith("warmstack: the address 'http://localhost:99999' is none: Port out of range")
    given = process("preflight", str(spec), cwd=tmp_path, env=keys | {"AWS_ENDPOINT_URL": "foo"})
    assert "the address in the environment or the configuration is none" in given.stderr
    unknown = process("preflight", str(spec), "--profile", "nobody", cwd=tmp_path, env=keys)
    assert "nobody" in unknown.stderr
    assert "Traceback" not in unknown.stderr


def test_many_that_passed_are_one_row(capsys: pytest.CaptureFixture[str]) -> None:
    results = [CANARY.passed(f"adapter-{number}", "a chat") for number in range(20)]
    results.append(CANARY.failed("adapter-20", "it does not answer"))
    show_report(Report(subject="many", facts={}, results=tuple(results)))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[2:4] == [
        "pass  canary  20 of them  adapter-0: a chat; and so on (--json lists all)",
        "fail  canary  adapter-20  it does not answer",
    ]
    assert lines[-1] == "many: failed (20 passed, 1 failed)"


def test_many_that_failed_alike_are_one_row_and_one_way_out(capsys: pytest.CaptureFixture[str]) -> None:
    results = [ADAPTER.failed(f"s3://b/{number}", "there is no such object", fix="upload it") for number in range(21)]
    results.append(ADAPTER.failed("s3://b/21", "it is empty"))
    show_report(Report(subject="many", facts={}, results=tuple(results)))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[2:] == [
        "fail  adapter  21 of them  s3://b/0: there is no such object; and so on (--json lists all)",
        "fail  adapter  s3://b/21   it is empty",
        "fail: adapter of 21 of them: s3://b/0, s3://b/1, s3://b/2 and 18 more",
        f"  why: {ADAPTER.reason}",
        "  way out: upload it",
        "fail: adapter of s3://b/21",
        f"  why: {ADAPTER.reason}",
        f"  way out: {ADAPTER.fix}",
        "many: failed (22 failed)",
    ]


def test_a_few_that_failed_alike_have_a_row_each_and_one_way_out(capsys: pytest.CaptureFixture[str]) -> None:
    results = [ADAPTER.failed(f"s3://b/{number}", "there is no such object") for number in range(2)]
    show_report(Report(subject="few", facts={}, results=tuple(results)))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert [line.split()[2] for line in lines[2:4]] == ["s3://b/0", "s3://b/1"]
    assert lines[4] == "fail: adapter of s3://b/0, s3://b/1"
    assert len(lines) == 8
