"""What engines get of this process's environment: a list of what they may, so that nobody's secrets reach them."""

from __future__ import annotations

from collections.abc import Mapping

ALLOWED = frozenset({"HOME", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER"})
ALLOWED_PREFIXES = ("LC_",)
OFFLINE: Mapping[str, str] = {
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "LMCACHE_TRACK_USAGE": "false",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
}
"""Nothing is looked up and nothing is reported."""
REPEATABLE: Mapping[str, str] = {
    # LMCache finds a chunk by hashes that have to be those of the process that stored it.
    "PYTHONHASHSEED": "0",
    "PYTHONUNBUFFERED": "1",
    # One thread a copy: several copies share few cores.
    "OMP_NUM_THREADS": "1",
}


def engine_surroundings(outer: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that every engine process starts from.

    Args:
        outer: This process's environment.
    """
    inherited = {key: value for key, value in outer.items() if key in ALLOWED or key.startswith(ALLOWED_PREFIXES)}
    return {**inherited, **OFFLINE, **REPEATABLE}
