"""Whether the engine serves: what GET /ping answers, and the probe behind it.

/ping reads a state and never waits. The engine is ready after a real generation; it is taken for dead when it ended, or
when for `stall_seconds` nothing at all came from it. A busy engine sends bytes, which count; an idle one is probed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Any, Protocol

from session_server.errors import RequestError

FIRST_RETRY_SECONDS = 0.5
_log = logging.getLogger(__name__)


class EngineCaller(Protocol):
    """The part of the engine's client that probes need."""

    async def call(self, method: str, path: str, value: object = None, *, timeout_seconds: float | None = None) -> Any:
        """Return status and decoded answer."""
        ...


class LivenessProbe(Enum):
    """How an idle engine is asked whether it lives, once it has generated."""

    HEALTH_GENERATE = "GET /health_generate"
    """SGLang's: it generates a token only if nothing else shows progress, so that it does not queue behind requests."""
    GENERATION = "POST /v1/completions"
    """One token, as at the start: for engines whose health endpoint does not generate."""


class EngineHealth:
    """The engine's state as far as it is known.

    Args:
        stall_seconds: How long nothing may come from the engine.
        clock: Monotonic seconds.
    """

    def __init__(self, *, stall_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._stall_seconds = stall_seconds
        self._clock = clock
        self._ready = False
        self._exited: str | None = None
        self._progress_at = clock()

    def note_progress(self) -> None:
        """Note that bytes came from the engine."""
        self._progress_at = self._clock()

    def note_ready(self) -> None:
        """Note that the engine has completed a generation."""
        self._ready = True
        self.note_progress()

    def note_exit(self, description: str) -> None:
        """Note that the engine's process has ended."""
        self._exited = description

    @property
    def idle_seconds(self) -> float:
        """How long nothing has come from the engine."""
        return self._clock() - self._progress_at

    @property
    def problem(self) -> str | None:
        """Why the engine does not serve; None if it does."""
        if self._exited is not None:
            return f"the engine exited with {self._exited}"
        if not self._ready:
            return "the engine is starting"
        if self.idle_seconds >= self._stall_seconds:
            return f"nothing has come from the engine for {self.idle_seconds:.0f} s"
        return None


class Prober:
    """Asks the engine in the background.

    Args:
        engine: Calls the engine.
        health: Is told what the engine answers.
        liveness: How to ask once it is ready.
        on_ready: Is called once, after the first generation and before /ping says so.
        probe_seconds: How long the engine may be silent before it is asked.
        timeout_seconds: How long a probe may take.
    """

    def __init__(
        self,
        *,
        engine: EngineCaller,
        health: EngineHealth,
        liveness: LivenessProbe,
        on_ready: Callable[[], Awaitable[None]],
        probe_seconds: float,
        timeout_seconds: float,
    ) -> None:
        self._engine = engine
        self._health = health
        self._liveness = liveness
        self._on_ready = on_ready
        self._probe_seconds = probe_seconds
        self._timeout_seconds = timeout_seconds

    async def run(self) -> None:
        """Probe until cancelled."""
        while not await self._succeeds(self._first):
            await asyncio.sleep(min(FIRST_RETRY_SECONDS, self._probe_seconds))
        _log.info("the engine has generated its first token and is ready")
        self._health.note_ready()
        probe = self._generate if self._liveness is LivenessProbe.GENERATION else self._health_generate
        while True:
            await asyncio.sleep(self._probe_seconds)
            if self._health.idle_seconds < self._probe_seconds:
                continue
            if await self._succeeds(probe):
                self._health.note_progress()
            else:
                _log.warning("the engine did not answer a probe; silent for %.0f s", self._health.idle_seconds)

    async def _first(self) -> bool:
        if not await self._generate():
            return False
        await self._on_ready()
        return True

    async def _generate(self) -> bool:
        request = {"prompt": "1", "max_tokens": 1, "temperature": 0.0}
        status, answer = await self._engine.call(
            "POST", "/v1/completions", request, timeout_seconds=self._timeout_seconds
        )
        return status == 200 and isinstance(answer, dict) and bool(answer.get("choices"))

    async def _health_generate(self) -> bool:
        status, _ = await self._engine.call("GET", "/health_generate", timeout_seconds=self._timeout_seconds)
        return bool(status == 200)

    async def _succeeds(self, probe: Callable[[], Awaitable[bool]]) -> bool:
        try:
            return await probe()
        except RequestError:
            return False
        except Exception:
            # Guard: the prober must outlive any answer. Without it /ping would say the same for ever.
            _log.exception("a probe failed unexpectedly; it is tried again")
            return False
