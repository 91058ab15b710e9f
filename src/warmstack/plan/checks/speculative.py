"""Speculative decoding: where the draft is, and whether it belongs to the model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warmstack.plan.checks.parts import engine_of, model_of
from warmstack.plan.findings import finding
from warmstack.plan.image_plan import DraftPlan
from warmstack.plan.model import Finding, Plan, ServedModel, SpecPath
from warmstack.spec import DeploymentSpec


def check_draft_place(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS088."""
    for served in plan.models:
        draft = None if served.draft is None else served.draft.draft
        if draft is None:
            continue
        place = (*served.path, "engine", "speculative", "draft")
        inside = draft.endswith("/")
        if "://" in draft or draft.startswith("/") or ".." in draft.split("/"):
            message = (
                f"draft is {draft!r}; only the weights prefix is mounted, so it must be a folder inside it or a hub id"
            )
            yield finding("WS088", message, place)
        elif inside and model_of(spec, served).weights.s3 is None:
            message = (
                f"draft is the folder {draft!r}, but the weights come from the hub, which has no prefix to look in"
            )
            yield finding("WS088", message, place)
        elif not inside and re.fullmatch(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", draft) is None:
            message = f"draft is {draft!r}; a folder inside the weights prefix ends with '/', a hub id is owner/name"
            yield finding("WS088", message, place)


def check_draft_fits(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS095, WS096 and WS099."""
    del spec
    for served in plan.models:
        draft = served.draft
        if draft is None or draft.draft is None:
            continue
        path = (*served.path, "engine", "speculative")
        if not draft.config_known:
            yield from _by_name(draft, path)
            message = f"{draft.draft} is taken to fit {served.model_id}: nothing of it is known"
            yield finding("WS099", message, (*path, "draft"))
            continue
        wanted = "model" if draft.method == "draft_model" else draft.method
        if draft.kind is not None and draft.kind != wanted:
            is_what = "an ordinary model" if draft.kind == "model" else f"an {draft.kind.upper()} head"
            message = f"method is {draft.method}, but the draft's config.json says {draft.architecture}: {is_what}"
            yield finding("WS095", message, (*path, "method"))
        yield from _sizes(served, draft, (*path, "draft_config"))


def _by_name(draft: DraftPlan, path: SpecPath) -> Iterator[Finding]:
    """Publishers put the method into the draft's name: a mix-up shows there even without its config.json."""
    name = str(draft.draft).lower()
    says = "eagle3" if re.search(r"eagle-?_?3", name) else "eagle" if "eagle" in name else None
    if says is not None and says != draft.method:
        message = f"method is {draft.method}, but the draft is called {draft.draft}"
        yield finding("WS095", message, (*path, "method"), "warning")


def _sizes(served: ServedModel, draft: DraftPlan, path: SpecPath) -> Iterator[Finding]:
    shape = served.shape
    heads = draft.method in ("eagle", "eagle3")
    if heads and draft.hidden_size is not None and draft.hidden_size != shape.hidden_size:
        message = f"the draft was made for hidden_size {draft.hidden_size}; {served.model_id} has {shape.hidden_size}"
        yield finding("WS096", message, path)
    if draft.vocab_size is not None and draft.vocab_size != shape.vocab_size:
        message = f"the draft has vocab_size {draft.vocab_size}; {served.model_id} has {shape.vocab_size}"
        yield finding("WS096", message, path)


def check_with_adapters(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS097: SGLang refuses a whole draft model beside adapters."""
    del spec
    for served in plan.models:
        method = None if served.draft is None else served.draft.method
        if served.server == "sglang" and served.adapters and method == "draft_model":
            message = "sglang serves no adapters beside a draft model; EAGLE, EAGLE3 and ngram work with them"
            yield finding("WS097", message, (*served.path, "engine", "speculative", "method"))


def check_lookup(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS098."""
    for served in plan.models:
        speculative = engine_of(spec, served).speculative
        if served.server != "sglang" or speculative is None:
            continue
        for name in ("prompt_lookup_max", "prompt_lookup_min"):
            if getattr(speculative, name) is not None:
                message = f"{name} is vLLM's; sglang's n-gram settings are options (speculative_ngram_*)"
                yield finding("WS098", message, (*served.path, "engine", "speculative", name))


CHECKS = (check_draft_place, check_draft_fits, check_with_adapters, check_lookup)
