"""The environment → frozen settings; every bad value in one message."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from session_server.errors import SettingsError

TRUE = ("true", "1")
FALSE = ("false", "0", "")
MAX_BODY_BYTES = 25 * 1024 * 1024
"""SageMaker passes on bodies up to 25 MB (hosting FAQ, read 2026-11-30); 25 MiB is the larger reading of that."""
MAX_CONCURRENT_REQUESTS = 1000
"""The length of LMI's job queue (SERVING_JOB_QUEUE_SIZE); its clients meet the same limit here."""
MAX_ARRIVING_BYTES = 1024 * 1024 * 1024
"""Forty of the largest bodies at once; each is counted from its first byte until it is whole."""
BODY_SECONDS = 30.0
"""For the largest body, 7 Mbit/s; a body that needs longer has stalled."""
MAX_DRAIN_SECONDS = 25.0
"""SageMaker kills a container 30 s after SIGTERM; the rest is for the engine to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the server is told by its environment."""

    host: str
    port: int
    sessions_enabled: bool
    sessions_expiration_seconds: int
    sessions_sliding: bool
    sessions_max: int
    max_body_bytes: int
    max_arriving_bytes: int
    body_seconds: float
    max_concurrent_requests: int
    adapter_roots: tuple[Path, ...]
    formatters: Path | None
    drain_seconds: float
    engine_port: int
    engine_python: str | None
    probe_seconds: float
    stall_seconds: float

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Read and check every variable.

        Args:
            environment: The process's environment.

        Raises:
            SettingsError: With one sentence for each bad value.
        """
        read = _Reader(environment)
        settings = cls(
            host=environment.get("WARMSTACK_HOST", "") or "0.0.0.0",
            port=read.integer("WARMSTACK_PORT", 8080, least=0, most=65535),
            sessions_enabled=read.boolean("SAGEMAKER_ENABLE_STATEFUL_SESSIONS", default=False),
            sessions_expiration_seconds=read.integer("SAGEMAKER_SESSIONS_EXPIRATION", 1200, least=1, most=31_536_000),
            sessions_sliding=read.boolean("WARMSTACK_SESSIONS_SLIDING", default=False),
            sessions_max=read.integer("WARMSTACK_SESSIONS_MAX", 100_000, least=1, most=10_000_000),
            max_body_bytes=read.integer("WARMSTACK_MAX_BODY_BYTES", MAX_BODY_BYTES, least=1, most=1 << 31),
            max_arriving_bytes=read.integer("WARMSTACK_MAX_ARRIVING_BYTES", MAX_ARRIVING_BYTES, least=1, most=1 << 40),
            body_seconds=read.number("WARMSTACK_BODY_SECONDS", BODY_SECONDS, least=0.1, most=3600),
            max_concurrent_requests=read.integer(
                "WARMSTACK_MAX_CONCURRENT_REQUESTS", MAX_CONCURRENT_REQUESTS, least=1, most=1_000_000
            ),
            adapter_roots=read.folders("WARMSTACK_ADAPTER_ROOTS", ("/opt/ml/models", "/opt/ml/model")),
            formatters=read.file("WARMSTACK_FORMATTERS"),
            drain_seconds=read.number("WARMSTACK_DRAIN_SECONDS", MAX_DRAIN_SECONDS, least=0, most=MAX_DRAIN_SECONDS),
            engine_port=read.integer("WARMSTACK_ENGINE_PORT", 30000, least=1, most=65535),
            engine_python=read.program("WARMSTACK_ENGINE_PYTHON"),
            probe_seconds=read.number("WARMSTACK_PROBE_SECONDS", 10.0, least=0.05, most=3600),
            stall_seconds=read.number("WARMSTACK_STALL_SECONDS", 60.0, least=0.1, most=3600),
        )
        if settings.port == settings.engine_port:
            read.problems.append(
                f"WARMSTACK_ENGINE_PORT is {settings.engine_port}, and the session server listens on that port itself; "
                "give the engine another one"
            )
        if settings.max_arriving_bytes < settings.max_body_bytes:
            read.problems.append(
                f"WARMSTACK_MAX_ARRIVING_BYTES is {settings.max_arriving_bytes}; it must be WARMSTACK_MAX_BODY_BYTES "
                f"({settings.max_body_bytes}) or more, or the largest body never comes in"
            )
        if read.problems:
            raise SettingsError(read.problems)
        return settings


class _Reader:
    """Reads values and collects what is wrong with them."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.problems: list[str] = []

    def boolean(self, name: str, *, default: bool) -> bool:
        text = self._environment.get(name)
        if text is None:
            return default
        if text.lower() not in TRUE + FALSE:
            self._refuse(name, "true or false")
        return text.lower() in TRUE

    def integer(self, name: str, default: int, *, least: int, most: int) -> int:
        text = self._environment.get(name, "").strip()
        if not text:
            return default
        if not text.isascii() or not text.isdigit() or len(text) > 20 or not least <= int(text) <= most:
            self._refuse(name, f"a whole number from {least} to {most}")
            return default
        return int(text)

    def number(self, name: str, default: float, *, least: float, most: float) -> float:
        text = self._environment.get(name, "").strip()
        if not text:
            return default
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not least <= value <= most:
            self._refuse(name, f"a number from {least:g} to {most:g}")
            return default
        return value

    def folders(self, name: str, default: tuple[str, ...]) -> tuple[Path, ...]:
        text = self._environment.get(name, "")
        paths = tuple(Path(part) for part in (text.split(os.pathsep) if text else default))
        if not all(path.is_absolute() and path != Path("/") for path in paths):
            self._refuse(name, f"absolute folders other than the root, separated by '{os.pathsep}'")
        return paths

    def file(self, name: str) -> Path | None:
        text = self._environment.get(name, "")
        if text and not Path(text).is_file():
            self._refuse(name, "the path of a Python file that exists")
        return Path(text) if text else None

    def program(self, name: str) -> str | None:
        text = self._environment.get(name, "")
        if text and not os.access(text, os.X_OK):
            self._refuse(name, "the path of a Python interpreter that can be executed")
        return text or None

    def _refuse(self, name: str, rule: str) -> None:
        self.problems.append(f"{name} is {self._environment[name]!r}; it must be {rule}")
