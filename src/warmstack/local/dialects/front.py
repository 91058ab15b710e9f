"""Which dialect stands in front of an engine."""

from __future__ import annotations

import time
from collections.abc import Callable

from warmstack.assembly import ModelDefinition
from warmstack.local.container import Container
from warmstack.local.dialects.vllm import VllmDialect


def in_front(model: ModelDefinition, engine: Container, *, clock: Callable[[], float] = time.time) -> Container:
    """Put the server that a model names in front of a simulated engine.

    Args:
        model: The model.
        engine: The engine.
        clock: Seconds since the epoch, for sessions.
    """
    return VllmDialect(model, engine, clock=clock)
