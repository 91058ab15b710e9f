"""One case of one check, and the changes of the base spec that the cases are written in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warmstack.catalog import load_catalog
from warmstack.plan.options import TYPED

Change = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A spec that the check speaks of, at that place, and a nearby one that it is silent about.

    Args:
        check: the check's id.
        bad: changes of the base after which it finds something.
        good: changes after which it does not.
        path: the place it points at.
        says: a part of its message.
        severity: what it finds, where that is not the catalogue's.
        label: tells several cases of one check apart.
    """

    check: str
    bad: list[Change]
    good: list[Change]
    path: tuple[str | int, ...]
    says: str
    severity: str | None = None
    label: str = ""


def component(**keys: Any) -> Change:
    return {"components": [{"name": "one", **keys}]}


def routing(**keys: Any) -> Change:
    return {"endpoint": {"routing": keys}}


def options(**keys: Any) -> Change:
    return {"engine": {"options": keys}}


ADAPTERS = [{"name": "legal", "artifact": "s3://acme/legal.tar.gz"}]
BUILT: Change = {"image": {"build": "codebuild"}}
HERE: Change = {"target": {"account": "111122223333", "region": "us-west-2"}}
TWO: Change = {"endpoint": {"instances": {"min": 2}}}
SESSIONS: Change = {"endpoint": {"sessions": {"ttl": "20m"}}}
PREFIX = routing(strategy="PREFIX_AWARE")
P4DE: Change = {"endpoint": {"instance_type": "ml.p4de.24xlarge"}}
LONG_TAGS: Change = {"tags": {f"team{i}": "v" * 20 for i in range(45)}}
MIRROR: Change = {"image": {"base": "111122223333.dkr.ecr.us-east-1.amazonaws.com/lmi:1"}}

_FLAGS = load_catalog().flags["vllm"].flags
_FREE = {name: flag for name, flag in _FLAGS.items() if name == flag.name and name not in TYPED["vllm"]}
_FLOATS = [name for name, flag in _FREE.items() if flag.kind == "float" and not flag.choices]
MANY = {name: True for name, flag in _FREE.items() if flag.kind == "bool"} | dict.fromkeys(_FLOATS, 0.5)
TEXTS = [name for name, flag in _FREE.items() if flag.kind == "str" and not flag.choices][:40]
