"""What of a Model's environment reaches the process itself: what vLLM's own container layer reads, and nothing more.

For LMI and SGLang the layer is a dialect of the local endpoint, which reads the template itself; the engine behind it
has to take adapters while it runs. The variables are those of the model hosting container standards 0.1.16, which vLLM
carries (facts read 2026-11-30).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from warmstack.local.engines.translation.replacements import Replacement, shown
from warmstack.local.engines.translation.servers import Server

ADAPTERS_WHILE_RUNNING = "VLLM_ALLOW_RUNTIME_LORA_UPDATING"
PASSED = frozenset(
    {
        ADAPTERS_WHILE_RUNNING,
        "LOG_LEVEL",
        "SAGEMAKER_CONTAINER_LOG_LEVEL",
        "SAGEMAKER_ENABLE_STATEFUL_SESSIONS",
        "SAGEMAKER_SESSIONS_EXPIRATION",
    }
)
PASSED_PREFIXES = ("SAGEMAKER_TRANSFORMS_",)
WITH_FILES = frozenset(
    {
        "CUSTOM_FASTAPI_INVOCATION_HANDLER",
        "CUSTOM_FASTAPI_MIDDLEWARE_PRE_POST_PROCESS",
        "CUSTOM_FASTAPI_MIDDLEWARE_THROTTLE",
        "CUSTOM_FASTAPI_PING_HANDLER",
        "CUSTOM_POST_PROCESS",
        "CUSTOM_PRE_PROCESS",
        "CUSTOM_SCRIPT_FILENAME",
        "WARMSTACK_FORMATTERS",
    }
)
"""Their values name a file, some with a function of it after a colon."""


def container_environment(
    server: Server, environment: Mapping[str, str], carried: Callable[[str], Path | None]
) -> tuple[dict[str, str], tuple[Replacement, ...]]:
    """Return the process's own variables, and what was left out of them.

    Args:
        server: Whose environment it is.
        environment: The Model's environment.
        carried: Finds a file that the image carries.
    """
    if server != "vllm":
        return {ADAPTERS_WHILE_RUNNING: "true"}, ()
    passed: dict[str, str] = {}
    replacements: list[Replacement] = []
    for name, value in sorted(environment.items()):
        if name in PASSED or name.startswith(PASSED_PREFIXES):
            passed[name] = value
        elif name in WITH_FILES and value:
            found = _with_local_file(value, carried)
            if found is not None:
                passed[name] = found
            else:
                why = "its file is not in the build context of the image"
                replacements.append(Replacement(setting=name, given=value, used=None, why=why))
        elif name.startswith("VLLM_"):
            why = "it sets up vLLM for a GPU, and was not tried on a CPU"
            replacements.append(Replacement(setting=name, given=shown(name, value), used=None, why=why))
    return passed, tuple(replacements)


def _with_local_file(value: str, carried: Callable[[str], Path | None]) -> str | None:
    path, colon, function = value.partition(":")
    file = carried(path)
    return None if file is None else f"{file}{colon}{function}"
