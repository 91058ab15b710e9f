"""Engine settings as each server's environment."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.plan.specs import SGLANG, VLLM, found, planned
from warmstack.catalog import load_catalog
from warmstack.plan.environment import render_environment, value_text

HUB = {"model": {"weights": {"s3": None, "hub": {"revision": "a1b2c3"}}}}
TIERS = {
    "cache": {"tiers": {"cpu": "40GiB", "disk": {"size": "1TiB", "direct_io": True}}, "lmcache": {"chunk_size": 512}}
}
SESSIONS = {"endpoint": {"sessions": {"ttl": "20m"}, "instances": {"min": 2}}}


def environment(*changes: dict[str, Any]) -> dict[str, str]:
    return dict(planned(*changes).models[0].environment)


def test_lmi() -> None:
    assert environment() == {
        "OPTION_ENABLE_PREFIX_CACHING": "true",
        "OPTION_GPU_MEMORY_UTILIZATION": "0.9",
        "OPTION_MAX_MODEL_LEN": "8192",
        "OPTION_MAX_ROLLING_BATCH_SIZE": "256",
        "OPTION_MODEL_LOADING_TIMEOUT": "660",
        "OPTION_TENSOR_PARALLEL_DEGREE": "4",
    }


def test_vllm() -> None:
    assert environment(VLLM) == {
        "SM_VLLM_ENABLE_PREFIX_CACHING": "true",
        "SM_VLLM_ENABLE_PROMPT_TOKENS_DETAILS": "true",
        "SM_VLLM_GPU_MEMORY_UTILIZATION": "0.9",
        "SM_VLLM_MAX_MODEL_LEN": "8192",
        "SM_VLLM_MAX_NUM_SEQS": "256",
        "SM_VLLM_MODEL": "/opt/ml/model",
        "SM_VLLM_SERVED_MODEL_NAME": "Qwen/Qwen2.5-7B-Instruct",
        "SM_VLLM_TENSOR_PARALLEL_SIZE": "4",
    }


def test_sglang() -> None:
    assert environment(SGLANG) == {
        "SM_SGLANG_CONTEXT_LENGTH": "8192",
        "SM_SGLANG_ENABLE_CACHE_REPORT": "true",
        "SM_SGLANG_MAX_RUNNING_REQUESTS": "256",
        "SM_SGLANG_MEM_FRACTION_STATIC": "0.85",
        "SM_SGLANG_MODEL_PATH": "/opt/ml/model",
        "SM_SGLANG_SERVED_MODEL_NAME": "Qwen/Qwen2.5-7B-Instruct",
        "SM_SGLANG_TP_SIZE": "4",
    }


def test_hub_weights() -> None:
    assert environment(HUB)["HF_MODEL_ID"] == "Qwen/Qwen2.5-7B-Instruct"
    assert environment(HUB)["HF_REVISION"] == "a1b2c3"
    assert environment(VLLM, HUB)["SM_VLLM_MODEL"] == "Qwen/Qwen2.5-7B-Instruct"
    assert environment(VLLM, HUB)["SM_VLLM_REVISION"] == "a1b2c3"
    assert environment(SGLANG, HUB)["SM_SGLANG_MODEL_PATH"] == "Qwen/Qwen2.5-7B-Instruct"
    assert environment(SGLANG, HUB)["SM_SGLANG_REVISION"] == "a1b2c3"


def test_sessions() -> None:
    lmi = environment(SESSIONS)
    assert (lmi["OPTION_ENABLE_STATEFUL_SESSIONS"], lmi["OPTION_SESSIONS_EXPIRATION"]) == ("true", "1200")
    vllm = environment(SESSIONS, VLLM)
    assert vllm["SAGEMAKER_ENABLE_STATEFUL_SESSIONS"] == "true"
    assert vllm["SAGEMAKER_SESSIONS_EXPIRATION"] == "1200"


def test_sessions_off_is_absent_never_false() -> None:
    """LMI fails every request when the setting is anything but the word true."""
    assert not [key for key in environment() if "SESSIONS" in key]


@pytest.mark.parametrize("server", [{}, VLLM])
def test_lmcache_comes_with_its_connector(server: dict[str, Any]) -> None:
    entries = environment(server, TIERS)
    prefix = "SM_VLLM_" if server else "OPTION_"
    assert json.loads(entries[f"{prefix}KV_TRANSFER_CONFIG"]) == {
        "kv_connector": "LMCacheConnectorV1",
        "kv_role": "kv_both",
    }
    assert {key: value for key, value in entries.items() if key.startswith(("LMCACHE", "PYTHON"))} == {
        "LMCACHE_CHUNK_SIZE": "512",
        "LMCACHE_EXTRA_CONFIG": '{"use_odirect":true}',
        "LMCACHE_LOCAL_CPU": "True",
        "LMCACHE_LOCAL_DISK": "file:///tmp/lmcache/",
        "LMCACHE_MAX_LOCAL_CPU_SIZE": "10",
        "LMCACHE_MAX_LOCAL_DISK_SIZE": "256",
        "PYTHONHASHSEED": "0",
    }


def test_a_disk_tier_alone_keeps_a_staging_pool() -> None:
    entries = environment({"cache": {"tiers": {"disk": "1TiB"}}})
    assert (entries["LMCACHE_LOCAL_CPU"], entries["LMCACHE_MAX_LOCAL_CPU_SIZE"]) == ("False", "5")


def test_sglang_has_its_own_tier() -> None:
    entries = environment(SGLANG, {"cache": {"tiers": {"cpu": "40GiB"}}})
    assert entries["SM_SGLANG_ENABLE_HIERARCHICAL_CACHE"] == "true"
    assert entries["SM_SGLANG_HICACHE_SIZE"] == "10"
    assert not [key for key in entries if key.startswith("LMCACHE")]


def test_auto_config_is_lmis_own() -> None:
    entries = environment({"cache": {"lmcache": {"auto_config": True}}})
    assert entries["OPTION_LMCACHE_AUTO_CONFIG"] == "true"
    assert entries["PYTHONHASHSEED"] == "0"
    assert "OPTION_KV_TRANSFER_CONFIG" not in entries


def test_adapters() -> None:
    adapters = [
        {"name": f"a{i}", "artifact": f"s3://acme/a{i}.tar.gz", "rank": rank} for i, rank in enumerate((8, 24, 16))
    ]
    component = {"components": [{"name": "one", "adapters": adapters}]}
    lmi = environment(component)
    assert {key: lmi[key] for key in lmi if "LORA" in key} == {
        "OPTION_ENABLE_LORA": "true",
        "OPTION_MAX_CPU_LORAS": "32",
        "OPTION_MAX_LORAS": "4",
        "OPTION_MAX_LORA_RANK": "32",
    }
    fewer = {"components": [{"name": "one", "adapters": adapters[1:]}]}
    assert environment(fewer) == lmi  # the count must not reach the Model: every copy would start again
    vllm = environment(component, VLLM)
    assert vllm["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] == "true"
    assert vllm["SM_VLLM_ENABLE_LORA"] == "true"


def test_speculative_decoding() -> None:
    folder = environment(VLLM, {"engine": {"speculative": {"method": "eagle3", "draft": "drafts/eagle3/"}}})
    assert json.loads(folder["SM_VLLM_SPECULATIVE_CONFIG"]) == {
        "method": "eagle3",
        "model": "/opt/ml/model/drafts/eagle3",
        "num_speculative_tokens": 4,
    }
    ngram = environment(
        {"engine": {"speculative": {"method": "ngram", "prompt_lookup_max": 4, "prompt_lookup_min": 2}}}
    )
    assert json.loads(ngram["OPTION_SPECULATIVE_CONFIG"]) == {
        "method": "ngram",
        "num_speculative_tokens": 4,
        "prompt_lookup_max": 4,
        "prompt_lookup_min": 2,
    }


def test_old_lmi_needs_the_async_handler_named() -> None:
    entries = environment({"engine": {"version": "0.34.0-lmi16.0.0-cu128"}})
    assert entries["OPTION_ASYNC_MODE"] == "true"
    assert entries["OPTION_ROLLING_BATCH"] == "disable"
    assert entries["OPTION_ENTRYPOINT"] == "djl_python.lmi_vllm.vllm_async_service"


def test_typed_fields() -> None:
    typed = {"model": {"dtype": "bfloat16", "quantization": "fp8"}}
    assert environment(typed)["OPTION_QUANTIZE"] == "fp8"
    assert environment(typed)["OPTION_DTYPE"] == "bfloat16"
    assert environment(typed, VLLM)["SM_VLLM_QUANTIZATION"] == "fp8"


def test_options_stand_over_defaults() -> None:
    options = {"engine": {"options": {"max_num_seqs": 8, "gpu_memory_utilization": 0.7, "enforce_eager": True}}}
    entries = environment(options)
    assert entries["OPTION_MAX_ROLLING_BATCH_SIZE"] == "8"
    assert entries["OPTION_GPU_MEMORY_UTILIZATION"] == "0.7"
    assert entries["OPTION_ENFORCE_EAGER"] == "true"
    assert "OPTION_MAX_NUM_SEQS" not in entries


def test_false_is_written_as_each_image_reads_it() -> None:
    off = {"engine": {"options": {"enable_prefix_caching": False}}}
    assert environment(off)["OPTION_ENABLE_PREFIX_CACHING"] == "false"
    vllm = environment(VLLM, off)
    assert vllm["SM_VLLM_NO_ENABLE_PREFIX_CACHING"] == "true"
    assert "SM_VLLM_ENABLE_PREFIX_CACHING" not in vllm
    absent = environment(VLLM, {"engine": {"options": {"disable_log_stats": False}}})
    assert not [key for key in absent if "LOG_STATS" in key]


def test_rendered_settings_are_flags_of_the_server() -> None:
    """What we render by ourselves passes the test that a user's option has to pass."""
    for server in ({}, VLLM, SGLANG):
        model = planned(server, TIERS if server != SGLANG else {}).models[0]
        known = load_catalog().flags[model.server].flags
        assert set(model.engine_settings) <= set(known), model.server


@given(value=st.text(max_size=40))
def test_a_value_is_one_entry_or_refused(value: str) -> None:
    """No value can add an entry: it is one environment value, byte for byte, or it is refused."""
    catalog = load_catalog()
    for server in ("lmi", "vllm", "sglang"):
        image = catalog.image(server)
        entries, problems = render_environment(image, catalog.flags[server], {"chat_template": value})
        assert list(entries.values()) == [value]
        broken = any(one in value for one in "\n\r\0") or (server == "vllm" and "%" in value)
        assert bool(problems) == broken


@given(
    value=st.recursive(
        st.booleans() | st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner, max_size=3)
    )
)
def test_json_values_read_back(value: object) -> None:
    if isinstance(value, dict):
        assert json.loads(value_text(value)) == value
        assert "\n" not in value_text(value)


def test_limits_are_errors() -> None:
    many = {"engine": {"options": {"additional_config": {"x": "y" * 1100}}}}
    assert [one.check for one in found(VLLM, many) if one.severity == "error"] == ["WS086"]


def test_direct_io_is_rendered_for_whole_blocks_only() -> None:
    """A chunk of 34 tokens is 119 blocks of 4096 bytes a worker, one of 33 is not a whole number of them."""
    disk = {"tiers": {"disk": {"size": "1TiB", "direct_io": True}}}
    for chunk_size, expected in ((34, '{"use_odirect":true}'), (33, None)):
        (served,) = planned({"cache": disk}, {"cache": {"lmcache": {"chunk_size": chunk_size}}}).models
        assert served.environment.get("LMCACHE_EXTRA_CONFIG") == expected
