"""What `make test-browser` says where there is no browser to be had. These tests need nothing."""

from __future__ import annotations

import os
import shutil

import pytest

import browser_tools


def test_a_second_run_does_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(browser_tools, "missing", list)
    assert browser_tools.main() == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("apt_get", "user", "text"),
    [
        (None, 0, "browser: chromium: missing, and there is no apt-get; put chromium and chromedriver on PATH"),
        ("apt-get", 1000, "browser: chromium: missing, and installing takes root; run `make test-browser` as root"),
    ],
)
def test_what_it_cannot_install_it_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], apt_get: str | None, user: int, text: str
) -> None:
    monkeypatch.setattr(browser_tools, "missing", lambda: ["chromium"])
    monkeypatch.setattr(shutil, "which", lambda *_, **__: apt_get)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert browser_tools.main() == 1
    assert capsys.readouterr().err.strip() == text
