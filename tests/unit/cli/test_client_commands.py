"""`warmstack chat`, `invoke` and `client-config`, as processes against the local endpoint."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.unit.local.definitions import component, endpoint, model, session_endpoint, variant
from tests.unit.local.running import Local, running
from warmstack.local.simulated import Latency

LMI = model(server="lmi", image="lmi:1", environment={"OPTION_ENABLE_PROMPT_TOKENS_DETAILS": "true"})
PROGRAM = [sys.executable, "-c", "from warmstack.cli import main; main()"]
OUTPUTS = {
    "EndpointName": "parts",
    "Dialect": "vllm",
    "SessionSeconds": "0",
    "Componentchat1": '{"name":"chat","physical_name":"parts-chat","dialect":"vllm"}',
}


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    parts = endpoint("parts", components=(component("parts-chat"), component("parts-chat-legal", base="parts-chat")))
    lmi = endpoint("lmi", variants=(variant(model=LMI),))
    with running(session_endpoint(), lmi, parts, folder=tmp_path_factory.mktemp("local")) as local:
        yield local


def environment() -> dict[str, str]:
    """An environment without anything of AWS: --local needs none."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return kept | {
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    }


def run(local: Local | None, *words: str, said: str | bytes = b"") -> subprocess.CompletedProcess[str]:
    address = [] if local is None else ["--local", "--port", local.url.rpartition(":")[2]]
    command, *rest = words
    done = subprocess.run(
        [*PROGRAM, command, *rest, *address],
        input=said.encode() if isinstance(said, str) else said,
        env=environment(),
        capture_output=True,
        check=False,
        timeout=60,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_a_message_is_answered(local: Local) -> None:
    done = run(local, "invoke", "demo", "Hello", "--max-tokens", "4")
    assert (done.returncode, len(done.stdout.split())) == (0, 4), done.stderr
    assert run(local, "invoke", "demo", "-", "--max-tokens", "4", said="Hello").stdout == done.stdout
    assert run(local, "invoke", "demo", "Hello", "--max-tokens", "4", "--stream").stdout == done.stdout
    assert "--max-tokens sets them" in done.stderr


def test_an_answer_is_json_for_scripts(local: Local) -> None:
    document = json.loads(run(local, "invoke", "lmi", "Hello", "--max-tokens", "4", "--json").stdout)
    assert document["finish_reason"] == "length"
    assert document["usage"] == {"prompt_tokens": 12, "completion_tokens": 4, "cached_tokens": 0}
    assert document["call"]["variant"] == "primary"


def test_a_prompt_is_continued_from_a_file(local: Local, tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text("def add(a, b):", encoding="utf-8")
    from_file = run(local, "invoke", "demo", "--prompt", f"@{tmp_path}/prompt.txt", "--max-tokens", "3").stdout
    assert from_file == run(local, "invoke", "demo", "--prompt", "def add(a, b):", "--max-tokens", "3").stdout


def test_a_body_goes_out_and_its_answer_comes_back(local: Local, tmp_path: Path) -> None:
    body = '{"max_tokens": 2, "messages": [{"content": "Grüße", "role": "user"}]}'
    done = run(local, "invoke", "demo", "--body", "-", said=body)
    assert json.loads(done.stdout)["object"] == "chat.completion"
    opened = run(
        local, "invoke", "demo", "--body", "-", "--session-id", "NEW_SESSION", said='{"requestType": "NEW_SESSION"}'
    )
    session = re.search(r"new-session-id: ([^;]+);", opened.stderr)
    assert session is not None
    closed = run(local, "invoke", "demo", "--body", "-", "--session-id", session[1], said='{"requestType": "CLOSE"}')
    assert f"closed-session-id: {session[1]}" in closed.stderr


def test_components_and_adapters_go_by_their_names_in_the_spec(local: Local, tmp_path: Path) -> None:
    path = tmp_path / "cdk-outputs.json"
    path.write_text(json.dumps({"stack": OUTPUTS}), encoding="utf-8")
    base = run(local, "invoke", str(path), "Hello", "--max-tokens", "6")
    adapter = run(local, "invoke", str(path), "Hello", "--max-tokens", "6", "--adapter", "legal")
    assert (base.returncode, adapter.returncode) == (0, 0), base.stderr + adapter.stderr
    assert base.stdout != adapter.stdout
    assert (
        run(local, "invoke", "parts", "Hello", "--max-tokens", "6", "--component", "parts-chat").stdout == base.stdout
    )
    assert "did you mean 'chat'" in run(local, "invoke", str(path), "Hello", "--component", "chta").stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["invoke", "demo"], "one of MESSAGE, --prompt and --body; none is given"),
        (["invoke", "demo", "a", "--prompt", "b"], "message and prompt are given"),
        (["invoke", "demo", "--body", "-", "--stream"], "a body is the whole request"),
        (["invoke", "demo", "-", "--system", "@-"], "MESSAGE and --system both read standard input"),
        (["invoke", "demo", "a", "--verbatim"], "--verbatim is for the bytes of a --body"),
        (["invoke", "demo", "a", "--session-id", "s"], "--session-id goes with a --body"),
        (["invoke", "demo", "@/nowhere/at.txt"], "MESSAGE: /nowhere/at.txt cannot be read"),
        (["invoke", "demo", "--body", "/nowhere/at.json"], "--body: /nowhere/at.json cannot be read"),
        (["invoke", "demo", "a", "--adapter", "legal"], "'demo' is an endpoint's name, and --stack and --adapter need"),
        (["invoke", "nobody", "a"], "there is no such endpoint"),
        (["invoke", "nobody.json", "a"], "nobody.json cannot be read"),
        (["invoke", "demo", "a", "--prefix-aware-id", " x"], "prefix_aware_id is ' x'; it must be 1 to 64"),
        (["chat"], "no endpoint is named"),
        (["chat", "demo", "--ttl", "-3"], "ttl is -3"),
        (["client-config", "demo", "--for", "litelm"], "did you mean litellm?"),
    ],
)
def test_what_cannot_be_done_is_one_message(local: Local, words: list[str], problem: str) -> None:
    done = run(local, *words)
    assert done.returncode == 1
    assert problem in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("said", [b"\xff\xfe", b"nothing", b"[1]", b'{"messages": [NaN]}', b"[" * 50_000])
def test_a_body_that_is_none_is_one_message(local: Local, said: bytes) -> None:
    done = run(local, "invoke", "demo", "--body", "-", said=said)
    assert done.returncode == 1
    assert re.search("no UTF-8|no JSON|NaN", done.stderr), done.stderr
    assert "Traceback" not in done.stderr


def test_a_failure_is_json_for_scripts(local: Local) -> None:
    done = run(local, "invoke", "nobody", "a", "--json")
    error = json.loads(done.stdout)["error"]
    assert done.returncode == 1
    assert (error["kind"], error["status"], error["retryable"]) == ("EndpointNotFound", 400, False)


def test_without_credentials_the_way_out_is_told() -> None:
    done = run(None, "invoke", "demo", "a", "--region", "us-west-2", "--endpoint-url", "http://127.0.0.1:9")
    assert done.returncode == 1
    assert "credentials" in done.stderr
    assert "Region" in run(None, "invoke", "demo", "a").stderr or "region" in run(None, "invoke", "demo", "a").stderr


def test_lines_of_a_pipe_are_turns_of_a_session(local: Local) -> None:
    done = run(
        local,
        "chat",
        "demo",
        "--max-tokens",
        "3",
        said="Hello\n\n/help\nWhat else?\n/reset\nHello\n/nothing\n//hi\n/quit\nno\n",
    )
    assert done.returncode == 0, done.stderr
    answers = done.stdout.splitlines()
    assert len(answers) == 4
    assert answers[0] == answers[2] != answers[1], "after a reset the conversation is a new one"
    assert re.search(r"session [0-9a-f-]{36}", done.stderr)
    assert re.search(r"turn 1: TTFT [0-9.]+ s; .* prompt tokens", done.stderr)
    assert "there is no /nothing" in done.stderr
    assert "4 turns, 1 session opened" in done.stderr
    assert local.platform.endpoints["demo"].sessions.live(now_seconds=local.clock()) == ()


def test_a_chat_shows_what_was_cached(local: Local) -> None:
    done = run(local, "chat", "lmi", "--system", "Be brief. " * 200, "--max-tokens", "2", "--json", said="a\nb\n")
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert (first["turn"], second["turn"]) == (1, 2)
    assert first["call"]["session_id"] == second["call"]["session_id"] is not None
    assert second["usage"]["cached_tokens"] > 400
    assert second["call"]["ttft_seconds"] > 0


def test_a_chat_without_sessions_says_so(local: Local) -> None:
    done = run(local, "chat", "parts", "--component", "parts-chat", "--max-tokens", "2", "--no-session", said="a\n")
    assert "no session: routing chooses the instance of each turn" in done.stderr
    assert "1 turn, 0 sessions opened" in done.stderr


def test_a_turn_that_fails_ends_the_chat_with_status_1(local: Local) -> None:
    done = run(local, "chat", "nobody", "--no-session", "--json", said="a\n")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["kind"] == "EndpointNotFound"


@pytest.mark.parametrize("place", [[], ["--component", "parts-chat"]], ids=["endpoint", "component"])
def test_settings_of_other_clients_are_ready(local: Local, place: list[str]) -> None:
    name = "parts" if place else "demo"
    found = {one["client"]: one for one in json.loads(run(local, "client-config", name, *place, "--json").stdout)}
    assert [one["client"] for one in found.values() if one["volatile_first"]] == ["litellm-text"]
    parameters = yaml.safe_load(found["litellm"]["settings"])["model_list"][0]["litellm_params"]
    assert parameters["model"] == f"sagemaker_chat/{name}"
    assert parameters.get("model_id") == (place[1] if place else None)
    for one in found.values():
        if one["form"] == "python":
            compile(one["settings"], one["client"], "exec")
            assert name in one["settings"]
            assert bool(place) is ("parts-chat" in one["settings"])
    base = found["langchain"]["settings"]
    assert "token_source()" in base


@pytest.mark.parametrize("client", ["openai", "boto3"])
def test_settings_that_need_no_other_package_work(local: Local, client: str) -> None:
    (found,) = json.loads(run(local, "client-config", "demo", "--for", client, "--json").stdout)
    keys = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
    done = subprocess.run(
        [sys.executable, "-c", found["settings"]],
        env=environment() | keys,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_settings_say_what_comes_first(local: Local) -> None:
    done = run(local, "client-config", "demo")
    assert "# litellm-text (/invocations): VARIES FROM THE FIRST BYTES ON" in done.stdout
    assert "# openai (OpenAI path): the prompt comes first" in done.stdout


def test_ctrl_c_stops_an_answer_and_then_the_chat(tmp_path: Path) -> None:
    with running(session_endpoint(), folder=tmp_path, latency=Latency(decode_seconds_per_token=0.05)) as local:
        port = local.url.rpartition(":")[2]
        child, terminal = pty.fork()
        if child == 0:
            os.environ.clear()
            os.environ.update(environment() | {"TERM": "dumb"})
            # So long that whoever stops it need not be quick.
            os.execv(sys.executable, [*PROGRAM, "chat", "demo", "--local", "--port", port, "--max-tokens", "10000"])
        try:
            until(terminal, "> ")
            os.write(terminal, b"Hello\n")
            until(terminal, r"\n[a-z]+ [a-z]+ [a-z]+")
            os.write(terminal, b"\x03")
            until(
                terminal, "stopped; the conversation is as it was(.|\n)*> "
            )  # a prompt that is not there yet loses Ctrl-D
            os.write(terminal, b"\x04")
            until(terminal, "0 turns, 1 session opened")
            _, status = os.waitpid(child, 0)
            child = 0
            assert os.waitstatus_to_exitcode(status) == 0
        finally:
            os.close(terminal)
            if child:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        assert local.platform.endpoints["demo"].sessions.live(now_seconds=local.clock()) == ()


def test_ctrl_c_stops_an_answer_of_which_nothing_has_come(tmp_path: Path) -> None:
    with running(session_endpoint(), folder=tmp_path, latency=Latency(prefill_seconds_per_token=1.0)) as local:
        port = local.url.rpartition(":")[2]
        child, terminal = pty.fork()
        if child == 0:
            os.environ.clear()
            os.environ.update(environment() | {"TERM": "dumb"})
            os.execv(sys.executable, [*PROGRAM, "chat", "demo", "--local", "--port", port])
        try:
            until(terminal, "> ")
            os.write(terminal, b"Hello\n")
            copies = local.platform.endpoints["demo"].copies.values()
            local.until(lambda: sum(one.in_flight for one in copies) == 1)
            os.write(terminal, b"\x03")
            until(terminal, "stopped; the conversation is as it was(.|\n)*> ")
            os.write(terminal, b"\x04")
            until(terminal, "0 turns, 1 session opened")
        finally:
            os.close(terminal)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_chat_that_is_ended_closes_its_session(local: Local, number: signal.Signals) -> None:
    sessions = local.platform.endpoints["demo"].sessions
    words = [*PROGRAM, "chat", "demo", "--local", "--port", local.url.rpartition(":")[2], "--json"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, env=environment(), **pipes) as child:
        # Only now does it know the session's id: the server has had it for some milliseconds.
        assert child.stderr is not None
        assert b"session " in child.stderr.readline()
        assert len(sessions.live(now_seconds=local.clock())) == 1
        child.send_signal(number)
        out, _ = child.communicate(timeout=30)
    assert child.returncode == (130 if number is signal.SIGINT else 128 + number)
    assert out == b"", "no line that is no JSON"
    assert sessions.live(now_seconds=local.clock()) == ()


def test_a_line_that_is_no_text_is_a_turn_that_fails(local: Local) -> None:
    done = run(local, "chat", "demo", "--max-tokens", "2", "--json", said=b"Hello\n\xff\xfe\nAnd you?\n")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one.get("turn") or one["error"]["kind"] for one in lines] == [1, "PayloadError", 2]
    assert done.returncode == 1


def test_a_body_that_is_no_json_can_be_sent(local: Local) -> None:
    done = run(local, "invoke", "demo", "--body", "-", "--verbatim", said=b"\xff\x00")
    assert "JSON decode error" in done.stderr, "the container's own words"


def test_standard_input_that_is_closed_is_empty(local: Local) -> None:
    words = f"exec {shlex.join(PROGRAM)} chat demo --local --port {local.url.rpartition(':')[2]} <&-"
    done = subprocess.run(["sh", "-c", words], env=environment(), capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, b""), done.stderr


def test_a_file_of_outputs_may_have_any_name(local: Local, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "outputs").write_text(json.dumps({"stack": OUTPUTS}), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    assert run(local, "invoke", "outputs", "Hello", "--max-tokens", "2").returncode == 0


def test_where_no_local_endpoint_runs_the_way_out_is_told() -> None:
    done = run(None, "chat", "demo", "--local", "--port", "9")
    assert "no local endpoint answers on port 9; start one: warmstack local up FILE --port 9" in done.stderr


def test_a_region_that_is_none_is_not_the_address_s_fault() -> None:
    done = run(None, "client-config", "demo", "--region", "!x")
    assert "region_name '!x'" in done.stderr
    assert "endpoint_url" not in done.stderr


@pytest.mark.parametrize("name", ["demo", "123", "1e5", "yes", "NULL", "2026-01-01", "off"])
def test_settings_in_yaml_hold_texts(name: str) -> None:
    url = 'http://127.0.0.1:9/sagemaker_chat/#a: b "q"'
    words = ["client-config", name, "--component", "no", "--region", "us-west-2", "--endpoint-url", url, "--json"]
    found = {one["client"]: one["settings"] for one in json.loads(run(None, *words).stdout)}
    for client, provider in (("litellm", "sagemaker_chat"), ("litellm-text", "sagemaker")):
        (one,) = yaml.safe_load(found[client])["model_list"]
        assert one == {
            "model_name": name,
            "litellm_params": {
                "model": f"{provider}/{name}",
                "aws_region_name": "us-west-2",
                "model_id": "no",
                "sagemaker_base_url": f"{url}/endpoints/{name}/invocations",
            },
        }


def until(terminal: int, pattern: str) -> None:
    """Read a terminal until it shows something."""
    text, end = "", time.monotonic() + 30
    while not re.search(pattern, text.replace("\r\n", "\n")):
        assert time.monotonic() < end, text
        if select.select([terminal], [], [], 1)[0]:
            text += os.read(terminal, 4096).decode(errors="replace")
