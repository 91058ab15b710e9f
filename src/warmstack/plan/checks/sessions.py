"""Stateful sessions."""

from __future__ import annotations

from collections.abc import Iterator

from warmstack.plan.checks.parts import engine_of
from warmstack.plan.findings import finding
from warmstack.plan.model import Finding, Plan
from warmstack.spec import DeploymentSpec
from warmstack.units import format_seconds


def check_sessions(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS060, WS061, WS063, WS064, WS065 and WS067."""
    if spec.endpoint.sessions is None:
        return
    path = ("endpoint", "sessions")
    if spec.components:
        yield finding(
            "WS060",
            "sessions with components: AWS documents them only where the variant hosts the model",
            path,
        )
    for served in plan.models:
        if served.server == "sglang":
            if served.image.build is None:
                yield finding("WS061", "the stock sglang image does not know sessions: every open would fail", path)
        elif not served.server_image.supports_sessions:
            yield finding("WS064", f"{served.server} {served.server_image.version} does not know sessions", path)
    if spec.endpoint.sessions.sliding:
        others = sorted({one.server for one in plan.models if one.server != "sglang"})
        if others:
            message = f"{others[0]} fixes a session's end when it opens; only the sglang images of ours renew it"
            yield finding("WS067", message, (*path, "sliding"), "error")
        else:
            yield finding(
                "WS067", "the container renews sessions; whether SageMaker does too is open", (*path, "sliding")
            )
    if plan.endpoint.instances_max == 1:
        yield finding("WS063", "one instance: a session has nothing to choose from", path)
    elif plan.routing_strategy == "PREFIX_AWARE":
        yield finding("WS065", "requests without a session follow PREFIX_AWARE, those with one the session", path)


def check_scale_in(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS062."""
    ttl = plan.endpoint.session_ttl_seconds
    if ttl is None or not spec.components:
        return
    shrinks = plan.endpoint.instances_max > plan.endpoint.instances_min
    shrinks = shrinks or any(one.copies_max > one.copies_min for one in plan.models)
    if shrinks:
        message = f"sessions live {format_seconds(ttl)}, and scale-in may remove their copy at any time before"
        yield finding("WS062", message, ("endpoint", "sessions"))


def check_server_processes(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS066."""
    if spec.endpoint.sessions is None:
        return
    for served in plan.models:
        count = engine_of(spec, served).options.get("api_server_count", 1)
        if count != 1:
            message = f"api_server_count is {count}; each process has its own session table, so sessions get lost"
            yield finding("WS066", message, (*served.path, "engine", "options", "api_server_count"))


CHECKS = (check_sessions, check_scale_in, check_server_processes)
