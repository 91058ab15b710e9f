"""Cases of the checks of routing and sessions."""

from __future__ import annotations

from tests.unit.plan.check_cases.case import ADAPTERS, PREFIX, SESSIONS, TWO, Case, component, options, routing
from tests.unit.plan.specs import SGLANG, VLLM

CASES = (
    Case(
        check="WS050",
        bad=[routing(strategy="RANDOM", prefix_length=2048)],
        good=[TWO, PREFIX, routing(prefix_length=2048)],
        path=("endpoint", "routing", "prefix_length"),
        says="RANDOM",
    ),
    Case(
        check="WS050",
        label="derived strategy",
        bad=[routing(concurrency_threshold=4)],
        good=[TWO, routing(concurrency_threshold=4)],
        path=("endpoint", "routing", "concurrency_threshold"),
        says="LEAST_OUTSTANDING_REQUESTS",
    ),
    Case(
        check="WS051",
        bad=[PREFIX],
        good=[PREFIX, TWO],
        path=("endpoint", "routing", "strategy"),
        says="instances: {min: 2}",
        severity="error",
    ),
    Case(
        check="WS051",
        label="scales",
        bad=[PREFIX, component(copies={"min": 2}), {"endpoint": {"instances": {"min": 1, "max": 2}}}],
        good=[PREFIX, component(copies={"min": 2}), {"endpoint": {"instances": {"min": 2, "max": 3}}}],
        path=("endpoint", "routing", "strategy"),
        says="instances.min is 1",
        severity="warning",
    ),
    Case(
        check="WS052",
        bad=[PREFIX, TWO, component()],
        good=[PREFIX, TWO, component(copies={"min": 2})],
        path=("components", 0, "copies", "min"),
        says="copies.min 1",
    ),
    Case(
        check="WS053",
        bad=[TWO, PREFIX, routing(concurrency_threshold=65), options(max_num_seqs=64)],
        good=[TWO, PREFIX, routing(concurrency_threshold=64), options(max_num_seqs=64)],
        path=("endpoint", "routing", "concurrency_threshold"),
        says="runs 64",
    ),
    Case(
        check="WS054",
        bad=[TWO, routing(strategy="KV_AWARE")],
        good=[TWO, VLLM, routing(strategy="KV_AWARE")],
        path=("endpoint", "routing", "strategy"),
        says="lmi",
    ),
    Case(
        check="WS055",
        bad=[TWO, VLLM, routing(strategy="KV_AWARE")],
        good=[TWO, VLLM, PREFIX],
        path=("endpoint", "routing", "strategy"),
        says="KV_AWARE",
    ),
    Case(
        check="WS056",
        bad=[TWO, PREFIX, VLLM, options(data_parallel_size=2)],
        good=[TWO, routing(strategy="RANDOM"), VLLM, options(data_parallel_size=2)],
        path=("engine", "options", "data_parallel_size"),
        says="is 2",
    ),
    Case(
        check="WS057",
        bad=[TWO, PREFIX, component(copies={"min": 2}, adapters=ADAPTERS)],
        good=[TWO, PREFIX, component(copies={"min": 2})],
        path=("endpoint", "routing"),
        says="adapters",
    ),
    Case(
        check="WS058",
        bad=[TWO, PREFIX, options(max_num_seqs=4)],
        good=[TWO, PREFIX, options(max_num_seqs=8)],
        path=("endpoint", "routing", "concurrency_threshold"),
        says="is 2 (half of",
    ),
    Case(
        check="WS060",
        bad=[TWO, SESSIONS, component(copies={"min": 2})],
        good=[TWO, SESSIONS],
        path=("endpoint", "sessions"),
        says="components",
    ),
    Case(
        check="WS061",
        bad=[TWO, SESSIONS, SGLANG],
        good=[TWO, SESSIONS, VLLM],
        path=("endpoint", "sessions"),
        says="sglang",
    ),
    Case(
        check="WS062",
        bad=[TWO, SESSIONS, component(copies={"min": 2, "max": 4})],
        good=[TWO, SESSIONS, component(copies={"min": 2})],
        path=("endpoint", "sessions"),
        says="20m",
    ),
    Case(check="WS063", bad=[SESSIONS], good=[SESSIONS, TWO], path=("endpoint", "sessions"), says="one instance"),
    Case(
        check="WS064",
        bad=[TWO, SESSIONS, {"engine": {"version": "0.33.0-lmi15.0.0-cu128"}}],
        good=[TWO, SESSIONS, {"engine": {"version": "0.34.0-lmi16.0.0-cu128"}}],
        path=("endpoint", "sessions"),
        says="lmi15",
    ),
    Case(
        check="WS065",
        bad=[TWO, SESSIONS, PREFIX],
        good=[TWO, SESSIONS, routing(strategy="RANDOM")],
        path=("endpoint", "sessions"),
        says="PREFIX_AWARE",
    ),
    Case(
        check="WS066",
        bad=[TWO, SESSIONS, VLLM, options(api_server_count=2)],
        good=[TWO, VLLM, options(api_server_count=2)],
        path=("engine", "options", "api_server_count"),
        says="session table",
    ),
)
