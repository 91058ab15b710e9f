"""The limits of the runtime API. Where sources disagree, the newest documentation is the default; each can be set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from warmstack.local.errors import LocalError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Sizes in bytes, times in seconds.

    Args:
        request_bytes: The largest body of a request. The hosting FAQ says 25 MB (read 2026-11-30; 25 MiB is its larger
            reading); botocore 1.44.8 still says 6,291,456.
        response_bytes: The largest body of a response that is not streamed: the same FAQ.
        response_seconds: How long a model may take for a response that is not streamed.
        stream_seconds: How long a streamed response may take in all.
    """

    request_bytes: int = 25 * 1024 * 1024
    response_bytes: int = 25 * 1024 * 1024
    response_seconds: float = 60.0
    stream_seconds: float = 480.0

    @classmethod
    def parse(cls, settings: list[str]) -> Limits:
        """Read ``name=value`` settings.

        Args:
            settings: Each names one limit.

        Raises:
            LocalError: With one line for each bad setting.
        """
        names: dict[str, Callable[[str], float]] = {
            one.name: int if "bytes" in one.name else float for one in fields(cls)
        }
        given: dict[str, Any] = {}
        problems: list[str] = []
        for setting in settings:
            name, _, text = setting.partition("=")
            if name in given:
                problems.append(f"limit {name} is given twice")
            if name not in names:
                problems.append(f"limit {name!r} does not exist; the limits are {', '.join(names)}")
                continue
            try:
                value = names[name](text)
            except ValueError:
                value = 0
            if not 0 < value < 1 << 31:  # not NaN either
                kind = "a whole number of bytes" if names[name] is int else "a number of seconds"
                problems.append(f"limit {name} is {text!r}; it must be {kind} above 0 and below 2147483648")
            given[name] = value
        if problems:
            raise LocalError("\n".join(problems))
        return replace(cls(), **given)
