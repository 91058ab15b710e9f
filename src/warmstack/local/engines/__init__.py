"""Real engines on this machine: vLLM on the CPU, and LMCache beside it, in an environment of their own."""

from __future__ import annotations

from warmstack.local.engines.install import EngineEnvironment
from warmstack.local.engines.vllm import EngineOrder, VllmCopy, start_vllm

__all__ = ["EngineEnvironment", "EngineOrder", "VllmCopy", "start_vllm"]
