"""The three servers' environments, read into vLLM's own settings.

The rules are those of the images (read 2026-11-30): LMI's ``OPTION_*`` and its Hugging Face variables (djl-serving
d21927c4, ``ModelInfo.java``, ``vllm_rb_properties.py``, ``dockerd-entrypoint-with-cuda-compat.sh``); ``SM_VLLM_*`` and
``SM_SGLANG_*`` (aws/deep-learning-containers, ``sagemaker_args.py``, ``sagemaker_entrypoint.sh``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from warmstack.catalog import FlagTable
from warmstack.local.engines.translation.replacements import Given, Replacement

Server = Literal["lmi", "vllm", "sglang"]
PREFIXES: Mapping[Server, str] = {"lmi": "OPTION_", "vllm": "SM_VLLM_", "sglang": "SM_SGLANG_"}
LMI_NAMES: Mapping[str, str] = {
    "cpu_offload_gb_per_gpu": "cpu_offload_gb",
    "max_rolling_batch_prefill_tokens": "max_num_batched_tokens",
    "max_rolling_batch_size": "max_num_seqs",
    "model_dir": "model",
    "model_id": "model",
    "pipeline_parallel_degree": "pipeline_parallel_size",
    "quantize": "quantization",
    "tensor_parallel_degree": "tensor_parallel_size",
}
LMI_OWN = frozenset(
    {
        "async_mode",
        "enable_stateful_sessions",
        "entrypoint",
        "lmcache_auto_config",
        "lmcache_config_file",
        "model_loading_timeout",
        "mpi_mode",
        "normalize",
        "predict_timeout",
        "rolling_batch",
        "sessions_expiration",
        "sessions_path",
        "sessions_s3url",
        "task",
    }
)
"""What LMI reads itself; the tiers and the dialect look at these."""
LMI_VARIABLES: Mapping[str, str] = {
    "CUDA_MEMORY_FRACTION": "gpu_memory_utilization",
    "HF_MODEL_ID": "model",
    "HF_MODEL_QUANTIZE": "quantization",
    "HF_MODEL_TRUST_REMOTE_CODE": "trust_remote_code",
    "HF_REVISION": "revision",
    "MAX_BATCH_PREFILL_TOKENS": "max_num_batched_tokens",
    "MAX_BATCH_SIZE": "max_num_seqs",
    "SM_NUM_GPUS": "tensor_parallel_size",
    "TENSOR_PARALLEL_DEGREE": "tensor_parallel_size",
}
SGLANG_NAMES: Mapping[str, str] = {
    "chat_template": "chat_template",
    "chunked_prefill_size": "max_num_batched_tokens",
    "context_length": "max_model_len",
    "dtype": "dtype",
    "enable_cache_report": "enable_prompt_tokens_details",
    "enable_lora": "enable_lora",
    "kv_cache_dtype": "kv_cache_dtype",
    "load_format": "load_format",
    "max_loaded_loras": "max_cpu_loras",
    "max_lora_rank": "max_lora_rank",
    "max_loras_per_batch": "max_loras",
    "max_running_requests": "max_num_seqs",
    "mem_fraction_static": "gpu_memory_utilization",
    "model": "model",
    "model_path": "model",
    "page_size": "block_size",
    "pp_size": "pipeline_parallel_size",
    "dp_size": "data_parallel_size",
    "quantization": "quantization",
    "random_seed": "seed",
    "reasoning_parser": "reasoning_parser",
    "revision": "revision",
    "served_model_name": "served_model_name",
    "stream_interval": "stream_interval",
    "tensor_parallel_size": "tensor_parallel_size",
    "tool_call_parser": "tool_call_parser",
    "tp_size": "tensor_parallel_size",
    "trust_remote_code": "trust_remote_code",
}
SGLANG_ELSEWHERE = frozenset(
    {
        "disable_radix_cache",
        "enable_hicache",
        "enable_hierarchical_cache",
        "hicache_ratio",
        "hicache_size",
        "hicache_storage_backend",
        "speculative_algorithm",
        "speculative_num_draft_tokens",
    }
)
"""What has no single counterpart in vLLM: the tiers and the drafting look at these."""
# Single values of vLLM that look like a list of several (sagemaker_args.py).
ONE_TOKEN = frozenset({"allowed_headers", "allowed_methods", "allowed_origins", "middleware"})


@dataclass(slots=True)
class Read:
    """What was read.

    Args:
        settings: By vLLM's names.
        raw: The server's own settings by their names in lower case, as they are in the environment.
        replacements: What the server would not take, or the local engine has no counterpart of.
    """

    settings: dict[str, Given] = field(default_factory=dict)
    raw: dict[str, str] = field(default_factory=dict)
    replacements: list[Replacement] = field(default_factory=list)


def read_settings(server: Server, environment: Mapping[str, str], tables: Mapping[str, FlagTable]) -> Read:
    """Return vLLM's settings that an environment says.

    Args:
        server: Whose environment it is.
        environment: The Model's environment.
        tables: The flags of each server.
    """
    read = Read()
    if server == "lmi":
        for variable, name in LMI_VARIABLES.items():
            if environment.get(variable):
                read.settings[name] = _given(variable, environment[variable], tables["vllm"], name)
    prefix = PREFIXES[server]
    for variable in sorted(one for one in environment if one.startswith(prefix)):
        name, text = variable.removeprefix(prefix).lower(), environment[variable]
        if server == "lmi" and not text:
            continue  # DJL ignores empty values
        read.raw[name] = text
        _READERS[server](read, tables, name, variable, text)
    return read


def _lmi(read: Read, tables: Mapping[str, FlagTable], name: str, variable: str, text: str) -> None:
    table, given = tables["lmi"], Given(variable=variable, text=text, value=text)
    if name in table.removed:
        read.replacements.append(given.replaced(None, table.removed[name]))
    elif name not in table.flags:
        why = "LMI drops it without a word: it is no setting of LMI's, and no engine argument of vLLM"
        read.replacements.append(given.replaced(None, why + _nearest(table, name)))
    elif name not in LMI_OWN:
        known = LMI_NAMES.get(name, name)
        read.settings[known] = _given(variable, text, tables["vllm"], known)


def _vllm(read: Read, tables: Mapping[str, FlagTable], name: str, variable: str, text: str) -> None:
    table, given = tables["vllm"], Given(variable=variable, text=text, value=text)
    positive = name.removeprefix("no_")
    if text.lower() == "false":
        return  # the image leaves the flag out
    if name != positive and positive in table.flags and table.flags[positive].has_no_form:
        read.settings[positive] = Given(variable=variable, text=text, value=False)
    elif name in table.flags:
        known = table.flags[name].name
        read.settings[known] = _given(variable, text, table, known)
    else:
        why = table.removed.get(name, "vLLM does not know it, and the container would not start with it")
        read.replacements.append(given.replaced(None, why + ("" if name in table.removed else _nearest(table, name))))


def _sglang(read: Read, tables: Mapping[str, FlagTable], name: str, variable: str, text: str) -> None:
    table, given = tables["sglang"], Given(variable=variable, text=text, value=text)
    if text.lower() == "false" or name == "engine":
        return
    if name not in table.flags:
        why = "SGLang does not know it, and the container would not start with it" + _nearest(table, name)
        read.replacements.append(given.replaced(None, why))
    elif name in SGLANG_NAMES:
        known = SGLANG_NAMES[name]
        read.settings[known] = _given(variable, text, tables["vllm"], known)
    elif name not in SGLANG_ELSEWHERE:
        read.replacements.append(given.replaced(None, "the local engine is vLLM, which has no counterpart of it"))


_READERS = {"lmi": _lmi, "vllm": _vllm, "sglang": _sglang}


def _given(variable: str, text: str, table: FlagTable, name: str) -> Given:
    flag = table.flags.get(name)
    value: bool | str | tuple[str, ...] = text
    if (flag is not None and flag.kind == "bool") or not text:
        value = text.lower() not in ("false", "0")
    elif flag is not None and flag.repeated and text.startswith("[") and name not in ONE_TOKEN:
        try:
            listed = json.loads(text)
        except ValueError:
            listed = None
        if isinstance(listed, list):
            value = tuple(one if isinstance(one, str) else json.dumps(one) for one in listed)
    return Given(variable=variable, text=text, value=value)


def _nearest(table: FlagTable, name: str) -> str:
    near = table.suggest(name)
    return f"; did you mean {near[0]}?" if near else ""
