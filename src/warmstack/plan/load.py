"""What a copy of one model has to hold: weights, drafts, adapters, and the bytes of its KV."""

from __future__ import annotations

from warmstack.plan.engine import MAX_LORAS, NAMES, rank_slot
from warmstack.plan.memory import DEFAULT_UTILIZATION, SGLANG_MEM_FRACTION, Load, draft_head_bytes, lora_slot_bytes
from warmstack.plan.options import CheckedOptions, number, whole_number
from warmstack.plan.parameters import parameter_count, weight_bytes
from warmstack.plan.request import Request
from warmstack.spec import CacheSpec, EngineSpec

# Methods that need a checkpoint quantized by them; the others quantize 16-bit weights while loading.
LOADED_FROM_A_CHECKPOINT = frozenset(
    {
        "awq",
        "awq_marlin",
        "gptq",
        "gptq_marlin",
        "modelopt",
        "modelopt_fp8",
        "modelopt_fp4",
        "compressed-tensors",
        "mxfp4",
    }
)
_BYTES_OF_KV_DTYPE = {"fp8": 1, "nvf": 1, "mxf": 1, "int": 1}


def load_of(request: Request, options: CheckedOptions) -> Load:
    """Return what a copy has to hold, with the options that change it."""
    weights = weight_bytes(
        request.shape, dtype=_none_if_auto(request.model.dtype), quantization=request.model.quantization
    )
    share_name = NAMES[request.engine.server]["share"]
    default = SGLANG_MEM_FRACTION if request.engine.server == "sglang" else DEFAULT_UTILIZATION
    kv_dtype = str(options.settings.get("kv_cache_dtype", "auto"))
    adapters = request.component.adapters if request.component is not None else ()
    extra = _draft_bytes(request)
    if adapters:
        slots = whole_number(options.settings, NAMES[request.engine.server]["adapter_slots"]) or MAX_LORAS
        rank = whole_number(options.settings, "max_lora_rank") or rank_slot(max(one.rank for one in adapters))
        extra += slots * lora_slot_bytes(request.shape, rank)
    return Load(
        shape=request.shape,
        parameter_count=parameter_count(request.shape),
        weight_bytes=weights.total_bytes,
        stored_bytes=_stored_bytes(request, weights.total_bytes),
        kv_dtype_bytes=_BYTES_OF_KV_DTYPE.get(kv_dtype[:3], 4 if request.model.dtype == "float32" else 2),
        gpu_memory_utilization=number(options.settings, share_name) or default,
        extra_bytes=extra,
        outside_share=request.engine.server == "sglang",
        windows_grow=uses_lmcache(request.engine, request.cache),
    )


def uses_lmcache(engine: EngineSpec, cache: CacheSpec) -> bool:
    """Return whether the engine runs with LMCache's connector."""
    return engine.server != "sglang" and (cache_has_tiers(cache) or cache.lmcache.auto_config)


def cache_has_tiers(cache: CacheSpec) -> bool:
    """Return whether the spec asks for a tier below the GPU."""
    tiers = cache.tiers
    return tiers.cpu.kind != "none" or tiers.disk.size.kind != "none" or tiers.remote is not None


def _stored_bytes(request: Request, loaded_bytes: int) -> int:
    """Return the bytes of the weights as they lie in S3 or on the hub, which is what a start has to move."""
    if request.model.quantization in LOADED_FROM_A_CHECKPOINT:
        return loaded_bytes
    return weight_bytes(request.shape, dtype=None, quantization=None).total_bytes


def _draft_bytes(request: Request) -> int:
    """Return the bytes of a speculative draft on the GPUs; a draft that the catalog does not know counts nothing."""
    speculative = request.engine.speculative
    if speculative is None or speculative.draft is None:
        return 0
    if speculative.method in ("eagle", "eagle3"):
        return draft_head_bytes(request.shape)
    shape = request.catalog.models.get(speculative.draft)
    known = shape is not None and shape.complete
    return weight_bytes(shape, dtype=None, quantization=None).total_bytes if known and shape is not None else 0


def _none_if_auto(dtype: str) -> str | None:
    return None if dtype == "auto" else dtype
