"""The tier that instances share, and reuse beyond prefixes."""

from __future__ import annotations

from collections.abc import Iterator

from warmstack.plan.checks.parts import cache_of
from warmstack.plan.findings import finding
from warmstack.plan.load import cache_has_tiers
from warmstack.plan.model import Finding, Plan
from warmstack.spec import DeploymentSpec

# LMCache 0.5.6, lmcache/v1/compute/models/utils.py.
BLENDED = frozenset({"LlamaForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM"})


def check_remote(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS043, WS120, WS121 and WS125."""
    for served in plan.models:
        remote = cache_of(spec, served).tiers.remote
        if remote is None:
            continue
        path = (*served.path, "cache", "tiers", "remote")
        if served.server == "sglang":
            message = "a remote tier is LMCache's; sglang's own cache has RAM and disk here"
            yield finding("WS043", message, path)
            continue
        if spec.endpoint.network_isolation:
            yield finding("WS120", f"{remote.url} is outside, and network_isolation cuts the container off", path)
        if not remote.url.startswith("s3://"):
            message = f"{remote.url}: an endpoint without a VPC reaches public addresses only"
            yield finding("WS125", message, (*path, "url"))
        elif remote.region is None and spec.target is None:
            message = f"{remote.url}: LMCache needs the bucket's Region, and there is no target to take it from"
            yield finding("WS121", message, path)


def check_blending(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS047, WS122, WS123 and WS124."""
    for served in plan.models:
        cache = cache_of(spec, served)
        path = (*served.path, "cache", "lmcache", "enable_blending")
        if not cache.lmcache.enable_blending:
            if served.server != "sglang" and cache_has_tiers(cache):
                message = "tiers keep prefixes: a document that stands elsewhere in the next prompt is computed again"
                yield finding("WS122", message, (*served.path, "cache"))
            continue
        if served.server == "sglang" or not cache_has_tiers(cache):
            why = "sglang's cache is not LMCache" if served.server == "sglang" else "there is no tier to blend from"
            yield finding("WS047", f"enable_blending has no effect: {why}", path)
            continue
        if spec.image.base is None:
            message = f"blending on the stock image of {served.server} {served.server_image.version} does not start"
            yield finding("WS123", message, path)
        else:
            message = "whether the vLLM in image.base hands its model to LMCache is not known; measure first"
            yield finding("WS123", message, path, "warning")
        if served.shape.architecture not in BLENDED:
            known = ", ".join(sorted(BLENDED))
            message = f"{served.model_id} is a {served.shape.architecture}; LMCache blends {known}"
            yield finding("WS124", message, path)
        layers = [one for one in cache.lmcache.blend_check_layers if one >= served.shape.num_layers]
        if layers:
            message = f"blend_check_layers has {layers[0]}; {served.model_id} has {served.shape.num_layers} layers"
            yield finding("WS124", message, (*served.path, "cache", "lmcache", "blend_check_layers"))
        if cache.tiers.remote is not None:
            message = "blending stores unfinished chunks, and the remote store must not (save_unfull_chunk)"
            yield finding("WS124", message, path)


CHECKS = (check_remote, check_blending)
