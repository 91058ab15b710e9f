"""Every check that plans run, by id. Ids never change meaning and are never used again.

The tables are what `warmstack explain` and the reference page print; the code that looks is in ``plan/checks`` and
in the planning steps. Sources name public documents: the SageMaker API reference as botocore 1.44.8 carries it
("API"), the developer guide ("DG"), the sources of the containers (DJL Serving, vLLM, SGLang, LMCache).
"""

from __future__ import annotations

from collections.abc import Mapping

from warmstack.plan.check_catalog import builds, cache, capacity, deployment, engine, routing
from warmstack.plan.check_catalog.check import Check

_TABLES = (deployment, builds, capacity, cache, routing, engine)
CHECKS: Mapping[str, Check] = dict(sorted((name, one) for table in _TABLES for name, one in table.CHECKS.items()))

__all__ = ["CHECKS", "Check"]
