"""`warmstack lint-prompts`: what it prints, and what it exits with."""

from __future__ import annotations

import gzip
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.runner import Runner, process

SYSTEM = "You are the assistant of Acme, and answer in few words. " * 90


def bodies(*more: dict[str, Any], system: str = SYSTEM) -> bytes:
    said = [{"role": "system", "content": system}, {"role": "user", "content": "Why?"}]
    return b"".join(json.dumps(one | {"messages": said}, separators=(",", ":")).encode() + b"\n" for one in more)


@pytest.fixture
def run() -> Runner:
    return Runner()


@pytest.fixture
def requests(tmp_path: Path) -> Path:
    path = tmp_path / "requests.jsonl"
    path.write_bytes(
        bodies({"stream": True}, {"stream": False}, {"stream": False}, {"stream": False}, {"stream": True})
    )
    return path


def test_the_page(run: Runner, requests: Path) -> None:
    out = run("lint-prompts", str(requests))
    assert run.code == 0
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0] == "5 requests, 25.1 KiB, in 1 group; prefix_length 4096"
    assert any(
        line.startswith("stable share 50.0 % 100.0 % of 4 pairs of neighbours in a group: the first 4,096 ")
        for line in lines
    )
    assert "2 0 10 field before the prompt in stream" in lines
    assert any("field before the prompt: stream; send it after the prompt" in line for line in lines)
    assert any(line.startswith("→ 4,096 50.0 % 2 60.0 % 100.0 % 1 100.0 %") for line in lines)
    assert any(line.startswith("5 50.0 % █░░░░░░░░░░░░░░░ 10 ████████████████ ") for line in lines)
    assert max(map(len, out.splitlines())) <= 120


def test_json(run: Runner, requests: Path) -> None:
    document = json.loads(run("lint-prompts", str(requests), "--json", "--prefix-length", "2048"))
    assert (document["prefix_length"], document["pairs"], document["sent"]["stable_share"]) == (2048, 4, 0.5)
    assert document["kinds"][0]["worst"]["first"] == f"{requests}:1"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--fail-under", "0.5"], 0, ""),
        (["--fail-under", "0.51"], 1, "warmstack: the stable share is 0.5000; --fail-under asks for 0.51\n"),
        (
            ["--fail-under", "0.1", "--limit", "1"],
            1,
            "warmstack: there is no pair to compare; --fail-under asks for 0.1\n",
        ),
        (["--limit", "1"], 0, ""),
        (["--json", "--fail-under", "1"], 1, "warmstack: the stable share is 0.5000; --fail-under asks for 1.0\n"),
    ],
)
def test_fail_under(run: Runner, requests: Path, words: list[str], code: int, told: str) -> None:
    out = run("lint-prompts", str(requests), *words)
    assert (run.code, run.err) == (code, told)
    if "--json" in words:
        json.loads(out)


def test_several_paths_formats_and_limits(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.jsonl.gz").write_bytes(gzip.compress(bodies({"n": 1}, {"n": 2})))
    rows = [{"timestamp": at, "input": "x" * 9000 * at, "output": "", "session_id": "[s]"} for at in (2, 1)]
    (tmp_path / "agent.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    out = run("lint-prompts", str(tmp_path / "a"), str(tmp_path / "agent.jsonl"))
    assert out.startswith("4 requests, ")
    assert "in 2 groups (1 named as conversations)" in out
    assert "100.0 %  ████████████████ 9,039  ████████████████ 9,039  [s]" in out
    assert run("lint-prompts", str(tmp_path / "a"), "--limit", "1").startswith("1 requests, ")
    assert run("lint-prompts", str(tmp_path / "agent.jsonl"), "--format", "jsonl").startswith("2 requests, ")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text("{\n", encoding="utf-8")
    for words, told in (
        (["absent"], "warmstack: absent cannot be read: No such file or directory\n"),
        (["r.jsonl"], "warmstack: r.jsonl:1: one JSON document over several lines; there must be one object a line"),
        (["r.jsonl", "--format", "capture"], "warmstack: r.jsonl:1: "),
    ):
        done = process("lint-prompts", *words, cwd=tmp_path)
        assert done.returncode == 1
        assert done.stderr.startswith(told)
        assert "Traceback" not in done.stderr
    assert process("lint-prompts", "r.jsonl", "--prefix-length", "10", cwd=tmp_path).returncode == 2


def test_an_empty_file(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").touch()
    assert run("lint-prompts", str(tmp_path / "r.jsonl")).startswith("0 requests, 0 B, in 0 groups; prefix_length 4096")
    assert run.code == 0


def test_secrets_and_control_characters_are_not_printed(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(
        bodies({"user": "\x1b[31m a"}, {"user": "\x1b[31m b"}, system="\x1b]0;x\x07 " + SYSTEM)
    )
    out = run("lint-prompts", str(tmp_path / "r.jsonl"))
    assert "\x1b" not in out
    assert "field before the prompt: user" in " ".join(out.split())


def test_progress_is_told_on_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(bodies(*({"n": number} for number in range(1200)), system="x"))
    terminal, end = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", "from warmstack.cli import main; main()", "lint-prompts", str(path), "--json"],
        stdout=subprocess.PIPE, stderr=end, check=True, timeout=60, env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(end)
    told = os.read(terminal, 100_000).decode()
    os.close(terminal)
    assert json.loads(done.stdout)["requests"] == 1200
    assert "reading" in told or "requests, " in told


def test_the_page_of_conversations(run: Runner, tmp_path: Path) -> None:
    def rows(*sizes: int, sessions: int, start: str = "") -> bytes:
        made = [
            {"timestamp": at, "input": f"{start}{one}" + "x" * size, "output": "", "session_id": f"s{one}"}
            for at, size in enumerate(sizes)
            for one in range(sessions)
        ]
        return "\n".join(map(json.dumps, made)).encode()

    path = tmp_path / "agent.jsonl"
    path.write_bytes(rows(5000, 9000, sessions=12))
    out = run("lint-prompts", str(path))
    assert "prefix_length 4096 is longer than what groups share (S) and no longer than what turns share (D)" in out
    assert "and 2 more groups, with fewer pairs that part" in out
    out = run("lint-prompts", str(path), "--prefix-length", "8192")
    assert "prefix_length 8192 is longer than what turns share (D): they part before it ends" in out
    path.write_bytes(rows(5000, 9000, sessions=1))
    assert "prefix_length 4096 is no longer than what turns share (D)" in run("lint-prompts", str(path))
    path.write_bytes(rows(5000, 9000, sessions=3, start="y" * 5000))
    out = run("lint-prompts", str(path))
    assert "prefix_length 4096 does not tell groups apart (S): they go to the same instance" in out


def test_a_share_that_fails_is_not_shown_as_one_that_would_not(run: Runner, tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    path.write_bytes(bodies({}, {}, {}) + bodies({}).replace(b'{"messages"', b'{ "messages"'))
    run("lint-prompts", str(path), "--fail-under", "0.66667")
    assert run.code == 1
    assert "the stable share is 0.66666" in run.err


def test_the_page_of_odd_requests(run: Runner, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    head = {"warmstack_request": 1, "time": 1.0, "session_id": "s"}
    given = ['{"requestType":"NEW_SESSION"}', "text", "text", "other"]
    path.write_text("\n".join(json.dumps(head | {"body": one}) for one in given), encoding="utf-8")
    out = " ".join(run("lint-prompts", str(path)).split())
    assert "3 requests, 13 B, in 1 group (1 named as conversations); 1 without a prompt left out; prefix_length" in out
    assert "not JSON 3 requests without a canonical form" in out
    assert "under 1,024 bytes 3 " in out
