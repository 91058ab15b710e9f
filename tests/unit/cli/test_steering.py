"""What others say reaches a terminal without what steers it."""

from __future__ import annotations

import logging
import sys

import pytest


def test_a_terminal_gets_nothing_that_steers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from warmstack.cli.steering import shown

    text = "a\x1b]0;title\x07b\x9b2Jc\td\ne"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert shown(text) == "a�]0;title�b�2Jc\td\ne"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    assert shown(text) == text
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert shown(text, sys.stderr) != text, "each stream for itself"


def test_what_a_service_says_does_not_steer_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from warmstack.cli.chat import _Plain
    from warmstack.cli.client_output import LogLines
    from warmstack.client import ModelRefused, ToolCallDelta

    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    show = _Plain()
    show.failed(ModelRefused("no\x1b]0;title\x07"))
    show.event(ToolCallDelta(position=0, name="a\x1b[2J", arguments="{}"))
    LogLines().emit(logging.makeLogRecord({"msg": "again\x1b[2J"}))
    out, err = capsys.readouterr()
    assert "\x1b" not in out
    assert "\x1b" not in err.replace("\x1b[2m", "").replace("\x1b[0m", "")
