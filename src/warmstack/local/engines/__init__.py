"""Real engines on this machine: vLLM on the CPU, and LMCache beside it, in an environment of their own."""

from __future__ import annotations

from warmstack.local.engines.environment import EngineEnvironment, find_engine
from warmstack.local.engines.install import install_engine
from warmstack.local.engines.lmcache import LmcacheOrder, LmcacheServer, start_lmcache
from warmstack.local.engines.machine import platform_problem
from warmstack.local.engines.models import LocalModel, read_model, tiny_model
from warmstack.local.engines.tiny_adapter import make_adapter
from warmstack.local.engines.translation import Replacement, Tiers, Translation, TranslationRequest, translate
from warmstack.local.engines.vllm import EngineOrder, VllmCopy, start_vllm

__all__ = [
    "EngineEnvironment",
    "EngineOrder",
    "LmcacheOrder",
    "LmcacheServer",
    "LocalModel",
    "Replacement",
    "Tiers",
    "Translation",
    "TranslationRequest",
    "VllmCopy",
    "find_engine",
    "install_engine",
    "make_adapter",
    "platform_problem",
    "read_model",
    "start_lmcache",
    "start_vllm",
    "tiny_model",
    "translate",
]
