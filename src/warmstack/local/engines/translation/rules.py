"""Which of vLLM's settings the local engine keeps, and why it goes without the others."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

KEPT = frozenset(
    {
        "chat_template_content_format",
        "default_chat_template_kwargs",
        "enable_auto_tool_choice",
        "enable_chunked_prefill",
        "enable_force_include_usage",
        "enable_log_deltas",
        "enable_log_outputs",
        "enable_log_requests",
        "enable_lora",
        "enable_per_request_metrics",
        "enable_prefix_caching",
        "enable_prompt_tokens_details",
        "enable_request_id_headers",
        "enable_server_load_tracking",
        "exclude_tools_when_tool_choice_none",
        "logprobs_mode",
        "max_cpu_loras",
        "max_log_len",
        "max_logprobs",
        "max_lora_rank",
        "max_loras",
        "max_num_queued_reqs",
        "max_num_queued_tokens",
        "override_generation_config",
        "prefix_caching_hash_algo",
        "response_role",
        "return_tokens_as_token_ids",
        "scheduling_policy",
        "seed",
        "served_model_name",
        "stream_interval",
        "structured_outputs_config",
        "trust_request_chat_template",
    }
)
"""What a client can notice, and what works on a CPU as on a GPU."""

ONE_PROCESS = "a local copy is one process on the CPU"
FLOAT32 = "the local engine computes in float32, without quantization"
BLOCKS = "a block has 128 tokens on a CPU"
CACHE_SIZE = "the local KV cache has a size of its own"
STAND_IN = "a small model stands in for the weights, which are not here"
NOT_COMPILED = "the local engine compiles nothing and has no kernels of a GPU"
LOOPBACK = "where a local copy listens, and how it is reached, is the platform's part"
UNTRIED = "it was not tried on a CPU, and what it does is not reproduced here"

_WHY: Mapping[str, tuple[str, ...]] = {
    ONE_PROCESS: (
        "all2all_backend",
        "api_server_count",
        "data_parallel_*",
        "dcp_*",
        "decode_context_parallel_size",
        "disable_custom_all_reduce",
        "distributed_*",
        "enable_eplb",
        "enable_expert_parallel",
        "expert_placement_strategy",
        "fully_sharded_loras",
        "master_*",
        "nnodes",
        "node_rank",
        "numa_*",
        "pipeline_parallel_size",
        "prefill_context_parallel_size",
        "tensor_parallel_size",
        "worker_*",
    ),
    FLOAT32: ("allow_deprecated_quantization", "dtype", "kv_cache_dtype*", "lora_dtype", "mamba_*", "quantization*"),
    CACHE_SIZE: (
        "cpu_offload_*",
        "gpu_memory_utilization",
        "kv_cache_memory_bytes",
        "kv_offloading_*",
        "num_gpu_blocks_override",
        "offload_*",
    ),
    BLOCKS: ("block_size",),
    STAND_IN: (
        "allowed_local_media_path",
        "allowed_media_domains",
        "code_revision",
        "config_format",
        "download_dir",
        "generation_config",
        "hf_*",
        "ignore_patterns",
        "limit_mm_per_prompt",
        "load_format",
        "media_*",
        "mm_*",
        "model",
        "model_*",
        "pt_load_map_location",
        "revision",
        "runner",
        "safetensors_*",
        "skip_mm_profiling",
        "tokenizer*",
        "trust_remote_code",
        "video_*",
    ),
    NOT_COMPILED: (
        "async_scheduling",
        "attention_*",
        "compilation_config",
        "cudagraph_*",
        "enable_flashinfer_autotune",
        "enforce_eager",
        "kernel_config",
        "linear_backend",
        "max_cudagraph_capture_size",
        "moe_backend",
        "optimization_level",
    ),
    LOOPBACK: (
        "allow_credentials",
        "allowed_headers",
        "allowed_methods",
        "allowed_origins",
        "api_key",
        "grpc*",
        "headless",
        "host",
        "port",
        "root_path",
        "ssl_*",
        "uds",
    ),
}

INSTEAD: Mapping[str, str] = {
    "block_size": "128",
    "data_parallel_size": "1",
    "dtype": "float32",
    "enforce_eager": "true",
    "pipeline_parallel_size": "1",
    "tensor_parallel_size": "1",
}
"""What the local engine does in the place of a setting. One that says the same is not reported."""


def reason(name: str) -> str:
    """Return why the local engine goes without a setting.

    Args:
        name: vLLM's name of it.
    """
    for why, patterns in _WHY.items():
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            return why
    return UNTRIED
