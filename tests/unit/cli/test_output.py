"""What reaches a terminal, a pipe or a log: no traceback, no control character, no secret."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli.runner import Runner, process, write


def test_no_traceback_reaches_a_user(root: Path) -> None:
    lines = (
        "import warmstack.cli.validate as validate",
        "def boom(*words, **options): raise RuntimeError('boom')",
        "validate.validate_specs = boom",
        "from warmstack.cli import main",
        "main()",
    )
    code = "\n".join(lines)
    words = [sys.executable, "-c", code, "validate", "specs/sticky-chat.yaml"]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "internal error: RuntimeError: boom" in done.stderr
    assert "Traceback" not in done.stderr
    shown = subprocess.run(
        words, cwd=root, capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "WARMSTACK_TRACEBACK": "1"},
    )  # fmt: skip
    assert "Traceback" in shown.stderr


@pytest.mark.parametrize("made", ["KeyboardInterrupt", "BaseException"])
def test_an_interrupt_ends_quietly_though_an_extension_panics_of_it(root: Path, made: str) -> None:
    code = f"""
import os, signal, time
import warmstack.cli.validate as validate
from warmstack.cli import main
def broken(*words, **options):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)
    except KeyboardInterrupt:
        raise {made}("broken off") from None
validate.validate_specs = broken
main()
"""
    words = [sys.executable, "-c", code, "validate", "specs/sticky-chat.yaml"]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_panic_without_an_interrupt_is_a_defect(root: Path) -> None:
    code = (
        "import warmstack.cli.validate as validate\n"
        "def boom(*words, **options): raise BaseException('boom')\n"
        "validate.validate_specs = boom\n"
        "from warmstack.cli import main\n"
        "main()"
    )
    words = [sys.executable, "-c", code, "validate", "specs/sticky-chat.yaml"]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "internal error: BaseException: boom" in done.stderr


def test_a_closed_pipe_ends_quietly(root: Path) -> None:
    command = f'"{sys.executable}" -c "from warmstack.cli import main; main()" catalog models --json | head -c 10'
    done = subprocess.run(["bash", "-c", command], cwd=root, capture_output=True, text=True, check=False, timeout=60)
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr


def test_odd_encodings_of_the_terminal(root: Path, broken: Path) -> None:
    """A terminal without UTF-8 gets escapes, not a failure."""
    write(broken, broken.read_text(encoding="utf-8") + "tags: {ключ: значение}\n")
    env = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    for words in (["validate", str(broken)], ["plan", "specs/two-models.yaml"], ["catalog", "instances"]):
        done = process(*words, cwd=root, env=env)
        assert "internal error" not in done.stderr, words
        assert "Traceback" not in done.stderr


def test_output_that_cannot_be_written(root: Path) -> None:
    for redirect, code in ((">/dev/full", 1), (">&-", 0)):
        for words in ("validate specs/sticky-chat.yaml", "plan --json specs/sticky-chat.yaml", "schema"):
            command = f'"{sys.executable}" -c "from warmstack.cli import main; main()" {words} {redirect}'
            done = subprocess.run(
                ["bash", "-c", command], cwd=root, capture_output=True, text=True, check=False, timeout=60
            )
            assert done.returncode == code, (command, done.stderr)
            assert "internal error" not in done.stderr
            assert "Traceback" not in done.stderr
            assert code == 0 or "cannot be written: No space left on device" in done.stderr


def test_names_and_values_cannot_drive_the_terminal_or_forge_lines(run: Runner, tmp_path: Path) -> None:
    evil = write(
        tmp_path / "e\x1b[31mred\nname.yaml",
        'name: a\n"b\\nspecs/x.yaml:1:1: error: forged": 1\nmodel: {id: Qwen/Qwen3-8B}\n'
        "endpoint: {instance_type: ml.g5.xlarge}\n",
    )
    for form in ("text", "github"):
        out = run("validate", "--format", form, str(evil))
        assert run.code == 1
        assert "\x1b" not in out
        assert not [line for line in out.splitlines() if line.startswith(("name.yaml", "specs/x.yaml"))]
    colour = write(
        tmp_path / "colour.yaml",
        "name: a\nmodel: {id: Qwen/Qwen2.5-7B-Instruct, weights: {s3: s3://acme/q/}}\n"
        'engine: {options: {chat_template: "\\e[31mX"}}\nendpoint: {instance_type: ml.g5.12xlarge}\n',
    )
    assert "\x1b" not in run("plan", str(colour))


def test_a_token_in_the_wrong_place_is_not_repeated(run: Runner, tmp_path: Path) -> None:
    spec = write(
        tmp_path / "token.yaml",
        "name: a\nmodel: {id: 5, weights: {hub: {token_secret: hf_abcdef123}}}\n"
        "endpoint: {instance_type: ml.g5.xlarge}\n",
    )
    for form in ("text", "json", "github"):
        out = run("validate", "--format", form, str(spec))
        assert run.code == 1
        assert "token_secret must be the ARN of a Secrets Manager secret" in out
        assert "hf_abcdef123" not in out


@pytest.mark.parametrize(
    "line",
    [
        "engine: {options: {hf_token: hf_abcdefghij123456}}",
        "engine: {options: {api_key: hunter2hunter2}}",
        "env: {HF_TOKEN: hf_abcdefghij123456}",
        "hub_token: hunter2hunter2",
        "model: {id: x, weights: {hub: hf_abcdefghij123456}}",
        "model: {id: hf_abcdefghij123456}",
    ],
)
@pytest.mark.parametrize("form", ["text", "json", "github"])
def test_secrets_are_not_repeated(run: Runner, tmp_path: Path, line: str, form: str) -> None:
    """Wherever people put a token, messages and the lines under them do not carry it into a log."""
    model = "" if line.startswith("model") else "model: {id: Qwen/Qwen3-8B, weights: {s3: s3://acme/q/}}\n"
    text = f"name: a\n{model}{line}\nendpoint: {{instance_type: ml.g6e.xlarge}}\n"
    out = run("validate", "--format", form, str(write(tmp_path / "s.yaml", text)))
    assert run.code == 1
    assert "hf_abcdefghij" not in out
    assert "hunter2" not in out
