"""The examples' templates and plans, byte for byte: a change of either is read in the diff before it is made."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.infrastructure.synthesis import EXAMPLES, synthesized
from warmstack.plan import plan_document

CASES = Path(__file__).parent / "stacks"

Golden = Callable[[Path, str], None]


@pytest.mark.parametrize("spec", EXAMPLES, ids=lambda path: path.stem)
def test_template(spec: Path, golden: Golden) -> None:
    """As `cdk synth` writes it; the newline ends the file."""
    # The hash of a build context changes with every edit of the code that images carry.
    text = re.sub(r"\b[0-9a-f]{64}\b", "…", synthesized(spec).text)
    golden(CASES / spec.stem / "template.json", text + "\n")


@pytest.mark.parametrize("spec", EXAMPLES, ids=lambda path: path.stem)
def test_plan(spec: Path, golden: Golden) -> None:
    """As `warmstack plan --json` writes it."""
    document = json.dumps(plan_document(synthesized(spec).plan), indent=2, ensure_ascii=False)
    golden(CASES / spec.stem / "plan.json", document + "\n")


def test_every_case_has_its_spec() -> None:
    assert sorted(path.name for path in CASES.iterdir()) == [path.stem for path in EXAMPLES]
