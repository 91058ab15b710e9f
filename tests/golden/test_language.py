"""Every kind of broken spec, with the exact message that a user sees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from warmstack.spec import SpecError, load_spec, render

CASES = Path(__file__).parent / "language"


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir()))
def test_message(case: str, golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CASES / case)
    with pytest.raises(SpecError) as caught:
        load_spec("spec.yaml")
    golden(CASES / case / "expected.txt", render(caught.value.diagnostics, caught.value.lines))
    assert all(one.severity == "error" for one in caught.value.diagnostics)
