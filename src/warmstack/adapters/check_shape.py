"""Checks of the tensors' sizes against the shape of the model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from warmstack.adapters.check_tensors import Pair
from warmstack.adapters.problems import Problem, error, warning
from warmstack.catalog import ModelShape

_LAYER = re.compile(r"(?:^|\.)layers\.([0-9]{1,6})\.")
_OTHER_TOWERS = ("visual", "vision", "audio", "mtp", "multi_modal_projector")
_ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")
_MLP = ("gate_proj", "up_proj", "down_proj")
# What is a linear layer in some model that the servers know; others are left out of nothing, only named.
_KNOWN = frozenset({
    *_ATTENTION, *_MLP, "qkv_proj", "gate_up_proj", "out_proj", "in_proj", "dense", "fc1", "fc2",
    "embed_tokens", "lm_head", "q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj",
    "in_proj_qkv", "in_proj_qkvz", "in_proj_ba", "in_proj_z", "in_proj_a", "in_proj_b", "score", "classifier",
    "w1", "w2", "w3", "query_key_value", "dense_h_to_4h", "dense_4h_to_h", "c_attn", "c_proj", "c_fc",
})  # fmt: skip


def check_shape(pairs: Sequence[Pair], shape: ModelShape, place: str) -> Iterator[Problem]:
    """Yield the modules that the model does not have, and those that it has in another size."""
    base = "look whether the adapter was trained on this model"
    unknown: dict[str, None] = {}
    wrong: dict[tuple[str, str, str], list[str]] = {}
    beyond: list[str] = []
    for pair in pairs:
        if any(tower in pair.module for tower in _OTHER_TOWERS):
            continue
        leaf = pair.module.rsplit(".", 1)[-1]
        layer = _LAYER.search(pair.module)
        if layer is not None and int(layer[1]) >= shape.num_layers:
            beyond.append(pair.module)
            continue
        if leaf not in _KNOWN and ".experts" not in pair.module:
            unknown[leaf] = None
        expected = _expected(pair, leaf, None if layer is None else int(layer[1]), shape)
        found = (pair.a.shape[1], pair.b.shape[0])
        if expected is not None and found != expected:
            wrong.setdefault((leaf, _arrow(found), _arrow(expected)), []).append(pair.module)
    if beyond:
        value = f"it has tensors for {beyond[0]}"
        yield error("layers", place, value, f"{shape.id} has {shape.num_layers} layers", base)
    for (leaf, found_text, expected_text), modules in wrong.items():
        value = f"{leaf} is {found_text} in {len(modules)} layer{'' if len(modules) == 1 else 's'}"
        yield error("dimensions", place, value, f"in {shape.id} it is {expected_text}", base)
    if unknown:
        value, rule = (
            f"it changes {', '.join(unknown)[:200]}",
            "whether the engine has LoRA for such modules is not known",
        )
        yield warning("modules", place, value, rule, "register the adapter at a test endpoint first")


def _arrow(sizes: tuple[int, int]) -> str:
    return f"{sizes[0]} to {sizes[1]}"


def _expected(pair: Pair, leaf: str, layer: int | None, shape: ModelShape) -> tuple[int, int] | None:
    """Return the sizes that go into a module and come out of it, or None where the shape does not tell."""
    hidden = shape.hidden_size
    if leaf in ("embed_tokens", "lm_head"):
        return (shape.vocab_size, hidden) if leaf == "embed_tokens" else (hidden, shape.vocab_size)
    if layer is None:
        return None
    if leaf in _ATTENTION and ".self_attn." in pair.module:
        return _attention(leaf, shape.kinds[layer], shape)
    plain_mlp = shape.experts is None and not shape.single_mixer_layers and pair.module.endswith(f".mlp.{leaf}")
    if leaf in _MLP and plain_mlp and shape.intermediate_size is not None:
        wide = shape.intermediate_size
        return (wide, hidden) if leaf == "down_proj" else (hidden, wide)
    return None


def _attention(leaf: str, kind: str, shape: ModelShape) -> tuple[int, int] | None:
    if shape.mla is not None or not kind.endswith("_attention") or kind == "linear_attention":
        return None
    heads = shape.heads_of(kind)
    queries = heads.num_heads * heads.head_dim
    if leaf == "q_proj":
        return shape.hidden_size, queries * (2 if shape.query_gate else 1)
    if leaf == "k_proj":
        return shape.hidden_size, heads.num_key_value_heads * heads.head_dim
    if leaf == "v_proj":
        return shape.hidden_size, heads.num_key_value_heads * heads.value_head_dim
    return heads.num_heads * heads.value_head_dim, shape.hidden_size
