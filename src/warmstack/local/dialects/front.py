"""Which dialect stands in front of an engine."""

from __future__ import annotations

import time
from collections.abc import Callable

from warmstack.assembly import ModelDefinition
from warmstack.local.container import Container
from warmstack.local.dialects.vllm import VllmDialect


def in_front(
    model: ModelDefinition, engine: Container, *, clock: Callable[[], float] = time.time, real: bool = False
) -> Container:
    """Put the server that a model names in front of a simulated engine.

    Args:
        model: The model.
        engine: The engine.
        clock: Seconds since the epoch, for sessions.
        real: Whether the engine is a vLLM, which answers as the vLLM image does by itself.
    """
    if real and model.server in ("vllm", None):
        return engine
    return VllmDialect(model, engine, clock=clock)
