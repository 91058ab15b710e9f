"""``warmstack-local-docker``: what ``CDK_DOCKER`` names, so that `cdk deploy` to a local AWS builds and pushes nothing.

Copies on this machine do not start from images. What an image would carry (formatters, LMCache's settings, a chat
template) is in its build context, and the CDK CLI calls this program with it where it would call Docker.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

from warmstack.errors import WarmstackError
from warmstack.local.aws.build_contexts import BuildContexts
from warmstack.local.errors import LocalError
from warmstack.local.instances import run_folder, running_on, state_folder

PROGRAM = "warmstack-local-docker"
_WAY_OUT = "`unset CDK_DOCKER` to build with Docker"
_LOOPBACK = frozenset({"localhost", "127.0.0.1"})


def main() -> None:
    """Answer one call of the CDK CLI, and end the process with its status."""
    sys.exit(answer(sys.argv[1:], os.environ))


def answer(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Answer one call of the CDK CLI.

    Args:
        arguments: As Docker gets them.
        environment: Names the local AWS (``AWS_ENDPOINT_URL``).

    Returns:
        The exit status.
    """
    try:
        # Where the user has credentials for registries, the CLI names a folder with them before each command.
        given = arguments[2:] if arguments[:1] == ["--config"] else arguments
        command, *others = given or [""]
        contexts = BuildContexts(_run(environment))
        if command == "inspect":
            # Another status would tell the CLI that something is wrong, and not that it has to build.
            return 0 if contexts.has(others[-1] if others else "") else 1
        _do(command, others, contexts)
    except WarmstackError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return 2
    return 0


def _do(command: str, arguments: Sequence[str], contexts: BuildContexts) -> None:
    if command == "login":
        # Guard: whoever writes the password to a pipe that nobody reads gets an error.
        sys.stdin.read()
    elif command == "build":
        name = _option(arguments, "--tag")
        if not name:
            raise LocalError("build: it has no --tag, by which the CDK CLI names what it builds")
        file = _option(arguments, "--file") or "Dockerfile"
        folder = Path(arguments[-1])
        contexts.take(name, folder, file)
        print(f"{PROGRAM}: {name} is not built; copies read the files that it would carry from {folder.resolve()}")
    elif command == "tag":
        name, image = [*arguments, "", ""][:2]
        contexts.publish(name, image.rpartition("/")[2].rpartition(":")[2])
    elif command != "push":
        raise LocalError(
            f"{command or 'nothing'}: it takes what `cdk deploy` asks of Docker (login, inspect, build, tag, push), "
            f"and runs nothing; {_WAY_OUT}"
        )


def _option(arguments: Sequence[str], name: str) -> str:
    return next((value for option, value in pairwise(arguments) if option == name), "")


def _run(environment: Mapping[str, str]) -> Path:
    """Return the folder of the local AWS that is deployed to."""
    url = environment.get("AWS_ENDPOINT_URL", "")
    if others := _leading_elsewhere(environment, url):
        raise LocalError(f"it is for deploys to `warmstack local aws`, and {others}; {_WAY_OUT}")
    try:
        parts = urlsplit(url)
        port = parts.port if parts.hostname in _LOOPBACK else None
    except ValueError:
        port = None
    if port is None:
        # Guard: a Model on AWS would name an image that nobody has built.
        where = f"AWS_ENDPOINT_URL is {url}" if url else "AWS_ENDPOINT_URL is not set"
        raise LocalError(f"it is for deploys to `warmstack local aws`, and {where}; {_WAY_OUT}")
    state = state_folder(environment)
    running = running_on(state, port)
    if running is None:
        raise LocalError(
            f"no local AWS of this user runs on port {port} ({state} names none); `warmstack local aws up` starts one, "
            f"else {_WAY_OUT}"
        )
    return run_folder(state, port, running.pid)


def _leading_elsewhere(environment: Mapping[str, str], url: str) -> str:
    """Return what sends some requests of the CLI to another place than ``AWS_ENDPOINT_URL``, or nothing.

    Guard: a Model on AWS would name an image that nobody has built.
    """
    name = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"
    if (value := environment.get(name, "")).lower() != "false":
        # Without it a configuration file may take AWS_ENDPOINT_URL away.
        return f"{name} is {value or 'not set'}, and not false, as `warmstack local aws env` sets it"
    addresses = {key: value for key, value in environment.items() if key.startswith("AWS_ENDPOINT_URL_") and value}
    return next((f"{key} is {value}" for key, value in sorted(addresses.items()) if value.rstrip("/") != url), "")
