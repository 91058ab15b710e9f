"""What images of ours start first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import botocore.session
import pytest
from botocore.stub import Stubber

import warmstack_entrypoint as entrypoint
from warmstack_entrypoint import StartError, hub_token, lay_out, prepare

ARN = "arn:aws:secretsmanager:us-west-2:111122223333:secret:hub-token-AbCdEf"
LMI = ["/usr/local/bin/dockerd-entrypoint.sh", "serve"]
SCRIPT = Path(entrypoint.__file__)
TOKEN = "hf-token-of-a-test"


def _no_secret(arn: str) -> str:
    raise AssertionError(arn)


def _weights(folder: Path) -> Path:
    model = folder / "model"
    (model / "drafts").mkdir(parents=True)
    (model / "config.json").write_text("{}", encoding="utf-8")
    return model


def test_without_anything_to_do_the_environment_is_the_same() -> None:
    environment = {"PATH": "/bin", "OPTION_DTYPE": "auto"}
    assert prepare(["serve"], environment, _no_secret) == environment


def test_the_token_becomes_the_servers_own_variable() -> None:
    asked: list[str] = []

    def secret(arn: str) -> str:
        asked.append(arn)
        return f"{TOKEN}\n"

    prepared = prepare(["serve"], {"WARMSTACK_HUB_TOKEN_SECRET": ARN}, secret)
    assert prepared == {"WARMSTACK_HUB_TOKEN_SECRET": ARN, "HF_TOKEN": TOKEN}
    assert asked == [ARN]


@pytest.mark.parametrize(
    "value",
    [
        TOKEN,
        f" {TOKEN}\n",
        json.dumps({"HF_TOKEN": TOKEN}),
        json.dumps({"token": TOKEN}),
        json.dumps({"HF_TOKEN": "", "hf_token": " ", "token": TOKEN}),
        json.dumps({"HF_TOKEN": None, "token": TOKEN}),
        json.dumps(TOKEN),
        json.dumps(f" {TOKEN}\n"),
    ],
)
def test_a_token_is_the_value_or_a_key_of_it(value: str) -> None:
    assert hub_token(value, ARN) == TOKEN


@pytest.mark.parametrize(
    "value",
    [
        *("", "  ", "{", '{"other": "secret-value"}', "two words", "tökén", '{"token": 1}'),
        *("[1]", '["secret-value"]', "'secret-value'", '"secret-value', '"\\"secret-value\\""', '""'),
        '{"token": "[secret-value]"}',
        '{"token": ' * 100_000,
        '{"token": "a", "more": ' + "[" * 100_000,
    ],
    ids=lambda one: one[:30],
)
def test_a_value_without_a_token_is_refused_and_never_shown(value: str) -> None:
    with pytest.raises(StartError, match="hub-token-AbCdEf") as caught:
        hub_token(value, ARN)
    assert "secret-value" not in str(caught.value)
    assert "words" not in str(caught.value)


def test_formatters_lie_beside_links_to_the_weights(tmp_path: Path) -> None:
    model, code, out = _weights(tmp_path), tmp_path / "mine.py", tmp_path / "out"
    code.write_text("# mine\n", encoding="utf-8")
    environment = {"WARMSTACK_FORMATTERS": str(code)}
    prepared = prepare(LMI, environment, _no_secret, model_folder=model, laid_out_folder=out)
    assert prepared["SERVING_MODEL_STORE"] == str(out)
    assert {path.name for path in out.iterdir()} == {
        "config.json",
        "drafts",
        "formatters.py",
        "model.py",
        "warmstack_formatters.py",
    }
    assert (out / "config.json").resolve() == (model / "config.json").resolve()
    assert (out / "formatters.py").read_text(encoding="utf-8") == "# mine\n"
    # A container that starts again lays them out again.
    lay_out(code, model, out)
    assert (out / "model.py").is_file()


def test_other_servers_find_their_formatters_themselves(tmp_path: Path) -> None:
    environment = {"WARMSTACK_FORMATTERS": str(tmp_path / "mine.py")}
    assert prepare(["/usr/local/bin/sagemaker_entrypoint.sh"], environment, _no_secret) == environment


def test_what_keeps_formatters_from_the_weights_is_named(tmp_path: Path) -> None:
    code = tmp_path / "mine.py"
    code.write_text("", encoding="utf-8")
    with pytest.raises(StartError, match="cannot be read: No such file"):
        lay_out(code, tmp_path / "none", tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(StartError, match="is empty; formatters need weights in S3"):
        lay_out(code, tmp_path / "empty", tmp_path / "out")
    model = _weights(tmp_path)
    (model / "model.py").write_text("", encoding="utf-8")
    with pytest.raises(StartError, match=r"model\.py lies beside the weights"):
        lay_out(code, model, tmp_path / "out")
    (model / "model.py").unlink()
    with pytest.raises(StartError, match=r"gone\.py \(WARMSTACK_FORMATTERS\) cannot be copied to .*: No such file"):
        lay_out(tmp_path / "gone.py", model, tmp_path / "out")
    with pytest.raises(StartError, match=r"model \(WARMSTACK_FORMATTERS\) cannot be copied"):
        lay_out(model, model, tmp_path / "out")
    with pytest.raises(StartError, match=r"mine\.py/out cannot be made"):
        lay_out(code, model, code / "out")


def _run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", str(SCRIPT), *arguments]
    clean = {"PATH": os.environ["PATH"], **environment}
    return subprocess.run(command, env=clean, capture_output=True, text=True, check=False, timeout=60)


def test_it_becomes_the_command(tmp_path: Path) -> None:
    """The same process: signals reach the server, and its exit code is the container's."""
    program = tmp_path / "server.py"
    program.write_text("import os, sys\nprint(os.getppid(), sys.argv[1:])\nsys.exit(7)\n", encoding="utf-8")
    done = _run(sys.executable, str(program), "serve", "a b")
    assert done.returncode == 7
    assert done.stdout == f"{os.getpid()} ['serve', 'a b']\n"


def test_what_cannot_start_is_one_line() -> None:
    missing = _run("/nowhere/serve")
    assert (missing.returncode, missing.stderr) == (
        1,
        "warmstack: /nowhere/serve cannot be started: No such file or directory\n",
    )
    nothing = _run()
    assert nothing.stderr == "warmstack: no command to start; the image names it in ENTRYPOINT\n"
    bad = _run("true", WARMSTACK_HUB_TOKEN_SECRET="my-token")
    assert bad.returncode == 1
    assert "must be the ARN of a Secrets Manager secret" in bad.stderr
    assert "Traceback" not in missing.stderr + nothing.stderr + bad.stderr


class _Session:
    """botocore's session with a client that is stubbed."""

    def __init__(self, prepare_stub: object) -> None:
        self.session = botocore.session.get_session()
        self.prepare = prepare_stub

    def create_client(self, name: str, **keys: object) -> object:
        assert keys["region_name"] == "us-west-2"
        client = self.session.create_client(
            name, region_name="us-west-2", aws_access_key_id="x", aws_secret_access_key="y"
        )
        stubber = Stubber(client)
        self.prepare(stubber)  # type: ignore[operator]
        stubber.activate()
        return client


def test_a_secret_is_read_by_its_arn(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"ARN": ARN, "Name": "hub-token", "SecretString": TOKEN}
    stub = _Session(lambda one: one.add_response("get_secret_value", answer, {"SecretId": ARN}))
    monkeypatch.setattr(botocore.session, "get_session", lambda: stub)
    assert entrypoint.read_secret(ARN) == TOKEN


def test_a_secret_that_may_not_be_read_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    stub = _Session(lambda one: one.add_client_error("get_secret_value", "AccessDeniedException", "no"))
    monkeypatch.setattr(botocore.session, "get_session", lambda: stub)
    with pytest.raises(StartError, match="AccessDeniedException; the execution role needs"):
        entrypoint.read_secret(ARN)


def test_a_binary_secret_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"ARN": ARN, "Name": "hub-token", "SecretBinary": b"x"}
    stub = _Session(lambda one: one.add_response("get_secret_value", answer, {"SecretId": ARN}))
    monkeypatch.setattr(botocore.session, "get_session", lambda: stub)
    with pytest.raises(StartError, match="is binary"):
        entrypoint.read_secret(ARN)
