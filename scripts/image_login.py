"""Log Docker in to the registries that a spec's images are built on, for `make image-login`.

The password goes from one program's output to the other's input: it is on no command line and is not printed.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from warmstack.cli.load import plan_file
from warmstack.plan import Plan
from warmstack.spec import PUBLIC_REGISTRY, printable
from warmstack.spec import render as render_messages

WAIT_SECONDS = 60
AWS_CLI = "https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html"


class LoginError(Exception):
    """Docker cannot be logged in; the message says why, and the way out."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Log in to every registry of the spec; return the exit status."""
    parser = argparse.ArgumentParser(prog="image_login", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("spec", nargs="?", default="", help="the spec whose images are built")
    spec = str(parser.parse_args(arguments).spec)
    docker = os.environ.get("DOCKER") or "docker"
    try:
        hosts = registries(spec)
        for host in hosts:
            log_in(host, docker)
            print(f"image-login: {docker} is logged in to {host}, for 12 hours", flush=True)
        if not hosts:
            print(f"image-login: the images of {printable(spec)} are built on public ones, which need no login")
    except LoginError as error:
        print(f"image-login: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def registries(spec: str) -> list[str]:
    """Return the hosts of the private registries that the spec's images are built on, sorted.

    Args:
        spec: the path of the spec.

    Raises:
        LoginError: there are none to log in to.
    """
    if not spec:
        raise LoginError("name the spec: make image-login SPEC=specs/x.yaml")
    outcome = plan_file(Path(spec))
    if outcome.plan is None:
        raise LoginError(f"{printable(spec)} has no plan:\n{render_messages(outcome.errors, outcome.lines).rstrip()}")
    if not outcome.plan.images:
        raise LoginError(f"image.build of {printable(spec)} is none: the stock image is used, and nothing is built")
    return sorted(set(_hosts(outcome.plan, spec)))


def _hosts(plan: Plan, spec: str) -> list[str]:
    hosts: list[str] = []
    for image in plan.images:
        if image.base_uri is None:
            raise LoginError(
                f"{printable(spec)} names no Region, and each has a registry of its own; add the line\n"
                '  target: {account: "111122223333", region: us-west-2}\n'
                "with your account and Region"
            )
        if not image.base_uri.startswith(PUBLIC_REGISTRY):
            hosts.append(image.base_uri.partition("/")[0])
    return hosts


def log_in(host: str, docker: str) -> None:
    """Log in to one registry.

    Args:
        host: the registry: ``<account>.dkr.ecr.<region>.<domain>``.
        docker: the program.

    Raises:
        LoginError: a program is missing or refuses.
    """
    if shutil.which(docker) is None:
        raise LoginError(f"{docker} is not on PATH; install it, or name another program: DOCKER=podman, DOCKER=finch")
    if shutil.which("aws") is None:
        raise LoginError(f"the AWS CLI is not on PATH; install version 2 ({AWS_CLI}), then `aws configure sso` or keys")
    region = host.split(".")[3]
    password = _run(["aws", "ecr", "get-login-password", "--region", region], "", way_out="look at your credentials")
    _run(
        [docker, "login", "--username", "AWS", "--password-stdin", host],
        password,
        way_out=f"is {docker} running, and may this account pull from {host}?",
    )


def _run(command: Sequence[str], text: str, *, way_out: str) -> str:
    """Run a program and return what it prints.

    Guard: its output may be the password, so that only what a failed program says on stderr is ever shown.
    """
    shown = " ".join(command[:3] if command[0] == "aws" else command[:2])
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=WAIT_SECONDS)
    except subprocess.TimeoutExpired:
        raise LoginError(f"{shown} gave no answer for {WAIT_SECONDS} s; {way_out}") from None
    if done.returncode != 0:
        said = " ".join(done.stderr.split()) or f"exit status {done.returncode}"
        secret = text.strip()
        raise LoginError(f"{shown} failed: {said.replace(secret, '***') if secret else said}; {way_out}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
