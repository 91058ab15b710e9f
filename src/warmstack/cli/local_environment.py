"""The variables that lead the CDK CLI and boto3 to a local AWS, and those that would lead them elsewhere."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from warmstack.local.aws.docker_command import PROGRAM

UNSET = (
    "AWS_ENDPOINT_URL_SAGEMAKER",
    "AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME",
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_SESSION_TOKEN",
    "AWS_SECURITY_TOKEN",
    "AWS_CREDENTIAL_EXPIRATION",
    # Guard: the clients within the CDK CLI refuse either of them beside an address of one's own.
    "AWS_USE_FIPS_ENDPOINT",
    "AWS_USE_DUALSTACK_ENDPOINT",
)
"""What would send some of the requests elsewhere, sign them as somebody, or refuse them."""
HERE = ("localhost", "127.0.0.1")
# Guard: a shell evaluates it, and the system takes any text for a variable's name.
_OF_A_SERVICE = re.compile(r"AWS_ENDPOINT_URL_[A-Z0-9_]+")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")
_NO_PROXY = ("NO_PROXY", "no_proxy")
_DOCKER = "CDK_DOCKER"
_LINE_CHARACTERS = 110


def environment(port: int, region: str, around: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that lead the CDK CLI and boto3 to a local AWS.

    AWS_CONFIG_FILE is left alone: what these variables name goes before what the file says of the address, the keys and
    the Region, and other commands of the same shell need their profiles.

    Args:
        port: The port of the local AWS.
        region: Its Region.
        around: The variables that there are.
    """
    docker = docker_program()
    return {
        # Guard: by an address instead of this name, clients put a bucket's name in front of it.
        "AWS_ENDPOINT_URL": f"http://localhost:{port}",
        # Guard: a configuration file may say true, and then the address of the variable leads nowhere.
        "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "false",
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        # Nothing looks for credentials of a machine in the cloud.
        "AWS_EC2_METADATA_DISABLED": "true",
        **_without_proxy(around),
        # Images are not built: what they would carry is read from their build contexts.
        **({_DOCKER: str(docker)} if docker else {}),
    }


def leading_elsewhere(around: Mapping[str, str]) -> list[str]:
    """Return the names of the variables to unset: those of `UNSET`, and every service's own address that is set.

    Args:
        around: The variables that there are.
    """
    more = sorted(name for name in around if _OF_A_SERVICE.fullmatch(name) and name not in UNSET)
    return [*UNSET, *more]


def shell_lines(variables: Mapping[str, str], around: Mapping[str, str]) -> list[str]:
    """Return what a shell evaluates to have the variables, and none that leads elsewhere.

    Args:
        variables: What is to be set.
        around: The variables that there are.
    """
    exported = (f"export {name}={shlex.quote(value)}" for name, value in variables.items())
    return [*_unsetting(leading_elsewhere(around)), *exported]


def lines_back(around: Mapping[str, str]) -> list[str]:
    """Return what a shell evaluates to have none of the variables any more, whether a local AWS runs or not.

    Args:
        around: The variables that there are.
    """
    kept = set()
    if Path(around.get(_DOCKER, PROGRAM)).name != PROGRAM:
        # Somebody's own program in Docker's place.
        kept.add(_DOCKER)
    ours = ",".join(HERE)
    # What names more machines than this one was there before.
    proxies = [name for name in _NO_PROXY if around.get(name) == ours]
    names = [name for name in (*environment(0, "", {}), _DOCKER, *proxies) if name not in kept]
    return _unsetting(list(dict.fromkeys(names)))


def _unsetting(names: Sequence[str]) -> list[str]:
    lines = ["unset"]
    for name in names:
        if len(lines[-1]) + 1 + len(name) > _LINE_CHARACTERS:
            lines.append("unset")
        lines[-1] += f" {name}"
    return lines


def docker_program() -> Path | None:
    """Return the program that takes build contexts in Docker's place, where it is installed beside this one."""
    beside = Path(sys.executable).parent / PROGRAM
    found = str(beside) if beside.is_file() else shutil.which(PROGRAM)
    return Path(found) if found else None


def _without_proxy(around: Mapping[str, str]) -> dict[str, str]:
    """Return what keeps a proxy away from this machine's own address: a proxy is another machine, and has its own."""
    if not any(around.get(name) or around.get(name.upper()) for name in _PROXIES):
        return {}
    # As Python, curl and Node.js read them: the name in small letters goes first.
    given = [one.strip() for one in (around.get("no_proxy") or around.get("NO_PROXY") or "").split(",")]
    kept = [one for one in given if one]
    value = ",".join([*kept, *(one for one in HERE if "*" not in kept and one not in kept)])
    return dict.fromkeys(_NO_PROXY, value)
