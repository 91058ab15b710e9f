"""SM_SGLANG_* variables → the engine's argument list, by the rules of the stock image.

The rules are those of the SGLang image's own entrypoint (aws/deep-learning-containers, read 2026-11-30): ``true`` is a
bare flag, ``false`` is left out, an empty value is a bare flag, anything else is one token. Unlike there, the list is
sorted, so that the same environment always starts the same engine, and a value may hold a line break.
"""

from __future__ import annotations

from collections.abc import Mapping

from session_server.errors import SettingsError

PREFIX = "SM_SGLANG_"
DEFAULT_MODEL_PATH = "/opt/ml/model"
OURS = frozenset({"engine", "host", "port"})
SECRET = frozenset({"api-key", "admin-api-key", "ssl-keyfile-password"})


def engine_arguments(environment: Mapping[str, str], *, port: int) -> tuple[str, ...]:
    """Return what follows ``python3 -m sglang.launch_server``.

    Args:
        environment: The process's environment.
        port: The engine's port on the loopback.

    Raises:
        SettingsError: For what would put a secret on a command line, or starts an engine that this server cannot front.
    """
    arguments: list[str] = []
    problems: list[str] = []
    names: set[str] = set()
    for variable in sorted(name for name in environment if name.startswith(PREFIX)):
        name, value = variable[len(PREFIX) :].lower().replace("_", "-"), environment[variable]
        if problem := _problem(variable, name, value):
            problems.append(problem)
        if name in OURS or value.lower() == "false":
            continue
        names.add(name)
        arguments.append(f"--{name}")
        if value and value.lower() != "true":
            arguments.append(value)
    if problems:
        raise SettingsError(problems)
    if "model-path" not in names:
        arguments += ["--model-path", DEFAULT_MODEL_PATH]
    # The engine is behind this server: its own host and port would open it to the network, or move it away from here.
    return (*arguments, "--host", "127.0.0.1", "--port", str(port))


def _problem(variable: str, name: str, value: str) -> str | None:
    # Guard: the value of a secret is never repeated, not even in the message that refuses it.
    if name in SECRET:
        return (
            f"{variable} is set; it would put a secret on the engine's command line. The engine listens on the "
            "loopback only and needs none: remove the variable"
        )
    if name.startswith("ssl-"):
        return f"{variable} is set; the engine is reached over plain HTTP on the loopback: remove the variable"
    if name == "engine" and value.lower() not in ("", "llm"):
        return f"{variable} is {value!r}; the session server serves language models only: use llm, or the stock image"
    if not name:
        return f"{variable} has no name after the prefix; write {PREFIX}<FLAG>"
    return None
