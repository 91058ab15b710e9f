"""`warmstack adapter`, as a user or a script runs it; S3 is a stub behind the real client."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.stub import ANY, Stubber
from rich.console import Console

from tests.unit.adapters.makers import GOOD, Shapes, adapter, archive, attention
from tests.unit.cli.runner import Runner, process, write
from warmstack.cli.adapter import PackOrder, pack_folder

SPEC = "specs/lora-tenants.yaml"
CODE = "from warmstack_formatters import input_formatter\n@input_formatter\ndef f(payload):\n    return payload\n"


@pytest.fixture
def legal(tmp_path: Path) -> Path:
    return adapter(tmp_path / "legal", README__md="x")


def test_check_in_text(run: Runner, legal: Path) -> None:
    out = run("adapter", "check", str(legal), "--spec", SPEC)
    assert run.code == 0
    assert out == (
        "rank 2, 52.6 KiB of weights, trained on meta-llama/Llama-3.1-8B-Instruct, "
        f"for meta-llama/Llama-3.1-8B-Instruct on lmi 0.38.0-lmi29.0.0-cu130\n{legal}: valid\n"
    )
    assert run("adapter", "check", str(legal)).endswith(f"{legal}: valid\n")


def test_check_counts_and_strict(run: Runner, legal: Path) -> None:
    adapter(legal, {"base_model_name_or_path": "Qwen/Qwen3-8B"})
    out = run("adapter", "check", str(legal), "--spec", SPEC, "--component", "base")
    assert run.code == 0
    assert "warning  adapter_config.json:" in out
    assert out.endswith(f"{legal}: valid (1 warning)\n")
    out = run("adapter", "check", str(legal), "--spec", SPEC, "--strict")
    assert (run.code, out.splitlines()[-1]) == (1, f"{legal}: invalid with --strict (1 warning)")
    adapter(legal, {"r": 64})
    out = run("adapter", "check", str(legal), "--spec", SPEC)
    assert run.code == 1
    assert out.endswith("invalid (2 errors)\n")
    assert "max_lora_rank of" in out
    assert "\x1b" not in out


def test_check_for_scripts(run: Runner, legal: Path, tmp_path: Path) -> None:
    document = json.loads(run("adapter", "check", str(legal), "--spec", SPEC, "--json"))
    assert document == {
        "version": 1,
        "path": str(legal),
        "rank": 2,
        "base_model": "meta-llama/Llama-3.1-8B-Instruct",
        "weights_bytes": 53834,
        "files": {"README.md": 1, "adapter_config.json": 190, "adapter_model.safetensors": 53834},
        "problems": [],
        "component": "base",
    }
    broken = write(tmp_path / "a.tar.gz", "no archive")
    document = json.loads(run("adapter", "check", str(broken), "--json"))
    assert run.code == 1
    assert {one["id"] for one in document["problems"]} == {"config", "damaged", "weights"}
    assert set(document["problems"][0]) == {"id", "severity", "place", "value", "rule", "fix"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("check", "none.tar.gz"), "warmstack: none.tar.gz cannot be read: No such file or directory\n"),
        (("check", "specs", "--component", "x"), "--component is 'x'; it needs --spec"),
        (("check", "specs", "--spec", SPEC, "--component", "x"), "the spec has no component of that name, it has base"),
        (("check", "specs", "--spec", "specs/two-models.yaml"), "several components; name one with --component"),
        (("pack", "none"), "none is no folder; name the folder that holds adapter_config.json"),
        (("pack", "specs", "--name", "Not A Name"), "--name is 'Not A Name'; a spec takes lower-case letters"),
        (("pack", "specs", "--upload", "s3://Bad/x"), "--upload is 's3://Bad/x'; it must be a bucket and a prefix"),
        (("pack", "specs", "--upload", "s3://good/x/", "-o", "y"), "--output and --upload are two places"),
    ],
)
def test_what_cannot_be_done_is_one_line(run: Runner, words: tuple[str, ...], expected: str) -> None:
    assert run("adapter", *words) == ""
    assert run.code == 1
    assert expected in run.err
    assert run.err.count("\n") == 1


def test_a_spec_that_cannot_be_planned(run: Runner, legal: Path, broken: Path) -> None:
    assert "unknown key 'modle'" in run("adapter", "check", str(legal), "--spec", str(broken))
    assert run.code == 1
    document = json.loads(run("adapter", "check", str(legal), "--spec", str(broken), "--json"))
    assert document["diagnostics"][0]["severity"] == "error"


def test_pack_in_text(run: Runner, legal: Path, tmp_path: Path) -> None:
    code = write(tmp_path / "f.py", CODE)
    out = run("adapter", "pack", str(legal), "--code", str(code), "-o", str(tmp_path))
    assert run.code == 0
    path = next(tmp_path.glob("legal-*.tar.gz"))
    assert out.startswith(f"{path}: written, 80.0 KiB\n  sha256 {path.name[6:18]}")
    assert "left out:\n  README.md: no server reads it\n" in out
    assert out.endswith(f"\n  - {{name: legal, artifact: s3://BUCKET/PREFIX/{path.name}, rank: 2}}\n")
    out = run("adapter", "pack", str(legal), "--code", str(code), "-o", str(tmp_path))
    assert out.startswith(f"{path}: already there, ")
    assert run("adapter", "check", str(path), "--spec", SPEC, "--strict").endswith(f"{path}: valid\n")


def test_pack_for_scripts(run: Runner, legal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    document = json.loads(run("adapter", "pack", "legal", "--name", "claims", "--json"))
    archived = document["archive"]
    assert archived["state"] == "written"
    assert archived["path"] == f"claims-{archived['sha256'][:12]}.tar.gz"
    assert archived["bytes"] == Path(archived["path"]).stat().st_size
    assert archived["spec"].startswith("- {name: claims, artifact: s3://BUCKET/PREFIX/claims-")
    assert document["left_out"] == {"README.md": "no server reads it"}


def test_what_no_server_loads_is_not_packed(run: Runner, legal: Path, tmp_path: Path) -> None:
    (legal / "adapter_model.safetensors").rename(legal / "adapter_model.bin")
    out = run("adapter", "pack", str(legal), "-o", str(tmp_path))
    assert run.code == 1
    assert "safe_serialization=True" in out
    assert out.endswith(f"{legal}: not packed (1 error)\n")
    document = json.loads(run("adapter", "pack", str(legal), "-o", str(tmp_path), "--json"))
    assert (document["archive"], document["problems"][0]["id"]) == (None, "pickle")
    assert list(tmp_path.glob("*.tar.gz")) == []


def test_hostile_names_do_not_drive_the_terminal(run: Runner, tmp_path: Path) -> None:
    shapes: Shapes = {**GOOD, **attention("q_proj", 99), "odd\x1b[31m\n.weight": (1, 1)}
    folder = adapter(tmp_path / "e\x1b[31mvil", shapes=shapes)
    (folder / "x\x1b[2J").write_text("x", encoding="utf-8")
    for words in (("check", str(folder), "--spec", SPEC), ("pack", str(folder), "--name", "a", "-o", str(tmp_path))):
        assert "\x1b" not in run("adapter", *words)
        assert "\x1b" not in run.err
    run("adapter", "check", str(tmp_path / "n\x1bone"))
    assert "\x1b" not in run.err


def test_no_traceback_for_odd_files(root: Path, tmp_path: Path) -> None:
    archive(tmp_path / "a.tar.gz")
    (tmp_path / "short.tar.gz").write_bytes((tmp_path / "a.tar.gz").read_bytes()[:99])
    for name in ("short.tar.gz", "a.tar.gz/inside", "\udcff.tar.gz", "/dev/null"):
        done = process("adapter", "check", str(tmp_path / name), cwd=root)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert "internal error" not in done.stderr


def test_usage(run: Runner) -> None:
    for words in (("adapter", "pack"), ("adapter", "check"), ("adapter", "nonsense")):
        run(*words)
        assert run.code == 2


# S3 -------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def s3() -> Iterator[tuple[Any, Stubber]]:
    client = boto3.client("s3", region_name="us-west-2", aws_access_key_id="x", aws_secret_access_key="x")
    with Stubber(client) as stub:
        yield client, stub
        stub.assert_no_pending_responses()
    client.close()


def upload(folder: Path, client: Any, prefix: str = "s3://acme-adapters/tenants", *, as_json: bool = True) -> int:
    order = PackOrder(folder=folder, code=None, output=Path(), upload=prefix, name=None)
    return pack_folder(order, as_json=as_json, client=lambda: client)


def test_upload(legal: Path, s3: tuple[Any, Stubber], capsys: pytest.CaptureFixture[str]) -> None:
    client, stub = s3
    stub.add_client_error("head_object", "404", http_status_code=404)
    stub.add_response("put_object", {}, None)
    assert upload(legal, client) == 0
    document = json.loads(capsys.readouterr().out)["archive"]
    name = f"legal-{document['sha256'][:12]}.tar.gz"
    assert (document["state"], document["path"]) == ("uploaded", f"s3://acme-adapters/tenants/{name}")
    assert document["spec"] == f"- {{name: legal, artifact: s3://acme-adapters/tenants/{name}, rank: 2}}"
    stored = {"ContentLength": document["bytes"], "Metadata": {"sha256": document["sha256"]}}
    stub.add_response("head_object", stored, {"Bucket": "acme-adapters", "Key": f"tenants/{name}"})
    assert upload(legal, client, as_json=False) == 0
    assert capsys.readouterr().out.startswith(f"s3://acme-adapters/tenants/{name}: already there, ")
    assert list(legal.parent.glob("*.tar.gz")) == []


def test_upload_over_something_else_is_refused(
    legal: Path, s3: tuple[Any, Stubber], capsys: pytest.CaptureFixture[str]
) -> None:
    client, stub = s3
    stub.add_response("head_object", {"ContentLength": 5, "Metadata": {"sha256": "other"}})
    assert upload(legal, client) == 1
    assert "holds something else, with sha256 other; delete it, or use another prefix" in capsys.readouterr().err


def test_an_object_that_cannot_be_seen_is_written(legal: Path, s3: tuple[Any, Stubber]) -> None:
    client, stub = s3
    stub.add_client_error("head_object", "403", http_status_code=403)
    expected = {"Bucket": "acme-adapters", "Key": ANY, "Body": ANY, "Metadata": ANY, "ContentType": "application/gzip"}
    stub.add_response("put_object", {}, {**expected, "ChecksumAlgorithm": ANY})
    assert upload(legal, client) == 0


@pytest.mark.parametrize(
    "answer", [("head_object", "301", 301), ("head_object", "SlowDown", 503), ("put_object", "AccessDenied", 403)]
)
def test_errors_of_s3_are_one_line(
    legal: Path, s3: tuple[Any, Stubber], capsys: pytest.CaptureFixture[str], answer: tuple[str, str, int]
) -> None:
    client, stub = s3
    operation, code, status = answer
    if operation == "put_object":
        stub.add_client_error("head_object", "404", http_status_code=404)
    stub.add_client_error(operation, code, "no\nway", http_status_code=status)
    assert upload(legal, client) == 1
    err = capsys.readouterr().err
    assert err.startswith("warmstack: s3://acme-adapters/tenants/legal-")
    assert "cannot be stored: " in err
    assert code in err
    assert err.count("\n") == 1


def test_missing_credentials_and_a_missing_boto3(
    run: Runner, legal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    run("adapter", "pack", str(legal), "--upload", "s3://acme-adapters/")
    assert "cannot be stored: Unable to locate credentials" in run.err
    monkeypatch.setitem(sys.modules, "boto3", None)
    run("adapter", "pack", str(legal), "--upload", "s3://acme-adapters/")
    assert run.err == "warmstack: --upload needs boto3: install it with pip install 'warmstack[aws]'\n"


def test_progress_is_for_terminals(legal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr("warmstack.cli.adapter.Console", lambda **kwargs: Console(**kwargs, force_terminal=True))
    order = PackOrder(folder=legal, code=None, output=tmp_path, upload=None, name=None)
    assert pack_folder(order, as_json=False) == 0
    assert "packing" in capsys.readouterr().err
