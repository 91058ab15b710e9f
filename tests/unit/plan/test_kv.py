"""KV cache bytes: by token, by window, by sequence; on one GPU and on several."""

from __future__ import annotations

import dataclasses

import pytest

from warmstack.catalog import load_catalog
from warmstack.errors import CatalogError
from warmstack.plan.kv import (
    index_bytes_per_token,
    kv_bytes_per_token,
    kv_bytes_per_token_per_gpu,
    linear_state_bytes_per_sequence,
    sliding_window_bytes_per_sequence,
)

KIB = 1024
MODELS = load_catalog().models
GPT_OSS = MODELS["openai/gpt-oss-20b"]
QWEN35 = MODELS["Qwen/Qwen3.5-27B"]


@pytest.mark.parametrize(
    ("model_id", "expected"),
    [
        ("Qwen/Qwen2.5-1.5B-Instruct", 28 * KIB),
        ("Qwen/Qwen2.5-7B-Instruct", 56 * KIB),
        ("Qwen/Qwen2.5-72B-Instruct", 320 * KIB),
        ("meta-llama/Llama-3.1-8B", 128 * KIB),
        ("meta-llama/Llama-3.1-70B", 320 * KIB),
        ("Qwen/Qwen3-32B", 256 * KIB),
        # 61 x (512 + 64) x 2: the latent and the rotary key, not keys and values of 128 heads.
        ("deepseek-ai/DeepSeek-V3", 70_272),
        ("openai/gpt-oss-20b", 12 * 2 * 8 * 64 * 2),
        ("Qwen/Qwen3.5-27B", 16 * 2 * 4 * 256 * 2),
        # Five global layers of 30, with two heads of 512.
        ("google/gemma-4-26B-A4B", 5 * 2 * 2 * 512 * 2),
        # Nine global layers; keys of 192, values of 128.
        ("XiaomiMiMo/MiMo-V2-Flash", 9 * 4 * (192 + 128) * 2),
        # Six attention layers of 52.
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 6 * 2 * 2 * 128 * 2),
        # Chunked layers are kept whole by vLLM's default.
        ("meta-llama/Llama-4-Scout-17B-16E-Instruct", 48 * 2 * 8 * 128 * 2),
    ],
)
def test_bytes_of_a_token(model_id: str, expected: int) -> None:
    assert kv_bytes_per_token(MODELS[model_id]) == expected


def test_one_byte_values_halve_it() -> None:
    assert kv_bytes_per_token(MODELS["Qwen/Qwen3-32B"], kv_dtype_bytes=1) == 128 * KIB


def test_sparse_attention_keeps_index_keys_beside_the_latent() -> None:
    # vLLM: 128 FP8 values and a 32-bit scale, in each of 61 layers.
    shape = MODELS["deepseek-ai/DeepSeek-V3.2"]
    assert index_bytes_per_token(shape) == 61 * 132
    assert kv_bytes_per_token(shape) == 70_272 + 61 * 132
    # They do not shrink with the type of the cache.
    assert kv_bytes_per_token(shape, kv_dtype_bytes=1) == 70_272 // 2 + 61 * 132


def test_layers_that_share_an_indexer_share_its_keys() -> None:
    assert index_bytes_per_token(MODELS["zai-org/GLM-5.2"]) == 21 * 132
    assert index_bytes_per_token(MODELS["Qwen/Qwen3-32B"]) == 0


@pytest.mark.parametrize(("degree", "expected"), [(1, 320), (2, 160), (4, 80), (8, 40)])
def test_heads_are_split_over_the_gpus(degree: int, expected: int) -> None:
    assert kv_bytes_per_token_per_gpu(MODELS["Qwen/Qwen2.5-72B-Instruct"], degree, 2) == expected * KIB


def test_more_gpus_than_heads_hold_a_head_more_than_once() -> None:
    seven = MODELS["Qwen/Qwen2.5-7B-Instruct"]
    assert kv_bytes_per_token_per_gpu(seven, 4) == 14 * KIB
    assert kv_bytes_per_token_per_gpu(seven, 8) == 14 * KIB


@pytest.mark.parametrize("degree", [1, 8, 16])
def test_the_latent_is_held_by_every_gpu(degree: int) -> None:
    assert kv_bytes_per_token_per_gpu(MODELS["deepseek-ai/DeepSeek-V3"], degree, 2) == 70_272


def test_windowed_layers_are_counted_by_sequence() -> None:
    # gpt-oss: every other layer sees 128 tokens.
    assert sliding_window_bytes_per_sequence(GPT_OSS) == 12 * 128 * 2 * 8 * 64 * 2
    assert sliding_window_bytes_per_sequence(GPT_OSS, tensor_parallel_degree=8) == 12 * 128 * 2 * 64 * 2
    assert sliding_window_bytes_per_sequence(GPT_OSS, kv_dtype_bytes=1) == 12 * 128 * 2 * 8 * 64


def test_a_window_is_not_longer_than_the_longest_sequence() -> None:
    short = sliding_window_bytes_per_sequence(GPT_OSS, max_model_len=64)
    assert short * 2 == sliding_window_bytes_per_sequence(GPT_OSS)
    assert sliding_window_bytes_per_sequence(GPT_OSS, max_model_len=4096) == short * 2


def test_windowed_layers_have_heads_of_their_own() -> None:
    mimo = MODELS["XiaomiMiMo/MiMo-V2-Flash"]
    assert sliding_window_bytes_per_sequence(mimo) == 39 * 128 * 8 * (192 + 128) * 2


def test_an_engine_that_keeps_every_layer_alike_grows_by_all_of_them() -> None:
    assert kv_bytes_per_token(GPT_OSS, windows_grow=True) == 24 * 2 * 8 * 64 * 2
    assert kv_bytes_per_token_per_gpu(GPT_OSS, 8, windows_grow=True) == 24 * 2 * 64 * 2
    same = MODELS["Qwen/Qwen3-32B"]
    assert kv_bytes_per_token(same, windows_grow=True) == kv_bytes_per_token(same)


def test_a_model_without_windows_has_none() -> None:
    assert sliding_window_bytes_per_sequence(MODELS["Qwen/Qwen3-32B"]) == 0


def test_the_state_of_linear_attention() -> None:
    # Qwen3.5-27B: 48 layers, convolution of 10,240 channels and 3 steps in bf16, 48 x 128 x 128 in float32.
    conv, recurrent = (2 * 16 * 128 + 48 * 128) * 3 * 2, 48 * 128 * 128 * 4
    assert linear_state_bytes_per_sequence(QWEN35) == 48 * (conv + recurrent)
    assert linear_state_bytes_per_sequence(QWEN35, tensor_parallel_degree=4) == 12 * (conv + recurrent)
    assert linear_state_bytes_per_sequence(QWEN35, state_dtype_bytes=2) == 48 * (conv + recurrent // 2)


def test_a_state_whose_type_is_not_stated_has_the_models_own() -> None:
    assert QWEN35.linear_attention is not None
    linear = dataclasses.replace(QWEN35.linear_attention, state_dtype=None)
    unsaid = dataclasses.replace(QWEN35, linear_attention=linear)
    assert linear_state_bytes_per_sequence(unsaid) == linear_state_bytes_per_sequence(QWEN35, state_dtype_bytes=2)


def test_the_state_of_mamba() -> None:
    # Nemotron 3 Nano: 23 layers, 64 heads of 64, 8 groups of 128 states; the state is float32.
    conv, recurrent = (64 * 64 + 2 * 8 * 128) * 3 * 2, 64 * 64 * 128 * 4
    nano = MODELS["nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"]
    assert linear_state_bytes_per_sequence(nano) == 23 * (conv + recurrent)


def test_a_model_without_such_layers_has_no_state() -> None:
    assert linear_state_bytes_per_sequence(GPT_OSS) is None


def test_incomplete_shapes_give_no_number() -> None:
    shape = MODELS["moonshotai/Kimi-K3"]
    for ask in (kv_bytes_per_token, sliding_window_bytes_per_sequence, linear_state_bytes_per_sequence):
        with pytest.raises(CatalogError, match=r"Kimi-K3 is not known: .*delta attention"):
            ask(shape)


@pytest.mark.parametrize("degree", [0, -1])
def test_a_degree_below_one_is_refused(degree: int) -> None:
    with pytest.raises(ValueError, match="it is at least 1"):
        kv_bytes_per_token_per_gpu(GPT_OSS, degree)
