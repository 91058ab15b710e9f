"""Engine settings as the Model environment of each server.

Rules, each from the sources of the containers:

* LMI: ``OPTION_<KEY>``; ``true``/``false`` as words. Before LMI 26 ``false`` is dropped, so it is refused.
  ``OPTION_ENABLE_STATEFUL_SESSIONS`` may only be ``true``: any other value makes every request fail.
* vLLM image: ``SM_VLLM_<KEY>``; ``true`` is a bare flag, ``false`` is ``SM_VLLM_NO_<KEY>=true`` where the flag has
  a ``--no-`` form and is left out where the flag is off by default. ``%`` breaks the supervisor.
* SGLang image: ``SM_SGLANG_<KEY>``; the same, read line by line, one token a variable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from warmstack.catalog import FlagTable, ServerImage
from warmstack.plan.image_plan import Setting

PREFIXES: Mapping[str, str] = {"lmi": "OPTION_", "vllm": "SM_VLLM_", "sglang": "SM_SGLANG_"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Unwritable:
    """A setting that the server's image cannot be given, with the check that speaks of it."""

    setting: str
    check: str
    message: str


def render_environment(
    image: ServerImage, flags: FlagTable, settings: Mapping[str, Setting]
) -> tuple[dict[str, str], tuple[Unwritable, ...]]:
    """Return the environment entries of the engine settings, and what could not be written.

    Args:
        image: the image that reads them.
        flags: the server's flags, for the ``--no-`` forms.
        settings: values by the server's own flag names.
    """
    entries: dict[str, str] = {}
    problems: list[Unwritable] = []
    for name, value in settings.items():
        key = PREFIXES[image.server] + name.upper()
        if value is False:
            problem = _write_false(image, flags, name, entries)
        elif isinstance(value, tuple) and name in flags.flags and flags.flags[name].repeated:
            problem = _list_problem(image, name)
            entries[key] = value_text(value)
        else:
            text = value_text(value)
            problem = _unharmed(image, name, text)
            entries[key] = text
        if problem is not None:
            problems.append(problem)
    return entries, tuple(problems)


def value_text(value: Setting) -> str:
    """Return a value as the images read it: words for booleans, compact JSON for mappings and lists."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return repr(value)
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _write_false(image: ServerImage, flags: FlagTable, name: str, entries: dict[str, str]) -> Unwritable | None:
    if image.server == "lmi":
        if not image.renders_false_booleans:
            return Unwritable(
                setting=name,
                check="WS084",
                message=f"{name} is false, which {image.version} drops without a word; LMI 26 does not",
            )
        entries[f"OPTION_{name.upper()}"] = "false"
        return None
    flag = flags.flags.get(name)
    if flag is not None and flag.has_no_form:
        entries[f"{PREFIXES[image.server]}NO_{name.upper()}"] = "true"
    # A flag without a --no- form is off when it is absent: leaving it out is what false means.
    return None


def _list_problem(image: ServerImage, name: str) -> Unwritable | None:
    """Only vLLM images from 0.27.1 on spread a JSON list over the flag's values; the others pass one token."""
    known = image.engine_version or "0"
    spreads = tuple(int(part) for part in re.findall(r"[0-9]+", known)[:3]) >= (0, 27, 1)
    if image.server == "vllm" and spreads:
        return None
    message = f"{name} is a list, which {image.server} {image.version} would pass on as one value"
    return Unwritable(setting=name, check="WS085", message=message)


def _unharmed(image: ServerImage, name: str, text: str) -> Unwritable | None:
    if any(one in text for one in "\n\r\0"):
        return Unwritable(
            setting=name,
            check="WS085",
            message=f"{name} has a line break; the image reads its settings line by line",
        )
    if image.server == "vllm" and "%" in text:
        return Unwritable(
            setting=name,
            check="WS085",
            message=f"{name} has a percent sign; the image's supervisor fails on it at start",
        )
    return None
