"""Cases of the checks of speculative decoding."""

from __future__ import annotations

import json
from typing import Any

from tests.unit.plan.check_cases.case import ADAPTERS, BUILT, Case, Change, component
from tests.unit.plan.specs import FILES, SGLANG, VLLM


def drafting(method: str, config: dict[str, Any] | None = None, **keys: Any) -> Change:
    """A change that drafts by a method; with a config.json of the draft beside the spec."""
    speculative: dict[str, Any] = {"method": method, **({} if method == "ngram" else {"draft": "drafts/one/"}), **keys}
    if config is None:
        return {"engine": {"speculative": speculative}}
    speculative["draft_config"] = "draft.json"
    return {"engine": {"speculative": speculative}, FILES: {"draft.json": json.dumps(config)}}


EAGLE3 = {"architectures": ["LlamaForCausalLMEagle3"], "hidden_size": 3584, "vocab_size": 152064}
EAGLE3 |= {"draft_vocab_size": 32000}
EAGLE = {"architectures": ["Qwen2ForCausalLMEagle"], "hidden_size": 3584, "vocab_size": 152064}
SMALL = {"architectures": ["Qwen2ForCausalLM"], "hidden_size": 896, "vocab_size": 152064}

CASES = (
    Case(
        check="WS088",
        bad=[VLLM, {"engine": {"speculative": {"method": "eagle3", "draft": "s3://acme/draft/"}}}],
        good=[VLLM, {"engine": {"speculative": {"method": "eagle3", "draft": "drafts/eagle3/"}}}],
        path=("engine", "speculative", "draft"),
        says="weights prefix",
    ),
    Case(
        check="WS088",
        label="no prefix on the hub",
        bad=[
            VLLM,
            {
                "model": {"weights": {"s3": None, "hub": {"revision": "main"}}},
                "engine": {"speculative": {"method": "eagle3", "draft": "drafts/eagle3/"}},
            },
        ],
        good=[
            VLLM,
            {
                "model": {"weights": {"s3": None, "hub": {"revision": "main"}}},
                "engine": {"speculative": {"method": "eagle3", "draft": "acme/eagle3"}},
            },
        ],
        path=("engine", "speculative", "draft"),
        says="no prefix",
    ),
    Case(
        check="WS088",
        label="neither folder nor id",
        bad=[VLLM, {"engine": {"speculative": {"method": "eagle", "draft": "draft"}}}],
        good=[VLLM, {"engine": {"speculative": {"method": "eagle", "draft": "draft/"}}}],
        path=("engine", "speculative", "draft"),
        says="owner/name",
    ),
    Case(
        check="WS095",
        bad=[VLLM, drafting("eagle", EAGLE3)],
        good=[VLLM, drafting("eagle3", EAGLE3)],
        path=("engine", "speculative", "method"),
        says="an EAGLE3 head",
    ),
    Case(
        check="WS095",
        label="the other way round",
        bad=[SGLANG, drafting("eagle3", EAGLE)],
        good=[SGLANG, drafting("eagle", EAGLE)],
        path=("engine", "speculative", "method"),
        says="an EAGLE head",
    ),
    Case(
        check="WS095",
        label="a head as a model",
        bad=[VLLM, drafting("draft_model", EAGLE)],
        good=[VLLM, drafting("draft_model", SMALL)],
        path=("engine", "speculative", "method"),
        says="an EAGLE head",
    ),
    Case(
        check="WS095",
        label="by its name",
        bad=[VLLM, drafting("eagle", draft="acme/Qwen2.5-7B-EAGLE3")],
        good=[VLLM, drafting("eagle3", draft="acme/Qwen2.5-7B-EAGLE3")],
        path=("engine", "speculative", "method"),
        says="is called",
        severity="warning",
    ),
    Case(
        check="WS096",
        bad=[VLLM, drafting("eagle3", EAGLE3 | {"hidden_size": 4096})],
        good=[VLLM, drafting("eagle3", EAGLE3 | {"hidden_size": 4096, "target_hidden_size": 3584})],
        path=("engine", "speculative", "draft_config"),
        says="hidden_size 4096",
    ),
    Case(
        check="WS096",
        label="vocabulary",
        bad=[VLLM, drafting("draft_model", SMALL | {"vocab_size": 128256})],
        good=[VLLM, drafting("draft_model", SMALL)],
        path=("engine", "speculative", "draft_config"),
        says="vocab_size 128256",
    ),
    Case(
        check="WS097",
        bad=[SGLANG, BUILT, component(adapters=ADAPTERS), drafting("draft_model")],
        good=[SGLANG, BUILT, component(adapters=ADAPTERS), drafting("eagle")],
        path=("components", 0, "engine", "speculative", "method"),
        says="EAGLE3 and ngram",
    ),
    Case(
        check="WS098",
        bad=[SGLANG, drafting("ngram", prompt_lookup_max=4)],
        good=[VLLM, drafting("ngram", prompt_lookup_max=4)],
        path=("engine", "speculative", "prompt_lookup_max"),
        says="speculative_ngram_",
    ),
    Case(
        check="WS099",
        bad=[VLLM, drafting("eagle3")],
        good=[VLLM, drafting("eagle3", EAGLE3)],
        path=("engine", "speculative", "draft"),
        says="drafts/one/",
    ),
)
