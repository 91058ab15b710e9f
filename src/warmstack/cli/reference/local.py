"""The page of the local endpoint's options: limits, choices and faults, from the code that reads them."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

from warmstack.cli.reference.markdown import code, page, table
from warmstack.local.dialects.defects import describe_defects
from warmstack.local.platform.faults_catalog import FAULTS
from warmstack.local.wire.limits import Limits
from warmstack.routing import describe_choices

_INTRODUCTION = """\
What `warmstack local up` can be told beside its options. `warmstack local options` prints the same. How the local
endpoint behaves, and what is known of SageMaker, is in [the local endpoint](../concepts/local-endpoint.md)."""
_LIMITS = """\
Sources disagree on some limits of the runtime API. The default is what the newest documentation says; `--limit
NAME=VALUE` sets another."""
_CHOICES = """\
Where SageMaker's behaviour is not documented there is a choice with a name, set by `--choice NAME=VALUE`.
Searched until 2026-11-30 in the service models of botocore 1.44.8, the developer guide, and AWS's samples and blogs. If
your endpoint does otherwise, set the choice."""
_DEFECTS = """\
Known defects of the servers, which clients meet on AWS, and so here. `--without-defect NAME` leaves one out."""
_FAULTS = """\
`warmstack local fault NAME TARGET` while it runs. Clients see what SageMaker would send."""


def local_page() -> str:
    """Return the page."""
    return page(
        "Options of the local endpoint",
        _INTRODUCTION,
        "\n\n".join(("## Limits", _LIMITS, _limits())),
        "\n\n".join(("## Choices", _CHOICES, _choices())),
        "\n\n".join(("## Defects", _DEFECTS, _defects())),
        "\n\n".join(("## Faults", _FAULTS, _faults())),
    )


def _limits() -> str:
    meanings = dict(re.findall(r"^    (\w+): (.*(?:\n        .*)*)", inspect.getdoc(Limits) or "", re.MULTILINE))
    rows = [(code(one.name), code(f"{one.default}"), " ".join(meanings[one.name].split())) for one in fields(Limits)]
    return table(("limit", "default", "meaning"), rows)


def _choices() -> str:
    rows = [
        (code(one.name), code(one.default), _others(one.values, one.default), one.meaning) for one in describe_choices()
    ]
    return table(("choice", "default", "or", "meaning"), rows)


def _others(values: tuple[str, ...], default: str) -> str:
    if len(values) == 1:
        return values[0]
    return ", ".join(code(value) for value in values if value != default)


def _defects() -> str:
    return table(("defect", "what it does"), [(code(name), meaning) for name, meaning in describe_defects().items()])


def _faults() -> str:
    return table(("fault", "what it does"), [(code(name), meaning) for name, meaning in FAULTS.items()])
