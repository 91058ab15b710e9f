"""Which dialect stands in front of an engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from warmstack.assembly import ModelDefinition
from warmstack.local.container import Container
from warmstack.local.dialects.defects import ALL_DEFECTS
from warmstack.local.dialects.lmi import LmiDialect
from warmstack.local.dialects.route import Routed, is_routed
from warmstack.local.dialects.sglang import sglang_dialect
from warmstack.local.dialects.vllm import VllmDialect
from warmstack.local.dialects.vllm_formatters import with_formatters


def in_front(
    model: ModelDefinition,
    engine: Container,
    *,
    clock: Callable[[], float] = time.time,
    real: bool = False,
    defects: frozenset[str] = ALL_DEFECTS,
    code: Path | None = None,
) -> Container:
    """Put the server that a model names in front of an engine.

    Args:
        model: The model.
        engine: The engine.
        clock: Seconds since the epoch, for sessions.
        real: Whether the engine is a vLLM, which answers as the vLLM image does by itself.
        defects: The servers' defects that are reproduced.
        code: A folder with the model's own model.py, for LMI, where its build context carries none.

    Raises:
        LocalError: The server would not start.
    """
    if model.server == "lmi":
        return LmiDialect(model, engine, clock=clock, defects=defects, code=code)
    if model.server == "sglang":
        return sglang_dialect(model, engine, clock=clock)
    container = engine if real else with_formatters(model, VllmDialect(model, engine, clock=clock))
    return Routed(container) if is_routed(model) else container
