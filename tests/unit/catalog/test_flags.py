"""Flag tables: what each server knows, what it drops, and the near names."""

from __future__ import annotations

import pytest

from warmstack.catalog import Flag, load_catalog

FLAGS = load_catalog().flags
KINDS = {"bool", "int", "float", "str", "json"}


def test_there_is_a_table_for_each_server() -> None:
    assert set(FLAGS) == {"lmi", "vllm", "sglang"}
    assert {table.server for table in FLAGS.values()} == set(FLAGS)


def test_the_tables_are_whole() -> None:
    # 316 options of vLLM 0.32.0 without --help; 531 of SGLang 0.5.23.
    assert len({flag.name for flag in FLAGS["vllm"].flags.values()}) == 316
    assert len({flag.name for flag in FLAGS["sglang"].flags.values()}) == 531


@pytest.mark.parametrize("server", ["lmi", "vllm", "sglang"])
def test_every_row_is_well_formed(server: str) -> None:
    table = FLAGS[server]
    for name, flag in table.flags.items():
        assert name == flag.name or name in flag.aliases
        assert flag.kind in KINDS
        assert not name.startswith(("-", "no_")) or flag.name == name
        assert "-" not in name
        assert not (flag.has_no_form and flag.kind != "bool"), name
    assert not table.flags.keys() & table.removed.keys()


def test_flags_of_vllm() -> None:
    flags = FLAGS["vllm"].flags
    assert flags["max_num_seqs"].kind == "int"
    assert flags["max_model_len"].kind == "int"
    assert flags["gpu_memory_utilization"].kind == "float"
    assert flags["kv_offloading_size"].kind == "float"
    assert flags["max_cpu_loras"].kind == "int"
    assert flags["kv_transfer_config"].kind == "json"
    assert flags["hf_overrides"].kind == "json"
    assert flags["served_model_name"].repeated
    assert "spawn" not in flags["kv_cache_dtype"].choices
    assert {"auto", "fp8"} <= set(flags["kv_cache_dtype"].choices)
    assert flags["enable_prefix_caching"] == Flag(
        name="enable_prefix_caching",
        choices=(),
        kind="bool",
        has_no_form=True,
        repeated=False,
        aliases=(),
    )
    assert not flags["disable_log_stats"].has_no_form


@pytest.mark.parametrize(
    "name", ["swap_space", "task", "enable_reasoning", "disable_log_requests", "lora_extra_vocab_size"]
)
def test_names_that_vllm_dropped_say_what_took_their_place(name: str) -> None:
    assert name not in FLAGS["vllm"].flags
    assert FLAGS["vllm"].removed[name].startswith("vLLM no longer has it")


@pytest.mark.parametrize(
    "name",
    [
        "max_rolling_batch_size",
        "max_num_batched_tokens",
        "lmcache_config_file",
        "kv_transfer_config",
        "enable_prefix_caching",
        "max_lora_rank",
        "chat_template",
        "tool_call_parser",
        "enable_auto_tool_choice",
        "reasoning_parser",
        "chat_template_content_format",
        "model_loading_timeout",
        "rolling_batch",
        "async_mode",
        "entrypoint",
        "entryPoint",
        "mpi_mode",
    ],
)
def test_lmi_knows_its_own_keys_and_the_engine_arguments(name: str) -> None:
    assert name in FLAGS["lmi"].flags


@pytest.mark.parametrize(
    "name", ["api_key", "lora_modules", "middleware", "enable_log_requests", "host", "response_role"]
)
def test_lmi_drops_the_front_end_flags_of_vllm(name: str) -> None:
    assert name in FLAGS["vllm"].flags
    assert name not in FLAGS["lmi"].flags


@pytest.mark.parametrize("name", ["output_formatter", "spec_length", "swap_space", "enable_reasoning"])
def test_keys_without_effect_in_lmi_are_removed_with_the_reason(name: str) -> None:
    assert name not in FLAGS["lmi"].flags
    assert FLAGS["lmi"].removed[name]


def test_an_alias_leads_to_its_flag() -> None:
    assert FLAGS["lmi"].flags["quantization"].name == "quantize"
    assert FLAGS["lmi"].flags["max_num_batched_tokens"].name == "max_rolling_batch_prefill_tokens"
    assert FLAGS["sglang"].flags["tensor_parallel_size"].name == "tp_size"
    assert FLAGS["sglang"].flags["enable_hicache"].name == "enable_hierarchical_cache"


def test_flags_of_sglang() -> None:
    flags = FLAGS["sglang"].flags
    assert flags["mem_fraction_static"].kind == "float"
    assert flags["context_length"].kind == "int"
    assert flags["disable_radix_cache"].kind == "bool"
    assert flags["schedule_policy"].choices[:2] == ("lpm", "random")
    assert flags["radix_eviction_policy"].choices == ("lru", "lfu", "slru", "priority", "tlru")
    assert flags["radix_eviction_policy_config"].kind == "json"
    assert flags["reasoning_parser"].choices[0] == "auto"
    assert "qwen3" in flags["reasoning_parser"].choices
    assert set(flags["sampling_backend"].choices) == {"flashinfer", "pytorch", "ascend", "intel_xpu"}
    assert flags["lora_paths"].repeated
    assert "watermark_key" not in flags


@pytest.mark.parametrize(
    ("server", "asked", "meant"),
    [
        ("vllm", "max_num_seq", "max_num_seqs"),
        ("vllm", "gpu-memory-utilisation", "gpu_memory_utilization"),
        ("sglang", "chunked_prefil_size", "chunked_prefill_size"),
        ("lmi", "lmcache_autoconfig", "lmcache_auto_config"),
    ],
)
def test_a_near_name_is_suggested_first(server: str, asked: str, meant: str) -> None:
    assert FLAGS[server].suggest(asked)[0] == meant


def test_a_name_like_none_has_no_suggestion() -> None:
    assert FLAGS["vllm"].suggest("zzzzzz") == ()
