"""The argument lists that the images make of a Model's environment, by the rules of their entrypoints."""

from __future__ import annotations

import json
from collections.abc import Mapping

from session_server.engine_arguments import engine_arguments
from warmstack.plan import ServedModel

# LMI's own names of vLLM's arguments (djl_python/properties_manager/vllm_rb_properties.py).
LMI_NAMES: Mapping[str, str] = {
    "tensor_parallel_degree": "tensor_parallel_size",
    "max_rolling_batch_size": "max_num_seqs",
    "quantize": "quantization",
}
# What LMI itself reads and does not hand on.
LMI_OWN = frozenset(
    {
        "async_mode",
        "chat_template",
        "enable_stateful_sessions",
        "entrypoint",
        "enable_auto_tool_choice",
        "lmcache_auto_config",
        "lmcache_config_file",
        "model_loading_timeout",
        "reasoning_parser",
        "rolling_batch",
        "sessions_expiration",
        "tool_call_parser",
    }
)
LISTS = ("allowed_origins", "allowed_methods", "allowed_headers", "middleware")


def vllm_command(environment: Mapping[str, str]) -> list[str]:
    """Return what the vLLM image starts: ``SM_VLLM_X_Y=value`` is ``--x-y value``, a JSON list several values."""
    arguments: list[str] = []
    for key, value in sorted(environment.items()):
        if not key.startswith("SM_VLLM_") or value.lower() == "false":
            continue
        name = key.removeprefix("SM_VLLM_").lower()
        arguments.append(f"--{name.replace('_', '-')}")
        if value.lower() == "true" or not value:
            continue
        listed = json.loads(value) if value.startswith("[") and name not in LISTS else None
        arguments += [str(one) for one in listed] if isinstance(listed, list) else [value]
    return arguments


def lmi_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what LMI hands to vLLM: ``OPTION_X_Y=value`` by vLLM's name, without what LMI reads itself."""
    options = {
        key.removeprefix("OPTION_").lower(): value for key, value in environment.items() if key.startswith("OPTION_")
    }
    return {LMI_NAMES.get(name, name): value for name, value in sorted(options.items()) if name not in LMI_OWN}


def lmi_command(environment: Mapping[str, str]) -> list[str]:
    """Return the arguments that LMI makes of them: ``true`` is a bare flag, ``false`` its ``--no-`` form."""
    arguments: list[str] = ["--model", "/opt/ml/model"]
    for name, value in lmi_settings(environment).items():
        flag = name.replace("_", "-")
        if value in ("true", "false"):
            arguments.append(f"--{'no-' if value == 'false' else ''}{flag}")
        else:
            arguments += [f"--{flag}", value]
    return arguments


def command(served: ServedModel) -> list[str]:
    """Return the engine's argument list of a served model."""
    if served.server == "sglang":
        return list(engine_arguments(served.environment, port=30000))
    return (vllm_command if served.server == "vllm" else lmi_command)(served.environment)
