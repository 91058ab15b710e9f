"""What `warmstack verify` looks at."""

from __future__ import annotations

from typing import Final

from warmstack.operate.results import Check

STACK: Final = Check(
    id="stack-complete",
    reason="a stack whose update failed has gone back to what it was, and the endpoint with it",
    fix="read the first failed event of the stack, mend it, and deploy again",
)
ENDPOINT: Final = Check(
    id="endpoint-in-service",
    reason="an endpoint that is not InService answers nothing, or the answers of what was there before",
    fix="read the log group /aws/sagemaker/Endpoints/ and the endpoint's name, mend the cause, and deploy again",
)
INSTANCES: Final = Check(
    id="variant-instances",
    reason="a variant with fewer instances than it is to have is slower, or cannot place its copies",
    fix="wait, or look for InsufficientInstanceCapacity and the quota of the instance type",
)
CONFIGURATION: Final = Check(
    id="active-configuration",
    reason="SageMaker rolls a failed update back and the endpoint is InService again, with what it ran before",
    fix="read why the update failed (the stack's events, the container's log), mend it, and deploy again",
)
MODEL: Final = Check(
    id="active-model",
    reason="a model of an earlier deploy answers with its own image, weights and settings",
    fix="read why the update failed (the stack's events, the container's log), mend it, and deploy again",
)
COMPONENT: Final = Check(
    id="component-in-service",
    reason="a component that is not InService has no copy of the new version, or none at all",
    fix="read the log group /aws/sagemaker/InferenceComponents/ and the component's name",
)
COPIES: Final = Check(
    id="component-copies",
    reason="copies that found no room are missing capacity, and with PREFIX_AWARE missing cache",
    fix="raise instances.max or the quota, or lower copies.min",
)
DEFINITION: Final = Check(
    id="component-definition",
    reason="an adapter of another archive gives other answers, and a copy with fewer GPUs is slower, without an error",
    fix="deploy again, and look at what changed the component besides the stack",
)
EXTRA: Final = Check(
    id="component-unknown",
    reason="a component that no template defines takes GPUs, and keeps the endpoint from being deleted",
    fix="delete it (aws sagemaker delete-inference-component), or define it in the spec",
)
CANARY: Final = Check(
    id="canary",
    reason="a container can answer /ping while its model answers nothing",
    fix="read the container's log group for this request",
)
SESSION: Final = Check(
    id="session",
    reason="a conversation whose session does not hold finds another instance, and none of its cache",
    fix="look whether the container runs with sessions enabled and the client sends the session's id",
)
PREFIX: Final = Check(
    id="prefix-cache",
    reason="requests of one prefix that do not find its cache pay for the whole prompt again",
    fix="look at routing, at enable_prefix_caching of the engine, and whether other traffic reaches the threshold",
)

VERIFY_CHECKS: Final = (
    STACK,
    ENDPOINT,
    INSTANCES,
    CONFIGURATION,
    MODEL,
    COMPONENT,
    COPIES,
    DEFINITION,
    EXTRA,
    CANARY,
    SESSION,
    PREFIX,
)
