"""``engine.options``: checked against the server's own flags, because LMI drops what it does not know."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from warmstack.catalog import Flag, FlagTable
from warmstack.plan.findings import finding
from warmstack.plan.image_plan import Setting
from warmstack.plan.model import Finding, SpecPath

# What typed fields say, by the names the servers give it. Two places for one setting would disagree one day.
_COMMON = {
    "max_model_len": "model.max_model_len",
    "dtype": "model.dtype",
    "quantization": "model.quantization",
    "revision": "model.weights.hub.revision",
    "speculative_config": "engine.speculative",
    "spec_method": "engine.speculative",
    "spec_model": "engine.speculative",
    "spec_tokens": "engine.speculative",
}
TYPED: Mapping[str, Mapping[str, str]] = {
    "lmi": _COMMON
    | {
        "model_id": "model.id",
        "model": "model.id",
        "model_dir": "model.id",
        "tensor_parallel_degree": "engine.tensor_parallel_degree",
        "tensor_parallel_size": "engine.tensor_parallel_degree",
        "quantize": "model.quantization",
        "enable_stateful_sessions": "endpoint.sessions",
        "sessions_expiration": "endpoint.sessions.ttl",
        "lmcache_auto_config": "cache.lmcache.auto_config",
        "lmcache_config_file": "cache.tiers",
        "model_loading_timeout": "endpoint.timeouts.startup",
    },
    "vllm": _COMMON
    | {
        "model": "model.id",
        "tensor_parallel_size": "engine.tensor_parallel_degree",
    },
    "sglang": _COMMON
    | {
        "model_path": "model.id",
        "tp_size": "engine.tensor_parallel_degree",
        "context_length": "model.max_model_len",
        "speculative_algorithm": "engine.speculative",
        "speculative_draft_model_path": "engine.speculative",
    },
}
# What the image or the platform decides, with what would happen otherwise. One name a line; both engines'.
_SECRET = "it would stand in plain text in the template, and it does not protect /invocations"
_ALONE = "the container must answer alone, on port 8080, without TLS"
_ONE_MACHINE = "a copy runs on one instance"
_NOT_PLANNED = "context parallelism is not planned, so nothing could be said about what fits"
OWNED: Mapping[str, str] = {
    "host": _ALONE,
    "port": _ALONE,
    "uds": _ALONE,
    "root_path": _ALONE,
    "headless": _ALONE,
    "grpc": _ALONE,
    "ssl_keyfile": _ALONE,
    "ssl_certfile": _ALONE,
    "ssl_ca_certs": _ALONE,
    "ssl_cert_reqs": _ALONE,
    "enable_ssl_refresh": _ALONE,
    "api_key": _SECRET,
    "admin_api_key": _SECRET,
    "hf_token": _SECRET,
    "nnodes": _ONE_MACHINE,
    "node_rank": _ONE_MACHINE,
    "master_addr": _ONE_MACHINE,
    "master_port": _ONE_MACHINE,
    "dist_init_addr": _ONE_MACHINE,
    "disaggregation_mode": _ONE_MACHINE,
    "data_parallel_rank": _ONE_MACHINE,
    "data_parallel_start_rank": _ONE_MACHINE,
    "data_parallel_size_local": _ONE_MACHINE,
    "data_parallel_address": _ONE_MACHINE,
    "data_parallel_rpc_port": _ONE_MACHINE,
    "data_parallel_backend": _ONE_MACHINE,
    "data_parallel_hybrid_lb": _ONE_MACHINE,
    "data_parallel_external_lb": _ONE_MACHINE,
    "data_parallel_multi_port_external_lb": _ONE_MACHINE,
    "decode_context_parallel_size": _NOT_PLANNED,
    "prefill_context_parallel_size": _NOT_PLANNED,
}
SECRET_OPTIONS = frozenset(name for name, why in OWNED.items() if why == _SECRET)
"""Options whose value is a secret: messages must not show it."""
# Other handlers than LMI's asynchronous one have neither sessions nor adapters, and read other settings.
_HANDLER = "LMI's asynchronous handler is the one that the plan is made for"
OWNED_BY_LMI: Mapping[str, str] = {
    "async_mode": _HANDLER,
    "rolling_batch": _HANDLER,
    "entrypoint": _HANDLER,
    "mpi_mode": _HANDLER,
}
# Numbers that the plan reckons with, so that they have to be numbers, and possible ones.
RANGES: Mapping[str, tuple[float, float]] = {
    "max_num_seqs": (1, 65_536),
    "max_rolling_batch_size": (1, 65_536),
    "max_running_requests": (1, 65_536),
    "gpu_memory_utilization": (0.05, 1),
    "mem_fraction_static": (0.05, 1),
    "data_parallel_size": (1, 1_024),
    "dp_size": (1, 1_024),
    "pipeline_parallel_size": (1, 1_024),
    "pipeline_parallel_degree": (1, 1_024),
    "pp_size": (1, 1_024),
    "max_loras": (1, 1_024),
    "max_cpu_loras": (1, 100_000),
    "max_lora_rank": (1, 512),
    "max_num_batched_tokens": (1, 10_000_000),
    "api_server_count": (1, 1_024),
}
# LMI has two names for one setting; the handler fails when both are given and differ.
CANONICAL: Mapping[str, Mapping[str, str]] = {
    "lmi": {"max_num_seqs": "max_rolling_batch_size"},
    "vllm": {},
    "sglang": {},
}


# The names under which the servers ask for data parallel ranks inside one copy.
DATA_PARALLEL = ("data_parallel_size", "dp_size")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedOptions:
    """The options that stand, by canonical name, and what is wrong with the others."""

    settings: Mapping[str, Setting]
    findings: tuple[Finding, ...]


def check_options(options: Mapping[str, Any], flags: FlagTable, path: SpecPath) -> CheckedOptions:
    """Return the options as settings.

    Args:
        options: as written in the spec.
        flags: the server's flags.
        path: where the options stand in the spec.
    """
    settings: dict[str, Setting] = {}
    findings: list[Finding] = []
    for name, value in options.items():
        place = (*path, name)
        problem = _problem(name, value, flags, place)
        if problem is not None:
            findings.append(problem)
            continue
        canonical = canonical_name(name, flags)
        if canonical in settings:
            findings.append(finding("WS082", f"{name} and {canonical} are one setting; write one of them", place))
        settings[canonical] = _frozen(value)
    return CheckedOptions(settings=settings, findings=tuple(findings))


def canonical_name(name: str, flags: FlagTable) -> str:
    """Return the one name under which a setting is rendered: aliases and LMI's second names fold into it."""
    flag = flags.flags.get(name)
    known = name if flag is None else flag.name
    return CANONICAL[flags.server].get(known, known)


def _problem(name: str, value: Any, flags: FlagTable, place: SpecPath) -> Finding | None:
    flag = flags.flags.get(name)
    names = (name,) if flag is None else (name, flag.name, *flag.aliases)
    for known in names:
        typed = TYPED[flags.server].get(known)
        if typed is not None:
            return finding("WS082", f"option {name} repeats {typed}, which is where {flags.server} gets it from", place)
        owner = OWNED.get(known) or (OWNED_BY_LMI.get(known) if flags.server == "lmi" else None)
        if owner is not None:
            return finding("WS082", f"option {name} is not yours to set: {owner}", place)
    if name in flags.removed:
        return finding("WS081", f"option {name} has no effect on {flags.server}: {flags.removed[name]}", place)
    if flag is None:
        guesses = [one for one in flags.suggest(name) if one not in OWNED and one not in TYPED[flags.server]]
        ask = f"; did you mean {' or '.join(guesses)}?" if guesses else ""
        return finding("WS080", f"{flags.server} has no option {name} (checked: {flags.version}){ask}", place)
    wrong = _out_of_range(flag, value) or next(_wrong_values(flag, value), None)
    return None if wrong is None else finding("WS083", f"option {name} is {_shown(value)}; {wrong}", place)


def _out_of_range(flag: Flag, value: Any) -> str | None:
    """Return what is wrong with a number that the plan reckons with, or None."""
    if flag.name not in RANGES:
        return None
    low, high = RANGES[flag.name]
    kind = float if flag.kind == "float" else int
    if isinstance(value, bool) or not isinstance(value, int | float) or (kind is int and not isinstance(value, int)):
        return "it must be a whole number" if kind is int else "it must be a number"
    return None if low <= value <= high else f"it must be from {low:,} to {high:,}"


def _wrong_values(flag: Flag, value: Any) -> Iterator[str]:
    many = isinstance(value, tuple | list)
    if many and not flag.repeated and flag.kind != "json":
        yield "it takes one value, not a list"
    for one in value if many and flag.kind != "json" else (value,):
        if flag.kind == "bool" and not isinstance(one, bool):
            yield "it must be true or false"
        elif flag.kind == "int" and not _is_int(one):
            yield "it must be a whole number"
        elif flag.kind == "float" and (isinstance(one, bool) or not isinstance(one, int | float)):
            yield "it must be a number"
        elif flag.kind == "json" and not _is_json(one):
            yield "it must be a mapping, or JSON in quotes"
        elif flag.kind == "str" and isinstance(one, dict | tuple | list):
            yield "it must be a text"
        if flag.choices and str(one) not in flag.choices:
            yield f"it must be one of {', '.join(flag.choices)}"


def _is_int(value: Any) -> bool:
    # Some whole-number flags also take words and human forms: auto, 8k, 25.6G.
    return (isinstance(value, int) and not isinstance(value, bool)) or isinstance(value, str)


def _is_json(value: Any) -> bool:
    if isinstance(value, dict | tuple | list):
        return True
    if not isinstance(value, str):
        return False
    try:
        json.loads(value)
    except ValueError:
        return False
    return True


def _frozen(value: Any) -> Setting:
    result: Setting = tuple(value) if isinstance(value, list) else value
    return result


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def whole_number(settings: Mapping[str, Setting], name: str) -> int | None:
    """Return a setting as a whole number, or None where it is absent or a word."""
    value = settings.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number(settings: Mapping[str, Setting], name: str) -> float | None:
    """Return a setting as a number, or None where it is absent or a word."""
    value = settings.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def data_parallel_ranks(settings: Mapping[str, Any]) -> int:
    """Return the data parallel ranks inside one copy that the options ask for; 1 without."""
    ranks = 1
    if settings.get("enable_dp_attention") is True:
        return ranks  # SGLang: these ranks lie inside the tensor parallel group
    for name in DATA_PARALLEL:
        value = settings.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > ranks:
            ranks = value
    return ranks
