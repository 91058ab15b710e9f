"""LMCache's real configuration parser as a strict judge: runs in the engine environment, JSON in and out.

LMCache itself is lenient: an unknown key is a warning, a value of a wrong kind becomes None. Here each is a complaint.
Reads a list of cases from standard input, ``{"yaml": path}`` or ``{"environment": {...}}``; writes for each a list of
complaints, and the values that were read.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path
from typing import Any

import yaml


class _Kept(logging.Handler):
    """Keeps what is said at warning level and above."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        self.said.append(record.getMessage())


def _listen(kept: _Kept) -> None:
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("lmcache") and kept not in logging.getLogger(name).handlers:
            logging.getLogger(name).addHandler(kept)


def main() -> None:
    """Judge every case."""
    from lmcache.v1.config import _CONFIG_DEFINITIONS, LMCacheEngineConfig

    answers = []
    for case in json.load(sys.stdin):
        kept = _Kept()
        _listen(kept)
        if "yaml" in case:
            given: dict[str, Any] = yaml.safe_load(Path(case["yaml"]).read_text(encoding="utf-8"))
            config = LMCacheEngineConfig.from_file(case["yaml"])
        else:
            given = {key.removeprefix("LMCACHE_").lower(): one for key, one in case["environment"].items()}
            os.environ |= case["environment"]
            config = LMCacheEngineConfig.from_env()
            for key in case["environment"]:
                del os.environ[key]
        complaints = [f"unknown key {key}" for key in given if key not in _CONFIG_DEFINITIONS]
        complaints += [f"{key} became None" for key in given if getattr(config, key, None) is None]
        try:
            config.validate()
        except (ValueError, AssertionError) as error:
            complaints.append(f"validate: {error}")
        complaints += kept.said
        values = {key: getattr(config, key, None) for key in given}
        answers.append({"complaints": complaints, "values": values})
    print("\n" + json.dumps(answers))


if __name__ == "__main__":
    main()
