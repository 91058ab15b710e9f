"""From a model's environment to the settings of a simulated engine: what each server calls them."""

from __future__ import annotations

import json
from contextlib import suppress

from warmstack.assembly import ModelDefinition
from warmstack.local.simulated.settings import Latency, SimulatedSettings

WEIGHTS = "/opt/ml/model"
_NAMES = {
    "lmi": {
        "length": "OPTION_MAX_MODEL_LEN",
        "seqs": "OPTION_MAX_ROLLING_BATCH_SIZE",
        "name": "OPTION_SERVED_MODEL_NAME",
        "lora": "OPTION_ENABLE_LORA",
        "caching": "OPTION_ENABLE_PREFIX_CACHING",
        "details": "OPTION_ENABLE_PROMPT_TOKENS_DETAILS",
    },
    "vllm": {
        "length": "SM_VLLM_MAX_MODEL_LEN",
        "seqs": "SM_VLLM_MAX_NUM_SEQS",
        "name": "SM_VLLM_SERVED_MODEL_NAME",
        "lora": "SM_VLLM_ENABLE_LORA",
        "caching": "SM_VLLM_ENABLE_PREFIX_CACHING",
        "details": "SM_VLLM_ENABLE_PROMPT_TOKENS_DETAILS",
    },
    "sglang": {
        "length": "SM_SGLANG_CONTEXT_LENGTH",
        "seqs": "SM_SGLANG_MAX_RUNNING_REQUESTS",
        "name": "SM_SGLANG_SERVED_MODEL_NAME",
        "lora": "SM_SGLANG_ENABLE_LORA",
        "caching": "",
        "details": "SM_SGLANG_ENABLE_CACHE_REPORT",
    },
}


def _model_names(given: str, model: ModelDefinition) -> tuple[str, ...]:
    """Return what a model is called: several names are a JSON list in the images' environment."""
    with suppress(ValueError):
        listed = json.loads(given)
        if isinstance(listed, list) and listed and all(isinstance(one, str) and one for one in listed):
            return tuple(listed)
    if given:
        return (given,)
    if model.server == "lmi":
        # LMI's handler calls the model so where nothing else is said (djl-serving d21927c4, vllm_async_service.py).
        return ("lmi",)
    # Else its path is its name: the images look for the weights there first.
    own = model.environment.get("SM_VLLM_MODEL") or model.environment.get("SM_SGLANG_MODEL_PATH")
    hub = model.environment.get("HF_MODEL_ID") if model.model_data is None else None
    return (own or hub or WEIGHTS,)


def simulated_settings(model: ModelDefinition, latency: Latency, cache_blocks: int | None) -> SimulatedSettings:
    """Return the settings of a model's simulated engine; what is absent or no number takes the default.

    Args:
        model: The model.
        latency: How long answers take.
        cache_blocks: How many blocks the prefix cache holds; None for the default.
    """
    names = _NAMES[model.server or "vllm"]
    environment = model.environment
    default = SimulatedSettings()

    def number(key: str, otherwise: int) -> int:
        text = environment.get(names[key], "")
        return int(text) if text.isascii() and text.isdigit() and int(text[:9]) > 0 else otherwise

    def flag(key: str, otherwise: bool) -> bool:
        text = environment.get(names[key])
        return otherwise if text is None else text.lower() not in ("false", "0")

    return SimulatedSettings(
        model_names=_model_names(environment.get(names["name"], ""), model),
        max_model_len=number("length", default.max_model_len),
        max_num_seqs=number("seqs", default.max_num_seqs),
        cache_blocks=cache_blocks or default.cache_blocks,
        prefix_caching=flag("caching", True),
        reports_cached_tokens=flag("details", False),
        adapters=flag("lora", False),
        latency=latency,
    )
