"""What a test can tell the stand-in: by environment at the start, by POST /standin/control while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Options:
    """How the stand-in behaves; changed while it runs by `update`."""

    ready_seconds: float = 0.0
    """How long generating answers 503 after the start (STANDIN_READY_SECONDS)."""
    load_seconds: float = 0.0
    """How long loading an adapter takes (STANDIN_LOAD_SECONDS)."""
    token_seconds: float = 0.0
    """The time between two tokens (STANDIN_TOKEN_SECONDS)."""
    tokens: int = 8
    """The most tokens an answer has (STANDIN_TOKENS)."""
    hang: bool = False
    """Accept requests and generate nothing (STANDIN_HANG=1)."""
    hold_after: int = -1
    """Make so many tokens of an answer, and the others when this is another number (STANDIN_HOLD_AFTER)."""
    break_after: int = -1
    """Drop the connection after so many tokens; -1: never (STANDIN_BREAK_AFTER)."""
    garbage: bool = False
    """Answer whole requests with JSON of no known form (STANDIN_GARBAGE=1)."""
    die_seconds: float = -1.0
    """End the process so long after the start; -1: never (STANDIN_DIE_SECONDS)."""
    die_status: int = 17
    """The exit status of that (STANDIN_DIE_STATUS)."""
    ignore_sigterm: bool = False
    """Do not end on SIGTERM (STANDIN_IGNORE_SIGTERM=1)."""
    fork: str = ""
    """Start a child that sleeps, and write its process id to this file (STANDIN_FORK)."""
    log: str = ""
    """Append each request to this file, as a line of JSON (STANDIN_LOG)."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Options:
        options = cls()
        prefix = "STANDIN_"
        options.update(
            {key[len(prefix) :].lower(): value for key, value in environment.items() if key.startswith(prefix)}
        )
        return options

    def update(self, values: Mapping[str, object]) -> None:
        for name, value in values.items():
            kind = type(getattr(self, name))
            setattr(self, name, value in ("1", "true", True) if kind is bool else kind(value))
