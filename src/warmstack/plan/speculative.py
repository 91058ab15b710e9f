"""Speculative decoding in each server's own words, and what a draft's config.json says of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from warmstack.plan.image_plan import DraftPlan, Setting
from warmstack.spec import SpeculativeSpec

MODEL_DIR = "/opt/ml/model"
# SGLang 0.5.23 (arg_groups/speculative_hook.py): its names of the four methods.
SGLANG_ALGORITHMS: Mapping[str, str] = {
    "eagle": "EAGLE",
    "eagle3": "EAGLE3",
    "ngram": "NGRAM",
    "draft_model": "STANDALONE",
}


def vllm_speculative(spec: SpeculativeSpec) -> dict[str, object]:
    """Return vLLM's speculative_config (``vllm/config/speculative.py``), which LMI passes on as it is."""
    config: dict[str, object] = {"method": spec.method}
    if spec.draft is not None:
        config["model"] = draft_location(spec.draft)
    config["num_speculative_tokens"] = spec.num_speculative_tokens
    if spec.prompt_lookup_max is not None:
        config["prompt_lookup_max"] = spec.prompt_lookup_max
    if spec.prompt_lookup_min is not None:
        config["prompt_lookup_min"] = spec.prompt_lookup_min
    return config


def sglang_speculative(spec: SpeculativeSpec) -> dict[str, Setting]:
    """Return SGLang's flags: a chain of drafted tokens (top-k 1), verified together with one more."""
    settings: dict[str, Setting] = {
        "speculative_algorithm": SGLANG_ALGORITHMS[spec.method],
        "speculative_num_draft_tokens": spec.num_speculative_tokens + 1,
    }
    if spec.method != "ngram":
        # A chain: SGLang verifies num_steps + 1 tokens when the top-k is 1.
        settings |= {"speculative_num_steps": spec.num_speculative_tokens, "speculative_eagle_topk": 1}
    if spec.draft is not None:
        settings["speculative_draft_model_path"] = draft_location(spec.draft)
    return settings


def draft_location(draft: str) -> str:
    """Return where the container finds the draft: a folder of the mounted weights, or the hub's id as it is."""
    return f"{MODEL_DIR}/{draft.rstrip('/')}" if draft.endswith("/") else draft


def plan_draft(spec: SpeculativeSpec | None, config: str | None) -> DraftPlan | None:
    """Return what is known of the draft, or None without speculative decoding.

    Args:
        spec: the speculative decoding of the spec.
        config: the text of the draft's config.json, where the spec names it.
    """
    if spec is None:
        return None
    known = _read(config)
    text = known.get("text_config")
    inner = {**known, **text} if isinstance(text, dict) else known
    names = known.get("architectures")
    architecture = str(names[0]) if isinstance(names, list) and names else None
    return DraftPlan(
        method=spec.method,
        draft=spec.draft,
        config_known=config is not None,
        architecture=architecture,
        kind=_kind(architecture, known),
        # EAGLE3 heads of a larger target state the target's width beside their own.
        hidden_size=_count(inner.get("target_hidden_size")) or _count(inner.get("hidden_size")),
        vocab_size=_count(inner.get("vocab_size")),
    )


def _read(config: str | None) -> dict[str, Any]:
    if config is None:
        return {}
    try:
        value = json.loads(config)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _kind(architecture: str | None, config: Mapping[str, Any]) -> str | None:
    """Return ``eagle3``, ``eagle`` or ``model``, by what the publishers of drafts write; None when it says nothing."""
    if architecture is None:
        return None
    name = architecture.lower()
    if "eagle3" in name or "draft_vocab_size" in config or config.get("speculators_model_type") == "eagle3":
        return "eagle3"
    return "eagle" if "eagle" in name else "model"


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
