"""The app as people run it: by itself, with a context, through the CDK command line, and with specs that are wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from cloud_assembly import CDK
from tests.infrastructure.synthesis import EXAMPLES, ROOT, document_of, path_of, synthesized
from warmstack.errors import WarmstackError

INVALID = """\
name: broken
model: {id: Qwen/Qwen3-8B}
endpoint:
  instance_type: ml.g6e.xlarge
  instances: {min: 2}
  routing: {strategy: PREFIX_AWARE, prefix_length: 512}
"""
TOO_LARGE = """\
name: too-large
model: {id: Qwen/Qwen2.5-72B-Instruct}
endpoint:
  instance_type: ml.g6e.xlarge
"""


def _environment(context: Mapping[str, str] | None = None, **more: str) -> dict[str, str]:
    """An environment without AWS credentials, and with no way to find some."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "CDK_"))}
    nowhere = str(ROOT / "no-such-file")
    return kept | {
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": nowhere,
        "AWS_SHARED_CREDENTIALS_FILE": nowhere,
        "CDK_VALIDATION": "false",
        "CDK_CONTEXT_JSON": json.dumps(json.loads(os.environ["CDK_CONTEXT_JSON"]) | dict(context or {})),
        **more,
    }


def _app(output: Path, context: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return _run([sys.executable, "app.py"], _environment(context, CDK_OUTDIR=str(output)))


def _run(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def _templates(folder: Path) -> dict[str, str]:
    return {path.name.partition(".")[0]: path.read_text(encoding="utf-8") for path in folder.glob("*.template.json")}


def _expected(paths: Sequence[Path]) -> dict[str, str]:
    return {synthesized(path).plan.stack_name: synthesized(path).text for path in paths}


def test_the_app_needs_no_credentials_and_makes_every_spec_a_stack(tmp_path: Path) -> None:
    done = _app(tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert _templates(tmp_path) == _expected(EXAMPLES)


def test_the_context_chooses_specs(tmp_path: Path) -> None:
    done = _app(tmp_path, {"spec": "specs/eagle3.yaml, specs/two-models.yaml"})
    assert done.returncode == 0, done.stderr
    assert _templates(tmp_path) == _expected([path_of("eagle3"), path_of("two-models")])


def test_what_is_wrong_with_specs_is_told_without_a_traceback(tmp_path: Path) -> None:
    """Both the language's errors and the plan's, of every spec, in one run."""
    (tmp_path / "broken.yaml").write_text(INVALID, encoding="utf-8")
    (tmp_path / "too-large.yaml").write_text(TOO_LARGE, encoding="utf-8")
    done = _app(tmp_path / "out", {"spec": f"{tmp_path}/broken.yaml,{tmp_path}/too-large.yaml"})
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"{tmp_path}/broken.yaml:6:52: error" in done.stderr
    assert "prefix_length is 512; SageMaker accepts 1024..65536 bytes" in done.stderr
    assert re.search(rf"^{re.escape(str(tmp_path))}/too-large\.yaml:\d+:\d+: error WS020: ", done.stderr, re.MULTILINE)
    assert "Traceback" not in done.stderr
    assert _templates(tmp_path / "out") == {}


def test_two_specs_of_one_stack_are_refused_by_name(tmp_path: Path) -> None:
    import app

    copies = [tmp_path / "first.yaml", tmp_path / "second.yaml"]
    for path in copies:
        path.write_text(path_of("eagle3").read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(WarmstackError) as caught:
        app.plans(copies)
    assert str(caught.value) == f"{copies[1]}: the stack fast-chat-prod is deployed by {copies[0]} already"


def test_a_warning_is_shown_until_it_is_acknowledged(tmp_path: Path) -> None:
    """It does not stop the app: `warmstack validate --strict` is for that."""
    accepted = document_of("kv-aware")
    open_one = {key: one for key, one in accepted.items() if key != "acknowledge"} | {"name": "kv-open"}
    for name, document in (("accepted", accepted), ("open", open_one)):
        (tmp_path / f"{name}.yaml").write_text(json.dumps(document), encoding="utf-8")
    done = _app(tmp_path / "out", {"spec": f"{tmp_path}/accepted.yaml,{tmp_path}/open.yaml"})
    assert done.returncode == 0
    assert set(_templates(tmp_path / "out")) == {"kv-aware-test", "kv-open-test"}
    assert done.stderr.count("WARNING WS055: ") == 1
    assert "kv-open-test" in done.stderr
    assert "kv-aware-test" not in done.stderr


def test_without_specs_the_way_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import app

    monkeypatch.setattr(app, "ROOT", tmp_path)
    with pytest.raises(WarmstackError, match=r"no spec in specs/; `warmstack init NAME` writes a first one"):
        app.build_app(outdir=str(tmp_path / "out"))


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `cdk synth` makes of cdk.json as it is."""
    folder = tmp_path_factory.mktemp("cdk")
    done = _run([str(CDK), "synth", "--quiet", "--output", str(folder)], _environment())
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_cdk_synth_writes_what_these_tests_look_at(assembly: Path) -> None:
    assert _templates(assembly) == _expected(EXAMPLES)


def test_cdk_ls_names_every_stack(assembly: Path) -> None:
    done = _run([str(CDK), "ls", "--app", str(assembly)], _environment())
    assert sorted(done.stdout.split()) == sorted(_expected(EXAMPLES)), done.stderr


def test_cdk_diff_against_the_golden_template_needs_no_credentials(assembly: Path) -> None:
    golden = ROOT / "tests" / "golden" / "stacks" / "lora-tenants" / "template.json"
    command = [str(CDK), "diff", "tenants-prod", "--app", str(assembly), "--template", str(golden), "--fail"]
    done = _run(command, _environment())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "There were no differences" in done.stdout + done.stderr
