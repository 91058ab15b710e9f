"""``warmstack init``: what it writes, and what it refuses to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.runner import Runner, process, write


def test_init(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("init", "my-chat", "--server", "vllm", "--model", "Qwen/Qwen3-8B", "--instance-type", "ml.g6e.2xlarge")
    out = run(*words)
    assert run.code == 0
    assert "specs/my-chat.yaml: written; the endpoint will be my-chat-dev" in out
    text = (tmp_path / "specs" / "my-chat.yaml").read_text(encoding="utf-8")
    assert "version: 0.30.0\n" in text
    assert text.startswith("# yaml-language-server: $schema=../schemas/deployment.schema.json\n")
    run("validate", "--strict", "specs/my-chat.yaml")
    assert run.code == 0
    run(*words)
    assert run.code == 1
    assert "exists; --force replaces it" in run.err
    run(*words, "--force")
    assert run.code == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["My_Chat"], "NAME is 'My_Chat'"),
        (["../evil"], "NAME is '../evil'"),
        (["a", "--folder", "x\nname: evil"], "--folder is"),
        (["a", "--model", "x: {y}\nz: 1"], "--model is"),
        (["a", "--instance-type", "ml.g5.12xlarge\nx: 1"], "--instance-type is"),
    ],
)
def test_init_writes_no_word_that_could_be_more(run: Runner, words: list[str], says: str, tmp_path: Path) -> None:
    run("init", "--folder", str(tmp_path), *words)
    assert run.code == 1
    assert says in run.err
    assert list(tmp_path.iterdir()) == []


def test_init_with_an_unknown_instance_type_writes_nothing(tmp_path: Path) -> None:
    done = process("init", "chat", "--instance-type", "ml.g5.13xlarge", cwd=tmp_path)
    assert done.returncode == 1
    assert "ml.g5.12xlarge" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_init_of_a_model_that_needs_work_says_so(run: Runner, tmp_path: Path) -> None:
    out = run("init", "big", "--model", "Qwen/Qwen2.5-72B-Instruct", "--folder", str(tmp_path))
    assert run.code == 1
    assert "WS020" in out
    assert "written, but not valid yet; edit it, or init again with --force" in out
    assert (tmp_path / "big.yaml").exists()


def test_init_into_a_folder_that_cannot_be(run: Runner, tmp_path: Path) -> None:
    write(tmp_path / "file", "")
    done = process("init", "chat", "--folder", str(tmp_path / "file"), cwd=tmp_path)
    assert done.returncode == 1
    assert "cannot be made: File exists" in done.stderr
    assert "Traceback" not in done.stderr


def test_init_points_at_the_schema_of_the_clone(run: Runner, tmp_path: Path) -> None:
    run("init", "away", "--folder", str(tmp_path / "specs" / "team"))
    first = (tmp_path / "specs" / "team" / "away.yaml").read_text(encoding="utf-8").splitlines()[0]
    schema = Path(first.partition("$schema=")[2])
    assert (tmp_path / "specs" / "team" / schema).resolve() == (Path.cwd() / "schemas/deployment.schema.json").resolve()
