"""The status in a terminal."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.unit.local.definitions import endpoint
from tests.unit.local.running import running
from warmstack.cli.local import show_status


def test_text_with_brackets_is_shown_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with running(endpoint(), folder=tmp_path, source="[/red]x.yaml") as local:
        next(iter(local.platform.endpoints["demo"].copies.values())).failure = "[/bold]: [Errno 2]"
        local.services.journal.begin(at=0.0, endpoint="demo", component=None, operation="x").detail = "[/i] why"
        assert show_status(urlsplit(local.url).port or 0, as_json=False) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("[/red]x.yaml at http")
    assert "[/bold]: [Errno 2]" in shown
    assert "[/i] why" in shown
