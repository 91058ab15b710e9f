"""What a dialect cannot do here, in sentences that are said at the start."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from warmstack.assembly import ModelDefinition, carried_file
from warmstack.local.dialects.defects import ALL_DEFECTS, SESSIONS_FALSE
from warmstack.local.dialects.lmi_model import IN_IMAGE
from warmstack.local.dialects.lmi_sessions import ENABLED
from warmstack.local.dialects.sglang import is_stock
from warmstack.local.dialects.vllm_formatters import FORMATTERS, MIDDLEWARE, base_formatters, runs_formatters

_PREFIXES = {"lmi": "OPTION_", "vllm": "SM_VLLM_", "sglang": "SM_SGLANG_"}
_PARSERS = ("TOOL_CALL_PARSER", "REASONING_PARSER")
_STATIC_ADAPTERS = ("LORA_MODULES", "LORA_PATHS")
_MEDIA = ("LIMIT_MM_PER_PROMPT", "ENABLE_MULTIMODAL")
_POOLING = {
    "TASK": ("text-embedding", "feature-extraction", "embed", "embedding", "classify", "score", "reward"),
    "RUNNER": ("pooling",),
}
_VLLM_CODE = (
    "CUSTOM_SCRIPT_FILENAME",
    "CUSTOM_FASTAPI_PING_HANDLER",
    "CUSTOM_FASTAPI_INVOCATION_HANDLER",
    "CUSTOM_FASTAPI_MIDDLEWARE_THROTTLE",
    MIDDLEWARE,
    "CUSTOM_PRE_PROCESS",
    "CUSTOM_POST_PROCESS",
)
_ASYNC_HANDLER = "djl_python.lmi_vllm.vllm_async_service"


def said_at_start(
    model: ModelDefinition,
    *,
    real: bool = False,
    strategy: str | None = None,
    defects: frozenset[str] = ALL_DEFECTS,
) -> tuple[str, ...]:
    """Return what is otherwise than in the model's container, a sentence each.

    Args:
        model: The model.
        real: Whether its engine is a vLLM.
        strategy: How requests are routed to it.
        defects: The servers' defects that are reproduced.
    """
    found = [*_everywhere(model, real, strategy)]
    match model.server:
        case "lmi":
            found += _lmi(model, defects)
        case "sglang":
            found += _sglang(model)
        case _:
            found += [] if real else _vllm(model)
    return tuple(f"{model.name}: {one}" for one in found)


def _everywhere(model: ModelDefinition, real: bool, strategy: str | None) -> Iterator[str]:
    if model.server is None:
        yield "nothing in the template says which server its image is; it answers as the vLLM image does"
    settings = _settings(model)
    prefix = _PREFIXES[model.server or "vllm"]
    parsers = [name for name in _PARSERS if settings(name)]
    if parsers:
        does = "a small model writes no calls or thoughts" if real else "simulated answers are text alone"
        yield f"{' and '.join(prefix + name for name in parsers)} cannot be tried: {does}"
    yield from (
        f"{prefix}{name} names adapters that simulated copies do not have"
        for name in _STATIC_ADAPTERS
        if settings(name) and not real
    )
    if any(settings(name) for name in _MEDIA):
        yield "images and sounds in messages are not looked at"
    if any((settings(name) or "").lower() in values for name, values in _POOLING.items()):
        yield "it embeds, scores or classifies, and the local endpoint generates text only"
    if strategy == "KV_AWARE" and model.server in ("lmi", "sglang"):
        # botocore 1.44.8 names the vLLM image alone as supported.
        yield f"KV_AWARE is documented for the vLLM image; here it works in front of {model.server}, too"


def _vllm(model: ModelDefinition) -> Iterator[str]:
    environment = model.environment
    for name in _VLLM_CODE:
        if environment.get(name) and not (name == MIDDLEWARE and runs_formatters(model)):
            yield f"{name} is {environment[name]}, code of your own, which simulated copies do not run"
    yield from _missing_formatters(model, runs_formatters(model))


def _lmi(model: ModelDefinition, defects: frozenset[str]) -> Iterator[str]:
    environment, settings = model.environment, _settings(model)
    batching = (settings("ROLLING_BATCH") or "").lower()
    entry = settings("ENTRYPOINT") or _ASYNC_HANDLER
    if batching not in ("", "auto", "disable") or entry != _ASYNC_HANDLER:
        named = f"OPTION_ROLLING_BATCH is {batching}" if batching else f"OPTION_ENTRYPOINT is {entry}"
        yield f"{named}; it answers as LMI's asynchronous vLLM handler does"
    if (settings("ENABLE_STATEFUL_SESSIONS") or "true") != "true" and SESSIONS_FALSE in defects:
        yield (
            f"{ENABLED} is {settings('ENABLE_STATEFUL_SESSIONS')!r}, with which LMI answers each request with a 424, "
            f"here too; leave it out or write true (the defect {SESSIONS_FALSE} can be left out to go on)"
        )
    if environment.get("SAGEMAKER_SECURE_MODE", "").lower() == "true":
        yield "SAGEMAKER_SECURE_MODE is set, whose checks of files and settings are not made"
    carried = carried_file(model, IN_IMAGE)
    if model.model_data is not None:
        beside = ["model.py"] if carried is None and not environment.get(FORMATTERS) else []
        beside += ["adapters/"] if (settings("ENABLE_LORA") or "").lower() == "true" else []
        if beside:
            yield f"{' and '.join(beside)} beside the weights in S3 would not be used: they are not fetched"
    if carried is not None or base_formatters(model) is not None:
        yield "formatters get tokenizer=None"
    yield from _missing_formatters(model, True)


def _sglang(model: ModelDefinition) -> Iterator[str]:
    yield "the engine is not SGLang: of what only SGLang knows in a request, such as regex or ebnf, nothing works"
    if is_stock(model):
        yield "its stock image answers chats alone on /invocations, and has no sessions and no adapters"
    yield from _missing_formatters(model, True)


def _missing_formatters(model: ModelDefinition, switched_on: bool) -> Iterator[str]:
    path = model.environment.get(FORMATTERS)
    if switched_on and path and base_formatters(model) is None:
        yield f"the formatters in {path} do not run: the build context of the image is not here"


def _settings(model: ModelDefinition) -> Callable[[str], str | None]:
    prefix = _PREFIXES[model.server or "vllm"]
    return lambda name: model.environment.get(prefix + name) or None
