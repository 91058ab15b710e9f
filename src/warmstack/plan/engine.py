"""The engine settings of one served model, by the server's own flag names, and what else its Model needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warmstack.catalog import ServerImage
from warmstack.plan.model import GpuMemoryPlan, HostMemoryPlan, Setting, TierPlan
from warmstack.plan.options import whole_number
from warmstack.spec import CacheSpec, EngineSpec, ModelSpec, SpeculativeSpec
from warmstack.units import GIB

MODEL_DIR = "/opt/ml/model"
LMCACHE_DISK = "file:///tmp/lmcache/"
# The staging pool that LMCache needs for a disk tier even without a CPU tier (GiB per worker, LMI's test value).
STAGING_POOL_GIB = 5
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
    },
    "vllm": {
        "degree": "tensor_parallel_size",
        "length": "max_model_len",
        "share": "gpu_memory_utilization",
        "sequences": "max_num_seqs",
        "quantization": "quantization",
    },
    "sglang": {
        "degree": "tp_size",
        "length": "context_length",
        "share": "mem_fraction_static",
        "sequences": "max_running_requests",
        "quantization": "quantization",
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
        session_ttl_seconds: a session's life, or None without sessions.
        adapter_ranks: the rank of each adapter.
        startup_timeout_seconds: what the platform waits for the container.
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
    session_ttl_seconds: int | None
    adapter_ranks: tuple[int, ...]
    startup_timeout_seconds: int


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
    return dict(sorted((settings | dict(inputs.options)).items()))


def extra_environment(inputs: EngineInputs) -> dict[str, str]:
    """Return the Model environment that is not an engine setting: hub id, sessions, adapters, LMCache."""
    server = inputs.engine.server
    entries: dict[str, str] = {}
    if server == "lmi" and inputs.model.weights.s3 is None:
        entries["HF_MODEL_ID"] = inputs.model.id
        if inputs.model.weights.hub is not None and inputs.model.weights.hub.revision is not None:
            entries["HF_REVISION"] = inputs.model.weights.hub.revision
    if server == "vllm" and inputs.session_ttl_seconds is not None:
        entries["SAGEMAKER_ENABLE_STATEFUL_SESSIONS"] = "true"
        entries["SAGEMAKER_SESSIONS_EXPIRATION"] = str(inputs.session_ttl_seconds)
    if server == "vllm" and inputs.adapter_ranks:
        entries["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] = "true"
    if server != "sglang" and inputs.host.tiers:
        entries |= _lmcache(inputs)
    if server != "sglang" and inputs.cache.lmcache.auto_config:
        entries["PYTHONHASHSEED"] = "0"
    return entries


def _lmi(inputs: EngineInputs) -> dict[str, Setting]:
    settings: dict[str, Setting] = {"model_loading_timeout": inputs.startup_timeout_seconds}
    if inputs.image.needs_explicit_async:
        settings |= {
            "async_mode": True,
            "rolling_batch": "disable",
            "entrypoint": "djl_python.lmi_vllm.vllm_async_service",
        }
    if inputs.session_ttl_seconds is not None:
        # Guard: LMI reads anything but the word "true" as broken and fails every request; absent means off.
        settings |= {"enable_stateful_sessions": True, "sessions_expiration": inputs.session_ttl_seconds}
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
    if inputs.host.tiers:
        settings["kv_transfer_config"] = {"kv_connector": "LMCacheConnectorV1", "kv_role": "kv_both"}
    if inputs.engine.speculative is not None:
        settings["speculative_config"] = _speculative(inputs.engine.speculative)
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


def _speculative(spec: SpeculativeSpec) -> dict[str, object]:
    config: dict[str, object] = {"method": spec.method}
    if spec.draft is not None:
        config["model"] = f"{MODEL_DIR}/{spec.draft.rstrip('/')}" if spec.draft.endswith("/") else spec.draft
    config["num_speculative_tokens"] = spec.num_speculative_tokens
    if spec.prompt_lookup_max is not None:
        config["prompt_lookup_max"] = spec.prompt_lookup_max
    if spec.prompt_lookup_min is not None:
        config["prompt_lookup_min"] = spec.prompt_lookup_min
    return config


def _sglang(inputs: EngineInputs) -> dict[str, Setting]:
    settings: dict[str, Setting] = {
        "model_path": inputs.model.id if inputs.model.weights.s3 is None else MODEL_DIR,
        "served_model_name": inputs.model.id,
        "enable_cache_report": True,
    }
    hub = inputs.model.weights.hub
    if hub is not None and hub.revision is not None:
        settings["revision"] = hub.revision
    cpu = _tier(inputs.host, "cpu")
    if cpu is not None:
        # hicache_size is GB for one rank; a whole GiB count keeps it below what was planned.
        settings |= {"enable_hierarchical_cache": True, "hicache_size": cpu.bytes_per_worker // GIB}
    return settings


def _tier(host: HostMemoryPlan, kind: str) -> TierPlan | None:
    return next((tier for tier in host.tiers if tier.kind == kind), None)


def _lmcache(inputs: EngineInputs) -> dict[str, str]:
    """LMCache's settings as environment: it overrides a configuration file, so it holds in every image.

    Sizes are GiB for one worker (tensor parallel rank). Source: LMCache 0.5.6 ``lmcache/v1/config.py``.
    """
    cpu, disk = _tier(inputs.host, "cpu"), _tier(inputs.host, "disk")
    entries = {
        "LMCACHE_CHUNK_SIZE": str(inputs.cache.lmcache.chunk_size),
        "LMCACHE_LOCAL_CPU": "False" if cpu is None else "True",
        "LMCACHE_MAX_LOCAL_CPU_SIZE": str(STAGING_POOL_GIB if cpu is None else cpu.bytes_per_worker // GIB),
        # Guard: without one seed every process hashes chunks differently, and nothing is ever found.
        "PYTHONHASHSEED": "0",
    }
    if disk is not None:
        # Guard: three slashes. LMCache strips file://, and two would leave a relative path.
        entries["LMCACHE_LOCAL_DISK"] = LMCACHE_DISK
        entries["LMCACHE_MAX_LOCAL_DISK_SIZE"] = str(disk.bytes_per_worker // GIB)
        if inputs.cache.tiers.disk.direct_io:
            entries["LMCACHE_EXTRA_CONFIG"] = '{"use_odirect":true}'
    return dict(sorted(entries.items()))
