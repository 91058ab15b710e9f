"""The engine settings of one served model, by the server's own flag names, and what else its Model needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warmstack.catalog import ServerImage
from warmstack.plan.image_plan import CarriedFiles, Setting
from warmstack.plan.images import FORMATTERS_FILE, INSIDE, LMCACHE_FILE, TEMPLATE_FILE
from warmstack.plan.lmcache import CONNECTOR, lmcache_environment, tier_of
from warmstack.plan.model import GpuMemoryPlan, HostMemoryPlan
from warmstack.plan.options import whole_number
from warmstack.plan.speculative import MODEL_DIR, sglang_speculative, vllm_speculative
from warmstack.spec import CacheSpec, EngineSpec, ModelSpec, SessionsSpec
from warmstack.units import GIB

SGLANG_DISK = "/tmp/hicache"
FORMATTER_MIDDLEWARE = "formatters/vllm_script.py:FormatterMiddleware"
LORA_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
# Constants, not counts: one more adapter must leave the Model, and so every running copy, as it is.
MAX_LORAS = 4
MAX_CPU_LORAS = 32

# The one idea under each server's own name.
NAMES: Mapping[str, Mapping[str, str]] = {
    "lmi": {
        "degree": "tensor_parallel_degree",
        "length": "max_model_len",
        "share": "gpu_memory_utilization",
        "sequences": "max_rolling_batch_size",
        "quantization": "quantize",
        "adapter_slots": "max_loras",
        "adapters_kept": "max_cpu_loras",
    },
    "vllm": {
        "degree": "tensor_parallel_size",
        "length": "max_model_len",
        "share": "gpu_memory_utilization",
        "sequences": "max_num_seqs",
        "quantization": "quantization",
        "adapter_slots": "max_loras",
        "adapters_kept": "max_cpu_loras",
    },
    "sglang": {
        "degree": "tp_size",
        "length": "context_length",
        "share": "mem_fraction_static",
        "sequences": "max_running_requests",
        "quantization": "quantization",
        "adapter_slots": "max_loras_per_batch",
        "adapters_kept": "max_loaded_loras",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineInputs:
    """What the settings are made from; every number has been chosen before.

    Args:
        model: the model as the spec has it.
        engine: the engine as the spec has it.
        cache: the cache as the spec has it.
        image: the image that will read the settings.
        options: the checked options, by canonical name.
        memory: what fits on the GPUs.
        host: the tiers.
        max_model_len: tokens.
        max_num_seqs: requests at once.
        sessions: the sessions as the spec has them, or None.
        adapter_ranks: the rank of each adapter.
        startup_timeout_seconds: what the platform waits for the container.
        built: whether the image is one of ours, which carries files.
        carried: those files.
    """

    model: ModelSpec
    engine: EngineSpec
    cache: CacheSpec
    image: ServerImage
    options: Mapping[str, Setting]
    memory: GpuMemoryPlan
    host: HostMemoryPlan
    max_model_len: int
    max_num_seqs: int
    sessions: SessionsSpec | None
    adapter_ranks: tuple[int, ...]
    startup_timeout_seconds: int
    built: bool
    carried: CarriedFiles

    @property
    def folder(self) -> str:
        """The model's folder in an image of ours."""
        return f"{INSIDE}/{self.carried.folder}"


def engine_settings(inputs: EngineInputs) -> dict[str, Setting]:
    """Return the settings, sorted by name; the spec's options stand over defaults."""
    server = inputs.engine.server
    names = NAMES[server]
    settings: dict[str, Setting] = {
        names["degree"]: inputs.memory.tensor_parallel_degree,
        names["length"]: inputs.max_model_len,
        names["share"]: inputs.memory.gpu_memory_utilization,
        names["sequences"]: inputs.max_num_seqs,
    }
    if inputs.model.dtype != "auto":
        settings["dtype"] = inputs.model.dtype
    if inputs.model.quantization is not None:
        settings[names["quantization"]] = inputs.model.quantization
    settings |= {"lmi": _lmi, "vllm": _vllm, "sglang": _sglang}[server](inputs)
    if server != "sglang":
        settings |= _vllm_engine(inputs)
    if inputs.built and inputs.carried.chat_template is not None:
        settings["chat_template"] = f"{inputs.folder}/{TEMPLATE_FILE}"
    return dict(sorted((settings | dict(inputs.options)).items()))


def extra_environment(inputs: EngineInputs) -> dict[str, str]:
    """Return the Model environment that is not an engine setting: hub id, sessions, adapters, tiers, our image's."""
    server, hub = inputs.engine.server, inputs.model.weights.hub
    entries: dict[str, str] = {}
    if server == "lmi" and hub is not None:
        entries["HF_MODEL_ID"] = inputs.model.id
        if hub.revision is not None:
            entries["HF_REVISION"] = hub.revision
    if server != "lmi" and inputs.sessions is not None:
        # The session server of ours for sglang reads the names that the vLLM image knows.
        entries["SAGEMAKER_ENABLE_STATEFUL_SESSIONS"] = "true"
        entries["SAGEMAKER_SESSIONS_EXPIRATION"] = str(inputs.sessions.ttl)
        if server == "sglang" and inputs.sessions.sliding:
            entries["WARMSTACK_SESSIONS_SLIDING"] = "true"
    if server == "vllm" and inputs.adapter_ranks:
        entries["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] = "true"
    if server == "sglang":
        entries |= _hicache(inputs)
    elif inputs.carried.lmcache:
        entries |= _lmcache(inputs)
    elif inputs.cache.lmcache.auto_config:
        entries["PYTHONHASHSEED"] = "0"
    if inputs.built and inputs.carried.formatters is not None:
        entries["WARMSTACK_FORMATTERS"] = f"{inputs.folder}/{FORMATTERS_FILE}"
    if inputs.built and server == "vllm" and (inputs.carried.formatters is not None or inputs.adapter_ranks):
        # Adapters may bring formatters too. The image's standards package loads the middleware by this name.
        entries["CUSTOM_FASTAPI_MIDDLEWARE_PRE_POST_PROCESS"] = f"{INSIDE}/{FORMATTER_MIDDLEWARE}"
    if inputs.built and hub is not None and hub.token_secret is not None:
        entries["WARMSTACK_HUB_TOKEN_SECRET"] = hub.token_secret
    return entries


def _lmi(inputs: EngineInputs) -> dict[str, Setting]:
    settings: dict[str, Setting] = {"model_loading_timeout": inputs.startup_timeout_seconds}
    if inputs.image.needs_explicit_async:
        settings |= {
            "async_mode": True,
            "rolling_batch": "disable",
            "entrypoint": "djl_python.lmi_vllm.vllm_async_service",
        }
    if inputs.sessions is not None:
        # Guard: LMI reads anything but the word "true" as broken and fails every request; absent means off.
        settings |= {"enable_stateful_sessions": True, "sessions_expiration": inputs.sessions.ttl}
    if inputs.cache.lmcache.auto_config:
        settings["lmcache_auto_config"] = True
    return settings


def _vllm(inputs: EngineInputs) -> dict[str, Setting]:
    settings: dict[str, Setting] = {
        "model": inputs.model.id if inputs.model.weights.s3 is None else MODEL_DIR,
        # Clients of the OpenAI path name the model; the image's own name for it would be its folder.
        "served_model_name": inputs.model.id,
        "enable_prompt_tokens_details": True,
    }
    hub = inputs.model.weights.hub
    if hub is not None and hub.revision is not None:
        settings["revision"] = hub.revision
    return settings


def _vllm_engine(inputs: EngineInputs) -> dict[str, Setting]:
    """Settings that LMI and the vLLM image share: they are vLLM's own."""
    settings: dict[str, Setting] = {"enable_prefix_caching": True}
    if inputs.carried.lmcache:
        settings["kv_transfer_config"] = CONNECTOR
    if inputs.engine.speculative is not None:
        settings["speculative_config"] = vllm_speculative(inputs.engine.speculative)
    if inputs.adapter_ranks:
        settings |= {
            "enable_lora": True,
            "max_loras": MAX_LORAS,
            "max_lora_rank": rank_slot(max(inputs.adapter_ranks)),
            # vLLM demands at least max_loras.
            "max_cpu_loras": max(MAX_CPU_LORAS, whole_number(inputs.options, "max_loras") or 0),
        }
    return settings


def rank_slot(rank: int) -> int:
    """Return the smallest max_lora_rank that vLLM offers for adapters of this rank."""
    return next(one for one in LORA_RANKS if one >= rank)


def _sglang(inputs: EngineInputs) -> dict[str, Setting]:
    settings: dict[str, Setting] = {
        "model_path": inputs.model.id if inputs.model.weights.s3 is None else MODEL_DIR,
        "served_model_name": inputs.model.id,
        "enable_cache_report": True,
    }
    hub = inputs.model.weights.hub
    if hub is not None and hub.revision is not None:
        settings["revision"] = hub.revision
    if inputs.engine.speculative is not None:
        settings |= sglang_speculative(inputs.engine.speculative)
    cpu = tier_of(inputs.host, "cpu")
    if cpu is not None:
        # hicache_size is GB for one rank; a whole GiB count keeps it below what was planned.
        settings |= {"enable_hierarchical_cache": True, "hicache_size": cpu.bytes_per_worker // GIB}
        if tier_of(inputs.host, "disk") is not None:
            settings["hicache_storage_backend"] = "file"
    if inputs.adapter_ranks:
        # SGLang allocates slots for any adapter only when the rank and the modules are named at start.
        settings |= {
            "enable_lora": True,
            "max_lora_rank": rank_slot(max(inputs.adapter_ranks)),
            "lora_target_modules": "all",
            "max_loras_per_batch": MAX_LORAS,
            "max_loaded_loras": max(MAX_CPU_LORAS, whole_number(inputs.options, "max_loras_per_batch") or 0),
        }
    return settings


def _hicache(inputs: EngineInputs) -> dict[str, str]:
    """The directory and the size (bytes, of one rank) of SGLang's file backend: it reads them from the environment."""
    disk = tier_of(inputs.host, "disk")
    if disk is None or tier_of(inputs.host, "cpu") is None:
        return {}
    return {
        "SGLANG_HICACHE_FILE_BACKEND_MAX_SIZE": str(disk.bytes_per_worker),
        "SGLANG_HICACHE_FILE_BACKEND_STORAGE_DIR": SGLANG_DISK,
    }


def _lmcache(inputs: EngineInputs) -> dict[str, str]:
    """LMCache's settings: the file in an image of ours, variables in a stock image."""
    # Guard: without one seed every process hashes chunks differently, and nothing is ever found.
    entries = {"PYTHONHASHSEED": "0"}
    if not inputs.built:
        return entries | lmcache_environment(inputs.carried.lmcache)
    key = "OPTION_LMCACHE_CONFIG_FILE" if inputs.engine.server == "lmi" else "LMCACHE_CONFIG_FILE"
    return entries | {key: f"{inputs.folder}/{LMCACHE_FILE}"}
