"""Routing and sessions."""

from __future__ import annotations

from warmstack.plan.check_catalog.check import table

CHECKS = table(
    # Routing
    (
        "WS050",
        "error",
        "prefix_length and concurrency_threshold belong to PREFIX_AWARE.",
        "Remove them, or write strategy: PREFIX_AWARE.",
        "API ProductionVariantRoutingConfig: only with PREFIX_AWARE",
    ),
    (
        "WS051",
        "warning",
        "PREFIX_AWARE does nothing until two instances can serve a request.",
        "Write instances.min: 2 or more.",
        "API PrefixAwareRoutingConfig: applied only when two or more instances can serve the request",
    ),
    (
        "WS052",
        "warning",
        "PREFIX_AWARE on a component needs two copies on two instances.",
        "Write copies.min: 2 or more.",
        "API PrefixAwareRoutingConfig: applied only when two or more instances can serve the request",
    ),
    (
        "WS053",
        "warning",
        "concurrency_threshold is above max_num_seqs: requests queue on one copy before any spills.",
        "Lower it to at most max_num_seqs of the weakest copy.",
        "API PrefixAwareRoutingConfig: one threshold for every copy of the variant",
    ),
    (
        "WS054",
        "error",
        "KV_AWARE works only with supported containers, and the vLLM server is the only one named.",
        "Write engine.server: vllm, or strategy: PREFIX_AWARE.",
        "API ProductionVariantRoutingConfig",
    ),
    (
        "WS055",
        "warning",
        "Whether CloudFormation accepts KV_AWARE is not verified.",
        "Try it in a test account first; PREFIX_AWARE is accepted.",
        "API has the value; the resource schema of cfn-lint 1.58 does not list it",
    ),
    (
        "WS056",
        "warning",
        "Data parallel ranks inside a copy each have their own cache.",
        "Run more copies instead: routing and sessions choose a copy, not a rank.",
        "vLLM and SGLang: one KV cache per data parallel rank",
    ),
    (
        "WS057",
        "note",
        "How PREFIX_AWARE treats adapter components is not documented.",
        "Watch the cached-token counts per adapter.",
        "API reference and DG are silent",
    ),
    (
        "WS058",
        "warning",
        "concurrency_threshold is so small that requests rarely stay with their prefix.",
        "Give the copies more KV (more GPUs, a shorter max_model_len), or write a higher threshold.",
        "API PrefixAwareRoutingConfig: at the threshold the next request goes to another copy or instance",
    ),
    # Sessions
    (
        "WS060",
        "warning",
        "Sessions on inference components are not documented.",
        "Remove components, or acknowledge it after a test.",
        "DG stateful sessions describe endpoints whose variant hosts the model",
    ),
    (
        "WS061",
        "error",
        "The stock SGLang image has no sessions.",
        "Build an image, which adds a session server (image.build), or use the lmi or vllm server.",
        "SGLang image: no session routes reachable through SageMaker",
    ),
    (
        "WS062",
        "warning",
        "Scale-in can end a session before its ttl.",
        "Keep min and max equal while sessions matter, or keep the transcript in the client.",
        "DG: session state lives in the container and is lost with the instance",
    ),
    (
        "WS063",
        "note",
        "With one instance every request already goes to the same place.",
        "Sessions pay from two instances on.",
        "DG stateful sessions: a session pins requests to an instance",
    ),
    (
        "WS064",
        "error",
        "The image version has no sessions.",
        "Use LMI 16 or newer.",
        "DJL Serving session_manager: LMI 16 and newer",
    ),
    (
        "WS065",
        "note",
        "How sessions and PREFIX_AWARE work together is not documented.",
        "Requests with a session id are expected to follow the session.",
        "API reference and DG are silent",
    ),
    (
        "WS066",
        "error",
        "Several API server processes each have their own session table.",
        "Remove api_server_count, or remove sessions.",
        "model-hosting-container-standards: the session manager is one per process",
    ),
    (
        "WS067",
        "warning",
        "Sessions that renew themselves are not documented by SageMaker.",
        "Leave endpoint.sessions.sliding out, or measure that a session outlives its first expiry, and acknowledge.",
        "DG stateful sessions: the expiry is set when a session is opened; renewal is not described",
    ),
)
