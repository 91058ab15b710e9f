"""Which dialect stands in front of an engine."""

from __future__ import annotations

import time
from collections.abc import Callable

from warmstack.assembly import ModelDefinition
from warmstack.local.container import Container
from warmstack.local.dialects.route import Routed, is_routed
from warmstack.local.dialects.vllm import VllmDialect
from warmstack.local.dialects.vllm_formatters import with_formatters


def in_front(
    model: ModelDefinition, engine: Container, *, clock: Callable[[], float] = time.time, real: bool = False
) -> Container:
    """Put the server that a model names in front of an engine.

    Args:
        model: The model.
        engine: The engine.
        clock: Seconds since the epoch, for sessions.
        real: Whether the engine is a vLLM, which answers as the vLLM image does by itself.

    Raises:
        LocalError: The server would not start.
    """
    container = engine if real else with_formatters(model, VllmDialect(model, engine, clock=clock))
    return Routed(container) if is_routed(model) else container
