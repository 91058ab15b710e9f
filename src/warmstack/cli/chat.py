"""`warmstack chat`: a conversation in a terminal, or line by line from a pipe."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from warmstack.cli.client_output import counted, error_document, figures, read_argument, response_document
from warmstack.cli.client_target import TargetOrder, saying_options
from warmstack.cli.steering import shown
from warmstack.client import EndpointClient, ReasoningDelta, Session, Stream, TextDelta, ToolCallDelta
from warmstack.errors import WarmstackError

HELP = "a line is a turn; /reset forgets the turns, /help says this, /quit or Ctrl-D ends; Ctrl-C stops an answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOrder:
    """A conversation.

    Args:
        system: A system message, or ``@`` and its file.
        max_tokens: The most tokens of an answer.
        temperature: 0 for the likeliest.
        ttl: The longest life of a session, in seconds.
        session: Whether to open one.
    """

    system: str | None
    max_tokens: int | None
    temperature: float | None
    ttl: float | None
    session: bool


def run_chat(where: TargetOrder, order: ChatOrder, *, as_json: bool) -> int:
    """Hold the conversation; return 1 if a turn failed."""
    system = read_argument(order.system, "--system")
    options: dict[str, Any] = {"max_tokens": order.max_tokens, "temperature": order.temperature}
    show: _Plain | _Lines = _Lines() if as_json else _Plain()
    failed = False
    with _ended_by_signals(), where.running_client(sessions=None if order.session else "off") as client:
        with client.session(ttl=order.ttl, system=system, **options) as session:
            show.begin(session)
            for line in show.lines():
                match line.strip():
                    case "":
                        continue
                    case "/quit" | "/exit":
                        break
                    case "/reset":
                        session.reset()
                        show.note("the turns are forgotten; the session stays")
                    case "/help" | "/?":
                        show.note(HELP)
                    case command if command.startswith("/") and not command.startswith("//"):
                        show.note(f"there is no {command.split()[0]}; {HELP}; two slashes say one")
                    case _:
                        text = line[1:] if line.startswith("//") else line
                        failed |= not _turn(client, session, text, show)
        show.end(session)
    return int(failed)


def _turn(client: EndpointClient, session: Session, text: str, show: _Plain | _Lines) -> bool:
    turns = session.stats.turns
    stream: Stream | None = None
    try:
        with saying_options(client), session.stream(text) as stream:
            for event in stream:
                show.event(event)
    except KeyboardInterrupt:
        # Guard: also while nothing has come yet, which is when people lose patience.
        if stream is None or session.stats.turns == turns:
            show.stopped()
            return True
    except WarmstackError as failure:
        show.failed(failure)
        return False
    show.answered(session, stream.response())
    return True


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """End by an exception where a signal would end the process: the session is closed then."""
    before = {}
    for number in (getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)):
        # Signals belong to the main thread.
        with suppress(ValueError):
            before[number] = signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Plain:
    """For people: the answer as it comes on standard output, figures on standard error."""

    def __init__(self) -> None:
        self._terminal = sys.stdin.isatty() and sys.stdout.isatty()
        self._thinking = False

    def begin(self, session: Session) -> None:
        said = f"session {session.id}" if session.id else "no session: routing chooses the instance of each turn"
        self.note(f"{said}; {HELP}" if self._terminal else said)

    def lines(self) -> Iterator[str]:
        if self._terminal:
            with suppress(ImportError):
                import readline  # noqa: F401  (its import makes input() edit lines)
        while True:
            try:
                line = input("> ") if self._terminal else sys.stdin.readline()
            except EOFError:
                print()
                return
            except KeyboardInterrupt:
                if not self._terminal:
                    raise
                print()
                return
            if not self._terminal and not line:
                return
            yield line.rstrip("\r\n")

    def event(self, event: object) -> None:
        if isinstance(event, ReasoningDelta):
            if not self._thinking:
                print("(thinks) ", end="", file=sys.stderr)
            self._thinking = True
            print(shown(event.text, sys.stderr), end="", flush=True, file=sys.stderr)
            return
        if self._thinking:
            self._thinking = False
            print(file=sys.stderr)
        if isinstance(event, TextDelta) and event.choice == 0:
            print(shown(event.text), end="", flush=True)
        elif isinstance(event, ToolCallDelta):
            name = f"\n{event.name}: " if event.name else ""
            print(shown(f"{name}{event.arguments}"), end="", flush=True)

    def answered(self, session: Session, response: Any) -> None:
        print(flush=True)
        self.note(f"turn {session.stats.turns}: {figures(response)}")

    def stopped(self) -> None:
        print(flush=True)
        self.note("stopped; the conversation is as it was before this turn")

    def failed(self, failure: WarmstackError) -> None:
        print(flush=True)
        self.note(f"{failure}\nThe conversation is as it was before this turn; say it again.")

    def note(self, text: str) -> None:
        dim, plain = ("\x1b[2m", "\x1b[0m") if sys.stderr.isatty() else ("", "")
        print(f"{dim}{shown(text, sys.stderr)}{plain}", file=sys.stderr, flush=True)

    def end(self, session: Session) -> None:
        stats = session.stats
        told = [counted(stats.turns, "turn"), f"{counted(stats.opened, 'session')} opened"]
        told += [f"{stats.renewed} renewed"] if stats.renewed else []
        told += [f"{counted(stats.replayed, 'turn')} sent again"] if stats.replayed else []
        self.note(", ".join(told))


class _Lines(_Plain):
    """For scripts: one JSON object for each turn."""

    def __init__(self) -> None:
        super().__init__()
        self._terminal = False

    def event(self, event: object) -> None:
        pass

    def answered(self, session: Session, response: Any) -> None:
        self._write({"turn": session.stats.turns, **response_document(response)})

    def stopped(self) -> None:
        raise KeyboardInterrupt

    def failed(self, failure: WarmstackError) -> None:
        self._write(error_document(failure))

    def _write(self, document: dict[str, Any]) -> None:
        print(shown(json.dumps(document, ensure_ascii=False)), flush=True)
