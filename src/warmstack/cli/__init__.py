"""The command line: thin, and the only place that prints."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


def main() -> None:
    """Run the command line. Exit codes: 0 no error, 1 invalid input or an error finding, 2 usage, 130 Ctrl-C."""
    # A command lives for a fraction of a second: collecting garbage would be a tenth of it and free nothing.
    gc.disable()
    _prepare_streams()
    interrupts = _count_interrupts()
    try:
        _run()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # Guard: the reader (head, less) has gone; without this Python complains again while it exits.
        _let_output_go()
        sys.exit(1)
    except SystemExit:
        # From here on the exit code says what there is to say.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise
    except BaseException as error:
        # Guard: pydantic's core makes an interrupt that breaks off its imports into a panic, which is no Exception.
        if interrupts and not isinstance(error, Exception):
            sys.exit(130)
        if os.environ.get("WARMSTACK_TRACEBACK"):
            raise
        print(
            f"warmstack: internal error: {type(error).__name__}: {error}\n"
            "This is a defect of Warmstack. WARMSTACK_TRACEBACK=1 shows where it happened.",
            file=sys.stderr,
        )
        sys.exit(1)


def _run() -> None:
    from warmstack.cli.app import app
    from warmstack.errors import WarmstackError

    try:
        try:
            app()
        finally:
            # Now, so that what cannot be written is told; at exit Python would tell it in its own way.
            sys.stdout.flush()
    except WarmstackError as error:
        from warmstack.cli.steering import shown

        # A service's words may be in it.
        print(shown(f"warmstack: {error}", sys.stderr), file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        raise
    except OSError as error:
        # Reading is mapped where it happens; what is left is writing to standard output.
        print(f"warmstack: the output cannot be written: {error.strerror or error}", file=sys.stderr)
        _let_output_go()
        sys.exit(1)


def _count_interrupts() -> list[int]:
    """Return a list that gets an entry for each Ctrl-C, until a command handles it in another way."""
    happened: list[int] = []

    def count(signum: int, frame: FrameType | None) -> None:
        happened.append(signum)
        signal.default_int_handler(signum, frame)

    # Guard: a shell starts what it runs in the background with interrupts ignored; so they stay.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, count)
    return happened


def _prepare_streams() -> None:
    # A stream that the caller closed is None here; what is written to it goes nowhere.
    sys.stdout = sys.stdout or io.StringIO()
    sys.stderr = sys.stderr or io.StringIO()
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BytesIO())
    if isinstance(sys.stdin, io.TextIOWrapper):
        # Guard: bytes that are no text reach the command, which tells them as an error of its input.
        sys.stdin.reconfigure(errors="surrogateescape")
    for stream in (sys.stdout, sys.stderr):
        # Guard: a terminal without UTF-8 shows escapes instead of ending the command.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _let_output_go() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
