"""The environment: what it means, and what is wrong with it, all in one message."""

from __future__ import annotations

from pathlib import Path

import pytest

from session_server.engine_arguments import engine_arguments
from session_server.engine_process import exit_description, exit_status, sglang_command
from session_server.errors import SettingsError
from session_server.settings import Settings


def test_the_defaults() -> None:
    settings = Settings.from_environment({})
    assert (settings.host, settings.port, settings.engine_port) == ("0.0.0.0", 8080, 30000)
    assert (settings.sessions_enabled, settings.sessions_expiration_seconds) == (False, 1200)
    assert settings.max_body_bytes == 26_214_400
    assert settings.max_concurrent_requests == 1000
    assert (settings.max_arriving_bytes, settings.body_seconds) == (1_073_741_824, 30)
    assert settings.adapter_roots == (Path("/opt/ml/models"), Path("/opt/ml/model"))
    assert settings.drain_seconds == 25


@pytest.mark.parametrize(("text", "on"), [("true", True), ("True", True), ("1", True), ("false", False), ("", False)])
def test_sessions_are_switched_on_in_the_platforms_words(text: str, on: bool) -> None:
    assert Settings.from_environment({"SAGEMAKER_ENABLE_STATEFUL_SESSIONS": text}).sessions_enabled is on


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("SAGEMAKER_ENABLE_STATEFUL_SESSIONS", "yes", "true or false"),
        ("SAGEMAKER_SESSIONS_EXPIRATION", "0", "a whole number from 1 to 31536000"),
        ("SAGEMAKER_SESSIONS_EXPIRATION", "20m", "a whole number"),
        ("SAGEMAKER_SESSIONS_EXPIRATION", "²", "a whole number"),
        ("WARMSTACK_MAX_BODY_BYTES", "-1", "a whole number"),
        ("WARMSTACK_MAX_CONCURRENT_REQUESTS", "0", "a whole number from 1"),
        ("WARMSTACK_MAX_ARRIVING_BYTES", "1k", "a whole number from 1"),
        ("WARMSTACK_BODY_SECONDS", "0", "a number from 0.1 to 3600"),
        ("WARMSTACK_DRAIN_SECONDS", "26", "a number from 0 to 25"),
        ("WARMSTACK_DRAIN_SECONDS", "nan", "a number from 0 to 25"),
        ("WARMSTACK_DRAIN_SECONDS", "soon", "a number from 0 to 25"),
        ("WARMSTACK_ENGINE_PORT", "65536", "a whole number from 1 to 65535"),
        ("WARMSTACK_ENGINE_PYTHON", "/no/python", "can be executed"),
        ("WARMSTACK_ADAPTER_ROOTS", "models", "absolute folders other than the root"),
        ("WARMSTACK_ADAPTER_ROOTS", "/opt/a::/opt/b", "absolute folders"),
        ("WARMSTACK_ADAPTER_ROOTS", "/", "other than the root"),
        ("WARMSTACK_FORMATTERS", "/no/formatters.py", "a Python file that exists"),
    ],
)
def test_a_bad_value_names_variable_value_and_rule(name: str, value: str, rule: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment({name: value})
    (problem,) = caught.value.problems
    assert problem.startswith(f"{name} is {value!r}; it must be ")
    assert rule in problem


def test_every_problem_is_told_at_once() -> None:
    environment = {"SAGEMAKER_SESSIONS_EXPIRATION": "x", "WARMSTACK_PORT": "30000", "WARMSTACK_STALL_SECONDS": "x"}
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment(environment)
    assert len(caught.value.problems) == 3


def test_the_engines_arguments_follow_the_stock_images_rules() -> None:
    environment = {
        "SM_SGLANG_TP_SIZE": "4",
        "SM_SGLANG_ENABLE_LORA": "TRUE",
        "SM_SGLANG_DISABLE_RADIX_CACHE": "False",
        "SM_SGLANG_ENABLE_METRICS": "",
        "SM_SGLANG_JSON_MODEL_OVERRIDE_ARGS": '{"a": "b c"}',
        "SM_SGLANG_ENGINE": "llm",
        "SM_SGLANG_HOST": "0.0.0.0",
        "SM_SGLANG_PORT": "8080",
        "SM_SGLANG_host": "1.2.3.4",
        "SM_VLLM_TP_SIZE": "2",
        "HF_TOKEN": "hf_secret",
    }
    arguments = engine_arguments(environment, port=31000)
    assert arguments == (
        "--enable-lora",
        "--enable-metrics",
        "--json-model-override-args",
        '{"a": "b c"}',
        "--tp-size",
        "4",
        "--model-path",
        "/opt/ml/model",
        "--host",
        "127.0.0.1",
        "--port",
        "31000",
    )
    assert engine_arguments(dict(reversed(environment.items())), port=31000) == arguments


def test_a_model_path_of_the_environment_is_the_only_one() -> None:
    arguments = engine_arguments({"SM_SGLANG_MODEL_PATH": "/opt/ml/model/sub"}, port=1)
    assert arguments == ("--model-path", "/opt/ml/model/sub", "--host", "127.0.0.1", "--port", "1")


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("SM_SGLANG_API_KEY", "hunter2", "a secret on the engine's command line"),
        ("SM_SGLANG_ADMIN_API_KEY", "hunter2", "a secret on the engine's command line"),
        ("SM_SGLANG_SSL_KEYFILE", "/hunter2", "plain HTTP on the loopback"),
        ("SM_SGLANG_ENGINE", "diffusion", "use llm, or the stock image"),
        ("SM_SGLANG_", "hunter2", "no name after the prefix"),
    ],
)
def test_what_the_engine_must_not_get_stops_the_start(name: str, value: str, says: str) -> None:
    with pytest.raises(SettingsError) as caught:
        engine_arguments({name: value}, port=1)
    assert says in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_the_engine_runs_outside_this_servers_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, other = tmp_path / "ours", tmp_path / "other"
    for folder in (ours, other):
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python3").write_text("#!/bin/sh\n", encoding="utf-8")
        (folder / "bin" / "python3").chmod(0o755)
    monkeypatch.setattr("sys.prefix", str(ours))
    path = f"{ours}/bin:{other}/bin"
    environment = {"PATH": path, "VIRTUAL_ENV": str(ours), "HF_TOKEN": "hf_secret"}
    command = sglang_command(("--x",), environment, None)
    assert command.arguments == (f"{other}/bin/python3", "-m", "sglang.launch_server", "--x")
    assert command.environment == {"PATH": f"{other}/bin", "HF_TOKEN": "hf_secret"}
    with pytest.raises(SettingsError, match="WARMSTACK_ENGINE_PYTHON"):
        sglang_command((), {"PATH": f"{ours}/bin"}, None)
    assert sglang_command((), environment, "/opt/python").arguments[0] == "/opt/python"


@pytest.mark.parametrize(
    ("returncode", "description", "status"),
    [(0, "status 0", 1), (17, "status 17", 17), (-9, "signal SIGKILL", 137), (-77, "signal 77", 205)],
)
def test_how_an_engine_ended(returncode: int, description: str, status: int) -> None:
    assert (exit_description(returncode), exit_status(returncode)) == (description, status)
