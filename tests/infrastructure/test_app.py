"""The app as people run it: by itself, with a context, through the CDK command line, and with specs that are wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
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
    assert _templates(tmp_path).items() >= _expected(EXAMPLES).items()


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
    assert str(caught.value) == (
        f"{copies[1]}: the stack fast-chat-prod is deployed by {copies[0]} already: change name or environment"
    )


def test_a_spec_that_is_named_twice_counts_once() -> None:
    import app

    path = path_of("eagle3")
    assert [plan.stack_name for plan in app.plans([path, path.parent / "." / ".." / "specs" / path.name])] == [
        "fast-chat-prod"
    ]


def _tenants(folder: Path, name: str, environment: str, component: str, **more: object) -> Path:
    """A spec with one component and one adapter, ``billing``."""
    document = document_of("lora-tenants") | {"name": name, "environment": environment} | more
    base = document["components"][0]
    document["components"] = [base | {"name": component, "adapters": base["adapters"][:1]}]
    path = folder / f"{name}-{environment}.yaml"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        (("chat", "prod", "eu-qwen"), ("chat-prod", "eu", "qwen"), "chat-prod-eu-qwen"),
        (("chat", "prod", "eu-billing"), ("chat-prod", "eu", "other"), None),
        (("chat", "prod", "eu"), ("chat-prod", "eu", "billing"), "chat-prod-eu-billing"),
    ],
    ids=["component and component", "apart", "adapter and component"],
)
def test_two_specs_that_claim_one_component_are_refused_by_name(
    tmp_path: Path, first: tuple[str, str, str], second: tuple[str, str, str], name: str | None
) -> None:
    one, other = _tenants(tmp_path, *first), _tenants(tmp_path, *second)
    done = _app(tmp_path / "out", {"spec": f"{one},{other}"})
    if name is None:
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert (
        f"{other}: the inference component {name} is deployed by {one} already; its name is unique in an account and "
        "Region: change name, environment or the component\n"
    ) in done.stderr


def test_components_of_two_regions_may_share_a_name(tmp_path: Path) -> None:
    import app

    here, there = ({"target": {"account": "111122223333", "region": one}} for one in ("us-east-1", "eu-west-1"))
    one = _tenants(tmp_path, "chat", "prod", "eu-qwen", **here)
    assert len(app.plans([one, _tenants(tmp_path, "chat-prod", "eu", "qwen", **there)])) == 2
    with pytest.raises(WarmstackError, match="the inference component chat-prod-eu-qwen is deployed by"):
        app.plans([one, _tenants(tmp_path, "chat-prod", "eu", "qwen", **here)])
    with pytest.raises(WarmstackError, match="the inference component chat-prod-eu-qwen is deployed by"):
        app.plans([one, _tenants(tmp_path, "chat-prod", "eu", "qwen")])


@pytest.mark.parametrize("value", ["", " , "])
def test_a_context_that_names_no_spec_is_not_all_specs(tmp_path: Path, value: str) -> None:
    done = _app(tmp_path, {"spec": value})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"the context names no spec (-c spec={value}): name one, or leave -c spec out for all of specs/\n"
    )
    assert _templates(tmp_path) == {}


@pytest.mark.parametrize("module", ["jsii.errors", "aws_cdk.cloud_assembly_schema", "stacks.statements"])
def test_an_interrupt_ends_without_a_traceback(tmp_path: Path, module: str) -> None:
    """To the whole group, as a terminal sends it: node dies of it too. The app says when it begins to load a module."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\n"
        "def say(event, arguments):\n"
        f"    if event == 'import' and arguments[0] == {module!r}:\n"
        "        os.write(2, b'now')\n"
        "sys.addaudithook(say)\n",
        encoding="utf-8",
    )
    environment = _environment(CDK_OUTDIR=str(tmp_path / "out"), PYTHONPATH=str(tmp_path))
    # Guard: while coverage starts, which is before the first line of the app, it swallows an interrupt.
    environment = {key: one for key, one in environment.items() if not key.startswith("COVERAGE_")}
    started = subprocess.Popen(
        [sys.executable, "app.py"], cwd=ROOT, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert started.stderr is not None
    assert started.stderr.read(3) == "now"
    os.killpg(started.pid, signal.SIGINT)
    out, errors = started.communicate(timeout=60)
    assert (started.returncode, out, errors.replace("now", "")) == (130, "", "")


@pytest.mark.parametrize("made", ["Exception", "BaseException", "warmstack.errors.WarmstackError"])
def test_an_interrupt_is_the_cause_whatever_it_is_made_into(tmp_path: Path, made: str) -> None:
    """Extensions turn it into errors of their own: pydantic's core panics when it broke off an import."""
    broken = f"""
    import os, signal, time, warmstack.errors
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)
    except KeyboardInterrupt:
        raise {made}("broken off") from None
    """
    environment = _environment({"spec": "specs/eagle3.yaml"}, CDK_OUTDIR=str(tmp_path / "out"))
    done = _run([sys.executable, "app.py"], environment | _broken_planning(tmp_path, broken))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def _broken_planning(
    tmp_path: Path, body: str = "raise ZeroDivisionError('division by zero\\nmore')"
) -> dict[str, str]:
    """A way to a defect: Python reads sitecustomize when it starts."""
    (tmp_path / "sitecustomize.py").write_text(
        "import warmstack.plan.planner as planner\n"
        "def broken(*_):\n"
        f"{textwrap.indent(textwrap.dedent(body), '    ')}\n"
        "planner.plan_served = broken\n",
        encoding="utf-8",
    )
    return {"PYTHONPATH": str(tmp_path)}


def test_a_defect_is_one_line(tmp_path: Path) -> None:
    environment = _environment({"spec": "specs/eagle3.yaml"}, CDK_OUTDIR=str(tmp_path), **_broken_planning(tmp_path))
    done = _run([sys.executable, "app.py"], environment)
    line = "internal error: ZeroDivisionError: division by zero, WARMSTACK_TRACEBACK=1 shows where\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", line)
    done = _run([sys.executable, "app.py"], environment | {"WARMSTACK_TRACEBACK": "1"})
    assert done.returncode == 1
    assert "Traceback" in done.stderr


def test_a_stack_that_is_too_large_for_cloudformation_is_one_line(tmp_path: Path) -> None:
    from aws_cdk import App, CfnResource, Stack

    import app

    whole = App(outdir=str(tmp_path))
    stack = Stack(whole, "crowded")
    for index in range(501):
        CfnResource(stack, f"Topic{index}", type="AWS::SNS::Topic")
    with pytest.raises(RuntimeError) as caught:
        whole.synth()
    assert app._message(caught.value) == (
        "the stack crowded has 501 resources; a stack can have 500: move adapters or components to a spec of their own"
    )


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
    assert _templates(assembly).items() >= _expected(EXAMPLES).items()


def test_cdk_ls_names_every_stack(assembly: Path) -> None:
    done = _run([str(CDK), "ls", "--app", str(assembly)], _environment())
    assert set(done.stdout.split()) >= set(_expected(EXAMPLES)), done.stderr


def test_cdk_diff_against_the_golden_template_needs_no_credentials(assembly: Path) -> None:
    golden = ROOT / "tests" / "golden" / "stacks" / "lora-tenants" / "template.json"
    command = [str(CDK), "diff", "tenants-prod", "--app", str(assembly), "--template", str(golden), "--fail"]
    done = _run(command, _environment())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "There were no differences" in done.stdout + done.stderr


def test_make_synth_writes_and_lists_only_what_was_asked_for(tmp_path: Path) -> None:
    """With a template of an earlier run in the folder, and a spec with a quote and a space in its name."""
    for name in (".venv", "node_modules", "stacks"):
        (tmp_path / name).symlink_to(ROOT / name, target_is_directory=True)
    for name in ("Makefile", "cdk.json", "app.py"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "specs").mkdir()
    shutil.copy(path_of("eagle3"), tmp_path / "specs" / "it's a spec.yaml")
    (tmp_path / "cdk.out").mkdir()
    (tmp_path / "cdk.out" / "gone-prod.template.json").write_text("{}", encoding="utf-8")
    environment = {key: one for key, one in _environment().items() if not key.startswith(("CDK_CONTEXT", "MAKE"))}

    def make(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["make", "SETUP=:", "synth", *words], cwd=tmp_path, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    done = make("SPEC=specs/it's a spec.yaml")
    assert (done.returncode, done.stdout) == (0, "cdk.out/fast-chat-prod.template.json\n"), done.stderr
    empty = make("SPEC=")
    assert empty.returncode != 0
    assert "the context names no spec" in empty.stderr
