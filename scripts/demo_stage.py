"""The local AWS that the demo deploys to: started, and ended whatever ends the demo; and the commands that it runs."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from rich.console import Console

from cloud_assembly import ROOT

BIN = ROOT / ".venv" / "bin"
SHOWN_BIN = BIN.relative_to(ROOT)
DOWN_SECONDS = 120
END_SECONDS = 15
LOOK_SECONDS = 0.1


class DemoError(Exception):
    """A step failed: which one, and how to go on."""


class EndedError(BaseException):
    """A signal asks for the end, as Ctrl-C does; not an ``Exception``, so that nothing takes it for a failure.

    Args:
        number: The signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def status(self) -> int:
        """The exit status of what a signal has ended."""
        return 128 + self.number


class Signals:
    """Ctrl-C, a polite kill and a closed terminal, each raised where it can be: held back, it is only noted."""

    def __init__(self) -> None:
        self.noted: list[int] = []
        self._held = False

    def install(self) -> None:
        """Take the signals over, but for those that are to be ignored, as under nohup."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._take)

    def hold(self) -> None:
        """Only note signals from now on."""
        self._held = True

    def release(self) -> None:
        """Raise signals from now on.

        Raises:
            EndedError: One was noted.
        """
        if self.noted:
            raise EndedError(self.noted[0])
        self._held = False

    def _take(self, number: int, _: FrameType | None) -> None:
        self.noted.append(number)
        # One is enough: what ends because of the first must not be interrupted by the next.
        if not self._held:
            self._held = True
            raise EndedError(number)


def leave_only_what_is_here(environment: MutableMapping[str, str]) -> None:
    """Take away what would lead a part of the demo to AWS, or somewhere else.

    Args:
        environment: The variables, which are changed.
    """
    from warmstack.cli.local_environment import leading_elsewhere

    for name in leading_elsewhere(environment):
        environment.pop(name, None)
    # The demo needs no profile: a file that is broken, or a profile with other settings, has no say in it.
    environment["AWS_CONFIG_FILE"] = environment["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull


def refuse_a_port_in_use(port: int, stack: str, again: str) -> None:
    """Refuse a port on which something is.

    Args:
        port: The port.
        stack: The demo's stack, by which an earlier demo is known.
        again: What runs the demo as it was run, without the port.

    Raises:
        DemoError: What is there, and how to go on.
    """
    from warmstack.cli.local_services import services_at
    from warmstack.local.remote import ask

    url = f"http://127.0.0.1:{port}"
    other = f"or take another port: {again} PORT={port + 1 if port < 65535 else port - 1}"
    kind = services_at(url).kind
    if kind == "aws":
        stacks = [one["name"] for one in ask(url, "stacks")["stacks"]]
        whose = "of an earlier demo (KEEP=1 leaves it running)" if stack in stacks else "that the demo did not start"
        raise DemoError(f"on port {port} runs a local AWS {whose}; end it: {down_command(port)}; {other}")
    if kind == "endpoint":
        ended = f"{SHOWN_BIN}/warmstack local down --port {port}"
        raise DemoError(f"on port {port} runs a local endpoint; end it: {ended}; {other}")
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        raise DemoError(
            f"port {port} cannot be used ({os.strerror(error.errno or 0)}); end the program that uses it, {other}"
        ) from error


@contextmanager
def local_aws(
    options: tuple[str, ...], port: int, console: Console, signals: Signals, *, keep: bool
) -> Iterator[dict[str, str]]:
    """Serve a local AWS for as long as the demo takes, and give its variables.

    Args:
        options: Of `warmstack local aws up`.
        port: The port.
        console: What is shown.
        signals: Held back while it starts and ends: nobody would know what to end then.
        keep: Whether it is left running when all went well.

    Raises:
        DemoError: It did not start, or could not be stopped.
        EndedError: A signal came.
    """
    signals.hold()
    command: tuple[str | Path, ...] = (
        BIN / "warmstack",
        "local",
        "aws",
        "up",
        *options,
        "--port",
        str(port),
        "--detach",
    )
    process = _start(console, command)
    told = False
    while True:
        with suppress(subprocess.TimeoutExpired):
            status = process.wait(LOOK_SECONDS)
            break
        if signals.noted and not told:
            told = True
            # It ends what it has started in the background, and waits for that end.
            process.terminate()
    if status < 0:
        # Ended by a signal itself: before it has started anything, or when it had told that all is there.
        _stop(port)
    if status != 0:
        signals.release()
        raise DemoError(f"`{shown(command)}` failed with exit status {status}; its messages are above")
    done = False
    try:
        try:
            signals.release()
            yield variables(port)
            done = True
        finally:
            signals.hold()
    finally:
        if not (keep and done):
            _stop(port)
    signals.release()


def variables(port: int) -> dict[str, str]:
    """Return the variables that lead to the local AWS.

    Raises:
        DemoError: It does not say them.
    """
    command = (BIN / "warmstack", "local", "aws", "env", "--port", str(port), "--json")
    done = subprocess.run([str(one) for one in command], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise DemoError(f"`{shown(command)}` failed: {done.stderr.strip()}")
    found: dict[str, str] = json.loads(done.stdout)
    return found


def down_command(port: int) -> str:
    """Return what ends the local AWS on a port, as a user of the clone can type it."""
    return f"{SHOWN_BIN}/warmstack local aws down --port {port}"


def shown(command: tuple[str | Path, ...]) -> str:
    """Return a command as it is shown."""
    return " ".join(str(word).removeprefix(f"{BIN}/") for word in command)


def call(console: Console, *command: str | Path, env: Mapping[str, str] | None = None, quiet: bool = False) -> None:
    """Run a command of the project, shown.

    Raises:
        DemoError: It failed.
    """
    process = _start(console, command, env=env, quiet=quiet)
    try:
        out, _ = process.communicate()
    except BaseException:
        _end(process)
        raise
    if process.returncode != 0:
        if quiet:
            console.print(out, markup=False)
        raise DemoError(f"`{shown(command)}` failed with exit status {process.returncode}; its messages are above")


def _start(
    console: Console, command: tuple[str | Path, ...], *, env: Mapping[str, str] | None = None, quiet: bool = False
) -> subprocess.Popen[str]:
    console.print(f"$ {shown(command)}", style="dim", markup=False, soft_wrap=True)
    output = subprocess.PIPE if quiet else None
    words = [str(one) for one in command]
    return subprocess.Popen(
        words, cwd=ROOT, env=env, stdout=output, stderr=subprocess.STDOUT if quiet else None, text=True
    )


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _stop(port: int) -> None:
    done = subprocess.run(
        [str(BIN / "warmstack"), "local", "aws", "down", "--port", str(port)],
        check=False,
        capture_output=True,
        text=True,
        timeout=DOWN_SECONDS,
        # A closed terminal and Ctrl-C reach the whole group, and this must not end before it has ended the other.
        start_new_session=True,
    )
    if done.returncode != 0:
        raise DemoError(f"the local AWS on port {port} is not stopped: {done.stderr.strip()}; {down_command(port)}")
