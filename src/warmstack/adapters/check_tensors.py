"""Checks of the tensors' names, pairs, ranks and types.

Source of the names: vLLM 0.32 ``vllm/lora/utils.py`` (parse_fine_tuned_lora_name), read 2026-11-30.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from warmstack.adapters.config import AdapterConfig
from warmstack.adapters.problems import Problem, error, note, warning
from warmstack.adapters.safetensors_header import Tensor

PREFIX = "base_model.model."
_LORA = re.compile(r"(?P<module>[^\s]+)\.lora_(?P<side>[AB])\.weight")
_EMBEDDING = re.compile(r"(?P<module>[^\s]+)\.lora_embedding_(?P<side>[AB])")
_NAMED = re.compile(r".+\.lora_(embedding_)?[AB]\.[^.]+(\.weight)?")
_TYPES = ("BF16", "F16", "F32")
_SHOWN = 3
_SAVE = "save the adapter again with save_pretrained"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The two tensors of one module.

    Args:
        module: its name in the base model.
        embedding: whether they are an embedding's.
        a: the tensor that goes down to the rank.
        b: the tensor that comes up from it.
    """

    module: str
    embedding: bool
    a: Tensor
    b: Tensor

    @property
    def ranks(self) -> frozenset[int]:
        """The ranks that the two tensors have."""
        return frozenset({self.a.shape[0], self.b.shape[1]})


def check_tensors(
    tensors: Mapping[str, Tensor], found: AdapterConfig | None, place: str
) -> tuple[list[Problem], list[Pair]]:
    """Return what is wrong with the tensors, and the pairs that are whole."""
    problems: list[Problem] = []
    sides: dict[tuple[str, bool], dict[str, Tensor]] = {}
    odd: dict[str, list[str]] = {}
    for name, tensor in tensors.items():
        match = _LORA.fullmatch(name) or _EMBEDDING.fullmatch(name)
        if match is None:
            odd.setdefault(_kind(name), []).append(name)
        else:
            key = (match["module"].removeprefix(PREFIX), match.re is _EMBEDDING)
            sides.setdefault(key, {})[match["side"]] = tensor
    problems += _odd_names(odd, place)
    if not sides:
        problems.append(error("tensors", place, "it has no LoRA tensors", "an adapter has lora_A and lora_B", _SAVE))
    bare = [name for name in tensors if not name.startswith(PREFIX)]
    if bare and sides:
        value, rule = f"{_listed(bare)} without {PREFIX}", "PEFT writes it before every name, and the engines expect it"
        problems.append(warning("prefix", place, value, rule, _SAVE))
    pairs = [*_pairs(sides, place, problems)]
    problems += _types(tensors, place)
    if found is not None and found.rank is not None:
        problems += _ranks(pairs, found, place)
    return problems, pairs


def _kind(name: str) -> str:
    if name.endswith("lora_magnitude_vector") or ".lora_magnitude_vector." in name:
        return "dora"
    if name.endswith((".embed_tokens.base_layer.weight", ".lm_head.base_layer.weight")):
        return "base"
    return "named" if _NAMED.fullmatch(name) else "other"


def _odd_names(odd: Mapping[str, list[str]], place: str) -> Iterator[Problem]:
    for kind, names in odd.items():
        value = f"it has {_listed(names)}"
        if kind == "dora":
            yield error("tensors", place, value, "these are DoRA's, which no server loads", "train without use_dora")
        elif kind == "named":
            rule = "the name of an adapter in a tensor's name is not understood"
            yield error("tensors", place, value, rule, _SAVE)
        elif kind == "other":
            rule = "no engine finds a LoRA weight by this name"
            yield error("tensors", place, value, rule, "train without modules_to_save and bias, and save it again")
        else:
            yield note("tensors", place, value, "the base model's own weights are not loaded", "nothing is to be done")


def _pairs(
    sides: Mapping[tuple[str, bool], Mapping[str, Tensor]], place: str, problems: list[Problem]
) -> Iterator[Pair]:
    alone: list[str] = []
    flat: list[str] = []
    for (module, embedding), found in sides.items():
        if len(found) < 2:
            alone.append(module)
        elif any(len(one.shape) != 2 or 0 in one.shape for one in found.values()):
            flat.append(module)
        else:
            yield Pair(module=module, embedding=embedding, a=found["A"], b=found["B"])
    if alone:
        value = f"{_listed(alone)} {'has' if len(alone) == 1 else 'have'} one of lora_A and lora_B"
        problems.append(error("pairs", place, value, "each module needs both", _SAVE))
    if flat:
        value = f"{_listed(flat)} {'is' if len(flat) == 1 else 'are'} no matrices"
        problems.append(error("pairs", place, value, "lora_A and lora_B have two sizes above zero", _SAVE))


def _types(tensors: Mapping[str, Tensor], place: str) -> Iterator[Problem]:
    by_type: dict[str, list[str]] = {}
    for name, tensor in tensors.items():
        by_type.setdefault(tensor.dtype, []).append(name)
    for dtype, names in by_type.items():
        if dtype not in _TYPES:
            value = f"{_listed(names)} {'is' if len(names) == 1 else 'are'} {dtype[:20]}"
            yield error("dtype", place, value, "engines take BF16, F16 and F32", "convert the tensors to bfloat16")
    if "F32" in by_type:
        value, rule = f"{_listed(by_type['F32'])} in F32", "the engine rounds them to the model's own type"
        yield note("dtype", place, value, rule, "save them as bfloat16: the archive has half the size")


def _ranks(pairs: list[Pair], found: AdapterConfig, place: str) -> Iterator[Problem]:
    wrong: dict[tuple[str, str], list[str]] = {}
    for pair in pairs:
        # The tensors of several experts may be one, whose rank is that of all of them together.
        allowed = found.ranks_of(pair.module)
        if ".experts" in pair.module or (pair.ranks <= allowed and len(pair.ranks) == 1):
            continue
        has, wanted = (" and ".join(map(str, sorted(one))) for one in (pair.ranks, allowed))
        wrong.setdefault((has, wanted), []).append(pair.module)
    for (has, wanted), modules in wrong.items():
        value, rule = f"{_listed(modules)} of rank {has}", f"the configuration says {wanted}"
        yield error("rank", place, value, rule, "write the rank that the tensors have, or save the adapter again")


def _listed(names: list[str]) -> str:
    shown = ", ".join(one if len(one) <= 100 else f"{one[:100]}…" for one in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
