"""Each server's environment, as arguments of the local engine and a report of what differs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstack.catalog import load_catalog
from warmstack.local.engines.models import LocalModel
from warmstack.local.engines.translation import Tiers, Translation, TranslationRequest, translate

TABLES = load_catalog().flags
SMALL = LocalModel(
    folder=Path("/models/small"),
    longest_tokens=32768,
    layers=6,
    hidden_size=256,
    query_size=256,
    key_value_size=128,
    stands_in=True,
)
OWN = LocalModel(
    folder=Path("/models/own"), longest_tokens=4096, layers=2, hidden_size=64, query_size=64, key_value_size=64
)


def translated(server: Any, environment: Mapping[str, str], **changes: Any) -> Translation:
    given = {"server": server, "environment": environment, "model": SMALL, "tables": TABLES, **changes}
    return translate(TranslationRequest(**given))


def said(translation: Translation) -> dict[str, str]:
    """Return the report without what is in every one."""
    lines = {one.setting: f"{one.used}: {one.why}" for one in translation.replacements}
    return {name: line for name, line in lines.items() if "a small random model" not in line}


ALWAYS = ["--enable-prompt-tokens-details", "--kv-cache-memory-bytes", str(256 << 20)]


def test_a_vllm_image_without_settings() -> None:
    found = translated("vllm", {})
    names = ["--served-model-name", "/opt/ml/model", "--max-model-len", "32768", "--max-num-seqs", "64"]
    assert list(found.arguments) == [*names, *ALWAYS]
    assert (found.environment, found.tiers, found.model_name, found.max_model_len) == ({}, None, "/opt/ml/model", 32768)
    (only,) = found.replacements
    assert str(only).startswith("the model=/opt/ml/model: here a small random model; a small model stands in for the")


@pytest.mark.parametrize(
    ("server", "environment", "expected"),
    [
        ("lmi", {"OPTION_MAX_ROLLING_BATCH_SIZE": "16", "OPTION_MAX_MODEL_LEN": "8192"}, "--max-num-seqs 16"),
        ("lmi", {}, "--max-num-seqs 32"),
        ("lmi", {"MAX_BATCH_SIZE": "8"}, "--max-num-seqs 8"),
        ("lmi", {"MAX_BATCH_SIZE": "8", "OPTION_MAX_ROLLING_BATCH_SIZE": "16"}, "--max-num-seqs 16"),
        ("lmi", {"OPTION_MAX_ROLLING_BATCH_PREFILL_TOKENS": "4096"}, "--max-num-batched-tokens 4096"),
        ("lmi", {"OPTION_ENABLE_LORA": "true"}, "--max-loras 4 --enable-lora"),
        ("lmi", {"OPTION_ENABLE_LORA": "true", "OPTION_MAX_LORAS": "2"}, "--enable-lora --max-loras 2"),
        ("lmi", {"OPTION_ENABLE_PREFIX_CACHING": "false"}, "--no-enable-prefix-caching"),
        ("lmi", {"OPTION_MAX_MODEL_LEN": "", "OPTION_ENABLE_STATEFUL_SESSIONS": "true"}, "--served-model-name lmi"),
        ("vllm", {"SM_VLLM_MAX_MODEL_LEN": "16k"}, "--max-model-len 16000"),
        ("vllm", {"SM_VLLM_MAX_MODEL_LEN": "1K"}, "--max-model-len 1024"),
        ("vllm", {"SM_VLLM_MAX_MODEL_LEN": "auto"}, "--max-model-len 32768"),
        ("vllm", {"SM_VLLM_MAX_MODEL_LEN": "-1"}, "--max-model-len 32768"),
        ("vllm", {"SM_VLLM_NO_ENABLE_PREFIX_CACHING": "true"}, "--no-enable-prefix-caching"),
        ("vllm", {"SM_VLLM_ENABLE_PREFIX_CACHING": ""}, "--enable-prefix-caching"),
        ("vllm", {"SM_VLLM_ENABLE_PREFIX_CACHING": "false"}, "--max-num-seqs 64 --enable-prompt-tokens"),
        ("vllm", {"SM_VLLM_SERVED_MODEL_NAME": '["a", "b"]'}, "--served-model-name a b"),
        ("vllm", {"SM_VLLM_MODEL": "acme/model"}, "--served-model-name acme/model"),
        ("vllm", {"SM_VLLM_NO_ENABLE_CHUNKED_PREFILL": "true"}, "--max-num-batched-tokens 32768"),
        ("vllm", {"SM_VLLM_STREAM_INTERVAL": "2", "SM_VLLM_SEED": "7"}, "--seed 7 --stream-interval 2"),
        ("vllm", {"SM_VLLM_ENFORCE_EAGER": "true", "SM_VLLM_TENSOR_PARALLEL_SIZE": "1"}, " ".join(ALWAYS)),
        (
            "vllm",
            {"SM_VLLM_ENABLE_LORA": "true", "SM_VLLM_MAX_LORA_RANK": "16", "SM_VLLM_MAX_CPU_LORAS": "8"},
            "--enable-lora --max-cpu-loras 8 --max-lora-rank 16",
        ),
        (
            "vllm",
            {"SM_VLLM_SPECULATIVE_CONFIG": '{"method":"ngram","num_speculative_tokens":3,"prompt_lookup_max":4}'},
            '--speculative-config {"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 4}',
        ),
        (
            "vllm",
            {"SM_VLLM_SPEC_METHOD": "ngram", "SM_VLLM_SPEC_TOKENS": "3"},
            '--speculative-config {"method": "ngram", "num_speculative_tokens": 3}',
        ),
        ("sglang", {"SM_SGLANG_CONTEXT_LENGTH": "4096"}, "--max-model-len 4096"),
        ("sglang", {"SM_SGLANG_MAX_RUNNING_REQUESTS": "9"}, "--max-num-seqs 9"),
        ("sglang", {"SM_SGLANG_DISABLE_RADIX_CACHE": "true"}, "--no-enable-prefix-caching"),
        ("sglang", {"SM_SGLANG_CHUNKED_PREFILL_SIZE": "2048"}, "--max-num-batched-tokens 2048"),
        ("sglang", {"SM_SGLANG_ENABLE_LORA": "true", "SM_SGLANG_MAX_LORAS_PER_BATCH": "3"}, "--max-loras 3"),
        ("sglang", {"SM_SGLANG_ENABLE_CACHE_REPORT": "true"}, "--enable-prompt-tokens-details"),
        (
            "sglang",
            {"SM_SGLANG_SPECULATIVE_ALGORITHM": "NGRAM", "SM_SGLANG_SPECULATIVE_NUM_DRAFT_TOKENS": "6"},
            '--speculative-config {"method": "ngram", "num_speculative_tokens": 5}',
        ),
    ],
)
def test_what_is_kept(server: str, environment: Mapping[str, str], expected: str) -> None:
    found = translated(server, environment)
    assert expected in " ".join(found.arguments)
    assert said(found) == {}


@pytest.mark.parametrize(
    ("server", "environment", "report"),
    [
        ("lmi", {"OPTION_TENSOR_PARALLEL_DEGREE": "4"}, "1: a local copy is one process on the CPU"),
        ("lmi", {"SM_NUM_GPUS": "2"}, "1: a local copy is one process on the CPU"),
        ("lmi", {"OPTION_DTYPE": "bf16"}, "float32: the local engine computes in float32, without quantization"),
        ("lmi", {"OPTION_QUANTIZE": "fp8"}, "None: the local engine computes in float32, without quantization"),
        ("lmi", {"OPTION_MAX_MODEL_LEN": "40000"}, "32768: the local model reads 32768 tokens at most"),
        ("lmi", {"OPTION_MAX_NUM_SEQS": "256"}, "64: few cores serve all copies"),
        ("lmi", {"OPTION_MAX_ROLLING_BATCH_SIZE": "many"}, "None: it is no number above zero"),
        ("lmi", {"OPTION_SWAP_SPACE": "4"}, "None: vLLM no longer has it, and LMI drops it without a word"),
        (
            "lmi",
            {"OPTION_MAX_MODEL_LENGTH": "4"},
            "None: LMI drops it without a word: it is no setting of LMI's, and no engine argument of vLLM; did you",
        ),
        ("vllm", {"SM_VLLM_MAX_MODEL_LEN": "long"}, "32768: it is no number of tokens"),
        ("vllm", {"SM_VLLM_MAX_NUM_BATCHED_TOKENS": "90000"}, "16384: few cores serve all copies"),
        ("vllm", {"SM_VLLM_MAX_NUM_BATCHED_TOKENS": "8"}, "None: it is less than one token for each sequence"),
        ("vllm", {"SM_VLLM_GPU_MEMORY_UTILIZATION": "0.9"}, "None: the local KV cache has a size of its own"),
        ("vllm", {"SM_VLLM_BLOCK_SIZE": "16"}, "128: a block has 128 tokens on a CPU"),
        ("vllm", {"SM_VLLM_KV_CACHE_DTYPE": "fp8"}, "None: the local engine computes in float32, without quantization"),
        ("vllm", {"SM_VLLM_ATTENTION_BACKEND": "FLASH_ATTN"}, "None: the local engine compiles nothing and has no"),
        ("vllm", {"SM_VLLM_ROOT_PATH": "/x"}, "None: where a local copy listens, and how it is reached, is the"),
        ("vllm", {"SM_VLLM_ENABLE_MFU_METRICS": "true"}, "None: it was not tried on a CPU, and what it does is not"),
        ("vllm", {"SM_VLLM_MAX_LORA_RANK": "7", "SM_VLLM_ENABLE_LORA": "true"}, "None: it is none of 1, 8, 16,"),
        ("vllm", {"SM_VLLM_SEED": "x"}, "None: it is no whole number; the container would not start with it"),
        ("vllm", {"SM_VLLM_SEED": ""}, "None: it has no value; the container would not start with it"),
        ("vllm", {"SM_VLLM_SWAP_SPACE": "4"}, "None: vLLM no longer has it (KV offloading took its place), and the"),
        (
            "vllm",
            {"SM_VLLM_MAX_NUM_SEQ": "4"},
            "None: vLLM does not know it, and the container would not start with it; did you mean max_num_seqs?",
        ),
        ("vllm", {"SM_VLLM_TOOL_CALL_PARSER": "hermes"}, "pythonic: the local model's tokenizer lacks its tokens"),
        ("vllm", {"SM_VLLM_REASONING_PARSER": "deepseek_r1"}, "None: the local model does not reason"),
        ("vllm", {"SM_VLLM_CHAT_TEMPLATE": "/opt/warmstack/x"}, "the local model's own: the file is not in the build"),
        (
            "vllm",
            {"SM_VLLM_SPECULATIVE_CONFIG": '{"method":"eagle3","model":"x"}'},
            "None: the draft model is not here, and the small model has none",
        ),
        ("vllm", {"SM_VLLM_SPECULATIVE_CONFIG": "{"}, "None: the draft model is not here"),
        ("vllm", {"SM_VLLM_SPEC_METHOD": "eagle"}, "None: the draft model is not here"),
        ("vllm", {"VLLM_ATTENTION_BACKEND": "X"}, "None: it sets up vLLM for a GPU, and was not tried on a CPU"),
        ("sglang", {"SM_SGLANG_TP_SIZE": "4"}, "1: a local copy is one process on the CPU"),
        ("sglang", {"SM_SGLANG_PAGE_SIZE": "64"}, "128: a block has 128 tokens on a CPU"),
        ("sglang", {"SM_SGLANG_SCHEDULE_POLICY": "lpm"}, "None: the local engine is vLLM, which has no counterpart"),
        ("sglang", {"SM_SGLANG_TOOL_CALL_PARSER": "qwen25"}, "pythonic: the local model's tokenizer lacks its tokens"),
        ("sglang", {"SM_SGLANG_SPECULATIVE_ALGORITHM": "EAGLE3"}, "None: the draft model is not here"),
        (
            "sglang",
            {"SM_SGLANG_CONTEXT_LEN": "4"},
            "None: SGLang does not know it, and the container would not start with it; did you mean context_length?",
        ),
    ],
)
def test_what_differs_is_reported(server: str, environment: Mapping[str, str], report: str) -> None:
    found = said(translated(server, environment))
    variable = next(iter(environment))
    assert list(found) == [variable]
    assert found[variable].startswith(report)


def test_a_small_cache_shortens_sequences() -> None:
    found = translated("vllm", {"SM_VLLM_MAX_MODEL_LEN": "16384"}, kv_cache_bytes=32 << 20)
    assert said(found) == {"SM_VLLM_MAX_MODEL_LEN": "5248: the local KV cache holds 5248 tokens"}
    assert found.max_model_len == 5248 == 41 * 128


def test_a_model_of_ones_own_keeps_its_parsers() -> None:
    environment = {
        "SM_VLLM_TOOL_CALL_PARSER": "hermes",
        "SM_VLLM_REASONING_PARSER": "qwen3",
        "SM_VLLM_MODEL": "acme/model",
    }
    found = translated("vllm", environment, model=OWN)
    assert "--tool-call-parser hermes --reasoning-parser qwen3" in " ".join(found.arguments)
    assert said(found) == {"SM_VLLM_MODEL": "/models/own: it was named for this machine"}
    other = translated(
        "sglang", {"SM_SGLANG_TOOL_CALL_PARSER": "qwen25", "SM_SGLANG_REASONING_PARSER": "odd"}, model=OWN
    )
    assert "--enable-auto-tool-choice --tool-call-parser pythonic" in " ".join(other.arguments)
    assert said(other)["SM_SGLANG_REASONING_PARSER"] == "None: vLLM has none of this name"


def test_secrets_are_not_shown() -> None:
    found = translated("vllm", {"SM_VLLM_API_KEY": "hunter2", "SM_VLLM_HF_TOKEN": "hunter2", "HF_TOKEN": "hunter2"})
    assert "hunter2" not in " ".join([*found.arguments, *map(str, found.replacements), *found.environment.values()])
    assert len(said(found)) == 2


@pytest.mark.parametrize("text", ["{{ messages }}", "/opt/warmstack/models/model/chat_template.jinja"])
def test_the_chat_template_is_a_text_or_a_carried_file(text: str) -> None:
    found = translated("vllm", {"SM_VLLM_CHAT_TEMPLATE": text}, carried=lambda path: Path("/context", Path(path).name))
    given = text if "{" in text else "/context/chat_template.jinja"
    assert found.arguments[found.arguments.index("--chat-template") + 1] == given
    assert said(found) == {}


def test_what_the_vllm_container_itself_reads() -> None:
    environment = {
        "SAGEMAKER_ENABLE_STATEFUL_SESSIONS": "true",
        "SAGEMAKER_SESSIONS_EXPIRATION": "60",
        "SAGEMAKER_SESSIONS_PATH": "/dev/shm/x",
        "SAGEMAKER_TRANSFORMS_CREATE_SESSION_DEFAULTS": "{}",
        "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "true",
        "CUSTOM_FASTAPI_MIDDLEWARE_PRE_POST_PROCESS": "/opt/warmstack/formatters/vllm_script.py:FormatterMiddleware",
        "CUSTOM_SCRIPT_FILENAME": "code/model.py",
        "WARMSTACK_FORMATTERS": "/opt/warmstack/models/model/formatters.py",
        "AWS_SECRET_ACCESS_KEY": "x",
    }

    def carried(path: str) -> Path | None:
        return Path("/context", path.removeprefix("/opt/warmstack/")) if path.startswith("/opt/warmstack/") else None

    found = translated("vllm", environment, carried=carried)
    assert found.environment == {
        "SAGEMAKER_ENABLE_STATEFUL_SESSIONS": "true",
        "SAGEMAKER_SESSIONS_EXPIRATION": "60",
        "SAGEMAKER_TRANSFORMS_CREATE_SESSION_DEFAULTS": "{}",
        "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "true",
        "CUSTOM_FASTAPI_MIDDLEWARE_PRE_POST_PROCESS": "/context/formatters/vllm_script.py:FormatterMiddleware",
        "WARMSTACK_FORMATTERS": "/context/models/model/formatters.py",
    }
    assert said(found) == {"CUSTOM_SCRIPT_FILENAME": "None: its file is not in the build context of the image"}
    assert translated("lmi", environment).environment == {"VLLM_ALLOW_RUNTIME_LORA_UPDATING": "true"}


CONNECTOR = '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'
SERVER = "on a CPU LMCache runs as a server beside the copies of an instance, with small tiers"
FILE = """# LMCache for models/model
chunk_size: 300  # tokens
local_cpu: false
local_disk: "file:///tmp/lmcache/"
max_local_disk_size: 64
extra_config:
  max_local_disk_size: 0
remote_url: 'redis://kv:6379'
"""


@pytest.mark.parametrize(
    ("server", "environment", "tiers", "report"),
    [
        ("vllm", {"SM_VLLM_KV_TRANSFER_CONFIG": CONNECTOR}, Tiers(), {"SM_VLLM_KV_TRANSFER_CONFIG": SERVER}),
        (
            "lmi",
            {
                "OPTION_KV_TRANSFER_CONFIG": CONNECTOR,
                "LMCACHE_LOCAL_DISK": "file:///tmp/lmcache/",
                "LMCACHE_MAX_LOCAL_DISK_SIZE": "512",
                "LMCACHE_CHUNK_SIZE": "512",
            },
            Tiers(chunk_tokens=512, disk=True),
            {"OPTION_KV_TRANSFER_CONFIG": SERVER},
        ),
        (
            "lmi",
            {"OPTION_KV_TRANSFER_CONFIG": CONNECTOR, "LMCACHE_LOCAL_DISK": "file:///tmp/lmcache/"},
            Tiers(),
            {"OPTION_KV_TRANSFER_CONFIG": SERVER},
        ),
        (
            "lmi",
            {"OPTION_KV_TRANSFER_CONFIG": CONNECTOR, "OPTION_LMCACHE_CONFIG_FILE": "/opt/warmstack/lmcache.yaml"},
            Tiers(chunk_tokens=384, disk=True),
            {
                "OPTION_KV_TRANSFER_CONFIG": SERVER,
                "chunk_size": "a chunk holds whole blocks, and a block has 128 tokens on a CPU",
                "local_cpu": "LMCache's server keeps its first tier in memory",
                "remote_url": "no remote tier is reached from here",
            },
        ),
        (
            "vllm",
            {
                "SM_VLLM_KV_TRANSFER_CONFIG": CONNECTOR,
                "LMCACHE_CONFIG_FILE": "/opt/warmstack/lmcache.yaml",
                "LMCACHE_CHUNK_SIZE": "256",
                "LMCACHE_REMOTE_URL": "",
                "LMCACHE_LOCAL_CPU": "True",
                "LMCACHE_MAX_LOCAL_DISK_SIZE": "a lot",
            },
            Tiers(),
            {"SM_VLLM_KV_TRANSFER_CONFIG": SERVER},
        ),
        (
            "vllm",
            {"SM_VLLM_KV_TRANSFER_CONFIG": CONNECTOR, "LMCACHE_CONFIG_FILE": "/elsewhere.yaml"},
            Tiers(),
            {
                "SM_VLLM_KV_TRANSFER_CONFIG": SERVER,
                "LMCACHE_CONFIG_FILE": "the file is not in the build context of the image; LMCache's defaults are used",
            },
        ),
        (
            "vllm",
            {"LMCACHE_LOCAL_CPU": "True"},
            None,
            {"LMCACHE_LOCAL_CPU": "LMCache does nothing without kv_transfer_config, which names vLLM's connector"},
        ),
        (
            "vllm",
            {"SM_VLLM_KV_TRANSFER_CONFIG": '{"kv_connector":"NixlConnector"}'},
            None,
            {"SM_VLLM_KV_TRANSFER_CONFIG": "the local engine has LMCache's connector only, and this is NixlConnector"},
        ),
        (
            "vllm",
            {"SM_VLLM_KV_TRANSFER_CONFIG": "{"},
            None,
            {"SM_VLLM_KV_TRANSFER_CONFIG": "the local engine has LMCache's connector only, and this is none"},
        ),
        ("lmi", {"OPTION_LMCACHE_AUTO_CONFIG": "True"}, Tiers(disk=True), {"OPTION_LMCACHE_AUTO_CONFIG": SERVER}),
        (
            "sglang",
            {"SM_SGLANG_ENABLE_HIERARCHICAL_CACHE": "true", "SM_SGLANG_HICACHE_SIZE": "17"},
            Tiers(),
            {"SM_SGLANG_ENABLE_HIERARCHICAL_CACHE": f"the local engine is vLLM; {SERVER}"},
        ),
        (
            "sglang",
            {"SM_SGLANG_ENABLE_HIERARCHICAL_CACHE": "true", "SM_SGLANG_HICACHE_STORAGE_BACKEND": "file"},
            Tiers(disk=True),
            {"SM_SGLANG_ENABLE_HIERARCHICAL_CACHE": f"the local engine is vLLM; {SERVER}"},
        ),
        (
            "sglang",
            {"SM_SGLANG_ENABLE_HICACHE": "", "SM_SGLANG_HICACHE_STORAGE_BACKEND": "mooncake"},
            Tiers(),
            {
                "SM_SGLANG_ENABLE_HICACHE": f"the local engine is vLLM; {SERVER}",
                "SM_SGLANG_HICACHE_STORAGE_BACKEND": "no remote tier is reached from here",
            },
        ),
        ("sglang", {"SM_SGLANG_ENABLE_HIERARCHICAL_CACHE": "false"}, None, {}),
    ],
)
def test_tiers(
    server: str, environment: Mapping[str, str], tiers: Tiers | None, report: Mapping[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "lmcache.yaml"
    file.write_text(FILE, encoding="utf-8")
    found = translated(server, environment, carried=lambda path: file if path.startswith("/opt/warmstack/") else None)
    assert found.tiers == tiers
    assert "--kv-transfer-config" not in found.arguments
    reported = said(found)
    assert list(reported) == sorted(report)
    for setting, why in report.items():
        assert why in reported[setting]


KNOWN = sorted(
    {f"SM_VLLM_{name.upper()}" for name in TABLES["vllm"].flags}
    | {f"OPTION_{name.upper()}" for name in TABLES["lmi"].flags}
    | {f"SM_SGLANG_{name.upper()}" for name in TABLES["sglang"].flags}
    | {"LMCACHE_CHUNK_SIZE", "LMCACHE_LOCAL_DISK", "HF_MODEL_ID", "SM_NUM_GPUS"}
)
VALUES = st.sampled_from(
    ["true", "false", "", "0", "-1", "16k", "1e400", "nan", "[]", '["a", 1]', "{", "null", CONNECTOR]
)


@given(
    server=st.sampled_from(["lmi", "vllm", "sglang"]),
    environment=st.dictionaries(
        st.sampled_from(KNOWN) | st.text(max_size=20), VALUES | st.text(max_size=20), max_size=9
    ),
)
def test_any_environment_is_translated(server: str, environment: Mapping[str, str]) -> None:
    found = translated(server, environment)
    text = json.dumps(found.arguments)
    assert f'"--kv-cache-memory-bytes", "{256 << 20}"]' in text
    assert text.count('"--max-model-len"') == 1
    # Nothing that was left out is among the arguments too.
    flags = {one.partition("=")[0] for one in found.arguments if one.startswith("--")}
    assert not flags & {"--tensor-parallel-size", "--dtype", "--host", "--port", "--model", "--api-key"}
