"""``python -m session_server``: read the environment, start the engine and serve until the end."""

from __future__ import annotations

import logging
import os
import sys

import uvloop

from session_server.engine_arguments import engine_arguments
from session_server.engine_process import sglang_command
from session_server.errors import RequestError, SettingsError
from session_server.settings import Settings
from session_server.supervisor import supervise


def main() -> int:
    """Run the server; return its exit status."""
    logging.basicConfig(level=logging.INFO, format="session-server: %(levelname)s: %(message)s", stream=sys.stderr)
    problems: list[str] = []
    arguments: tuple[str, ...] = ()
    settings = None
    try:
        settings = Settings.from_environment(os.environ)
    except SettingsError as error:
        problems += error.problems
    try:
        arguments = engine_arguments(os.environ, port=settings.engine_port if settings else 30000)
    except SettingsError as error:
        problems += error.problems
    if problems or settings is None:
        return _refuse(problems)
    try:
        command = sglang_command(arguments, os.environ, settings.engine_python)
        return uvloop.run(supervise(settings, command))
    except SettingsError as error:
        return _refuse(error.problems)
    except RequestError as error:
        return _refuse([f"WARMSTACK_FORMATTERS is {str(settings.formatters)!r}; {error.message}"])


def _refuse(problems: list[str] | tuple[str, ...]) -> int:
    for problem in problems:
        logging.getLogger("session_server").error("%s", problem)
    return 2


if __name__ == "__main__":
    sys.exit(main())
