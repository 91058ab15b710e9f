"""Parsers of tool calls and reasoning."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from warmstack.catalog import VLLM_REASONING_PARSERS, VLLM_TOOL_PARSERS
from warmstack.plan.checks.parts import engine_of
from warmstack.plan.findings import finding
from warmstack.plan.model import Finding, Plan
from warmstack.spec import DeploymentSpec

_KNOWN = {"tool_call_parser": VLLM_TOOL_PARSERS, "reasoning_parser": VLLM_REASONING_PARSERS}
_PLUGINS = {"tool_call_parser": "tool_parser_plugin", "reasoning_parser": "reasoning_parser_plugin"}


def check_parsers(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS127: SGLang's parsers are choices of its flags, which every option is checked against."""
    for served in plan.models:
        if served.server == "sglang":
            continue
        options, path = engine_of(spec, served).options, (*served.path, "engine", "options")
        if options.get("enable_auto_tool_choice") is True and "tool_call_parser" not in options:
            message = "enable_auto_tool_choice needs tool_call_parser: the server refuses to start without"
            yield finding("WS127", message, (*path, "enable_auto_tool_choice"), "error")
        for name, known in _KNOWN.items():
            value = options.get(name)
            if value is None or value in known or _PLUGINS[name] in options:
                continue
            near = difflib.get_close_matches(str(value), known, n=2)
            ask = f"; did you mean {' or '.join(near)}?" if near else ""
            yield finding("WS127", f"{name} is {value}, which vLLM 0.32.0 does not have{ask}", (*path, name))


CHECKS = (check_parsers,)
