"""Checks of adapter_config.json against what the servers can load.

Sources: vLLM 0.32 ``vllm/lora/peft_helper.py`` and ``vllm/config/lora.py`` (LMI runs vLLM, too), SGLang 0.5.23
``srt/lora/lora_manager.py`` and ``srt/lora/lora.py``; read 2026-11-30.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from warmstack.adapters import config
from warmstack.adapters.config import AdapterConfig
from warmstack.adapters.problems import Problem, error, note, warning
from warmstack.adapters.target import Target

_TRAIN = "train the adapter without it"
# What changes the meaning of an adapter, what it is called, and which engines refuse it.
_REFUSED = (
    ("use_dora", "DoRA", ("vllm", "sglang")),
    ("lora_bias", "a bias in the LoRA layers", ("vllm",)),
    ("alora_invocation_tokens", "activated LoRA", ("vllm",)),
    ("layer_replication", "layer replication", ("vllm",)),
    ("use_bdlora", "block-diagonal LoRA", ("vllm",)),
    ("use_qalora", "QALoRA", ("vllm",)),
)
# These change how the weights begin, and not what they are; the others change the base model as well.
_PLAIN_INITS = ("gaussian", "eva", "orthogonal", "mica", "lora_ga")
# A classifier's head is loaded with the adapter; everything else there is left out or refused.
_LOADED_MODULES = ("classifier", "score")


def check_config(found: AdapterConfig, target: Target | None) -> Iterator[Problem]:
    """Yield what the server cannot do with this configuration."""
    yield from _fields(found)
    yield from _rank(found, target)
    yield from _features(found.document, target)
    yield from _scaling(found, target)
    yield from _base(found, target)


def _place(key: str) -> str:
    return f"{config.NAME}: {key}"


def engine_of(target: Target | None) -> tuple[str, ...]:
    """Return the engine behind a server; without a target, both."""
    if target is None:
        return ("vllm", "sglang")
    return ("sglang",) if target.server == "sglang" else ("vllm",)


def _fields(found: AdapterConfig) -> Iterator[Problem]:
    document = found.document
    kind = document.get("peft_type", "LORA")
    if kind != "LORA":
        yield error("peft-type", _place("peft_type"), f"it is {_short(kind)}", "the servers load LORA only", _TRAIN)
    for key in ("r", "lora_alpha", "target_modules"):
        if document.get(key) is None:
            fix = "save the adapter again with save_pretrained"
            yield error("config", _place(key), "it is not there", "every server reads it", fix)
    if document.get("r") is not None and found.rank is None:
        value = f"r is {_short(document['r'])}"
        yield error("rank", _place("r"), value, "it must be a positive whole number", "write the rank of the tensors")
    modules = document.get("target_modules")
    texts = isinstance(modules, list) and all(isinstance(one, str) for one in modules)
    if modules is not None and not isinstance(modules, str) and not texts:
        value, rule = f"it is {_short(modules)}", "it must be a text or a list of texts"
        yield error("config", _place("target_modules"), value, rule, "save the adapter again with save_pretrained")
    alpha = document.get("lora_alpha")
    if alpha is not None and (isinstance(alpha, bool) or not isinstance(alpha, int | float)):
        yield error(
            "config", _place("lora_alpha"), f"it is {_short(alpha)}", "it must be a number", "save the adapter again"
        )


def _rank(found: AdapterConfig, target: Target | None) -> Iterator[Problem]:
    rank = found.largest_rank
    if rank is None or target is None:
        return
    most = target.max_lora_rank
    place = _place("r" if rank == found.rank else "rank_pattern")
    if most is not None and rank > most:
        fix = f"write rank: {rank} for this adapter in the spec, or raise engine.options.max_lora_rank"
        yield error("rank", place, f"the rank is {rank}", f"max_lora_rank of the plan is {most}", fix)
    elif rank > 512 and target.server != "sglang":
        yield error("rank", place, f"the rank is {rank}", "the largest max_lora_rank of vLLM is 512", _TRAIN)
    if not target.lora_enabled:
        where = f"component {target.component}" if target.component else "the deployment"
        fix = "add the adapter to the spec's adapters"
        yield note("not-enabled", place, f"{where} has no adapters", "its engine does not turn LoRA on", fix)


def _features(document: Any, target: Target | None) -> Iterator[Problem]:
    engines = engine_of(target)
    for key, name, refusing in _REFUSED:
        if document.get(key):
            who = " and ".join({"vllm": "vLLM", "sglang": "SGLang"}[one] for one in refusing if one in engines)
            if who:
                yield error(
                    "feature", _place(key), f"it is {_short(document[key])}", f"{who} cannot load {name}", _TRAIN
                )
            else:
                rule = f"whether SGLang applies {name} is not known"
                yield warning("feature", _place(key), f"it is {_short(document[key])}", rule, "compare its answers")
    bias = document.get("bias", "none")
    if bias not in ("none", None):
        yield error("bias", _place("bias"), f"it is {_short(bias)}", "it must be none: biases are not loaded", _TRAIN)
    saved = document.get("modules_to_save") or []
    left_out = [one for one in saved if one not in _LOADED_MODULES] if isinstance(saved, list) else [saved]
    if left_out:
        value = f"it names {', '.join(map(_short, left_out[:5]))}"
        rule = "whole modules are not loaded with an adapter"
        yield error("modules-to-save", _place("modules_to_save"), value, rule, "train without it, or merge the adapter")
    init = document.get("init_lora_weights")
    if isinstance(init, str) and init.lower() not in _PLAIN_INITS:
        value, rule = (
            f"it is {_short(init)}",
            "this method changes the base model's weights, which are served unchanged",
        )
        fix = "convert it: save_pretrained(..., path_initial_model_for_weight_conversion=...)"
        yield error("init", _place("init_lora_weights"), value, rule, fix)


def _scaling(found: AdapterConfig, target: Target | None) -> Iterator[Problem]:
    if "sglang" in engine_of(target) and found.document.get("use_rslora"):
        value, rule = "it is true", "SGLang scales with lora_alpha / r and not with lora_alpha / sqrt(r)"
        fix = "multiply lora_alpha by sqrt(r) and write use_rslora: false, for SGLang"
        yield (note if target is None else error)("rslora", _place("use_rslora"), value, rule, fix)
    for key in ("rank_pattern", "alpha_pattern"):
        if found.document.get(key):
            value, rule = "it is not empty", "engines that do not read it scale every module with r and lora_alpha"
            yield warning("pattern", _place(key), value, rule, "compare the answers of the endpoint with those of PEFT")


def _base(found: AdapterConfig, target: Target | None) -> Iterator[Problem]:
    if target is None or found.base_model is None:
        return
    own, wanted = (one.rstrip("/").rsplit("/", 1)[-1].casefold() for one in (found.base_model, target.model_id))
    if own != wanted:
        place = _place("base_model_name_or_path")
        value, rule = f"it is {_short(found.base_model)}", f"the spec serves {target.model_id}"
        yield warning("base-model", place, value, rule, "look whether both are the same weights; names may differ")


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:80]}…"
