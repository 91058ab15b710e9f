"""Whatever a user's function raises or returns, the server gets a FormatterError, and a text that can be sent."""

from __future__ import annotations

import pytest

from formatter_middleware import FormatterMiddleware
from tests.container.formatters.conftest import Write
from tests.container.formatters.servers import Engine, ask, event
from warmstack_formatters import FormatterError, Formatters, error_body, load, to_text

HOSTILE = """
import asyncio
import unittest.mock

class Own(BaseException): ...

class Silent(Exception):
    def __init__(self, error):
        self.error = error
    def __str__(self):
        raise self.error

class Text(str):
    def encode(self, *_):
        raise KeyboardInterrupt
    def __bool__(self):
        raise KeyboardInterrupt

class Pairs(dict):
    def items(self):
        raise KeyboardInterrupt

RAISED = {
    "own": Own("own"),
    "generator": GeneratorExit(),
    "cancelled": asyncio.CancelledError(),
    "interrupt": KeyboardInterrupt(),
    "exit": SystemExit(3),
    "silent exit": Silent(SystemExit()),
    "silent interrupt": Silent(KeyboardInterrupt()),
    "half": ValueError("\\ud800"),
}

@input_formatter
def to_model(payload):
    raise RAISED[payload["raise"]]

@output_formatter
def to_client(response):
    kind = response["kind"]
    if kind in RAISED:
        raise RAISED[kind]
    if kind == "mock":
        return unittest.mock.Mock(spec=str)
    return {"text": Text("hello"), "empty": Text(""), "pairs": Pairs(a=1)}[kind]
"""
RAISED = ["own", "generator", "cancelled", "interrupt", "exit", "silent exit", "silent interrupt", "half"]


@pytest.fixture
def formatters(write: Write) -> Formatters:
    return load(write(HOSTILE), "legal")


@pytest.mark.parametrize("kind", RAISED)
def test_everything_that_is_raised_is_a_formatters_failure(formatters: Formatters, kind: str) -> None:
    for failing in (
        lambda: formatters.input({"raise": kind}),
        lambda: formatters.output({"kind": kind}),
        lambda: formatters.chunk({"kind": kind}),
    ):
        with pytest.raises(FormatterError, match="of legal failed: ") as caught:
            failing()
        assert to_text(error_body(caught.value)).encode()


def test_a_text_of_the_users_own_class_is_sent_as_a_plain_one(formatters: Formatters) -> None:
    for kind, text in (("text", "hello"), ("empty", "")):
        for result in (formatters.output({"kind": kind}), formatters.chunk({"kind": kind})):
            assert (type(result), result) == (str, text)


def test_a_result_whose_own_methods_fail_cannot_be_sent(formatters: Formatters) -> None:
    with pytest.raises(FormatterError, match="returned what cannot be sent as JSON: no message"):
        formatters.output({"kind": "pairs"})


def test_what_only_claims_to_be_a_text_is_none(formatters: Formatters) -> None:
    with pytest.raises(FormatterError, match="returned Mock for a whole response; allowed is dict or str"):
        formatters.output({"kind": "mock"})


@pytest.mark.parametrize("kind", RAISED)
def test_the_middleware_answers_whatever_is_raised(formatters: Formatters, kind: str) -> None:
    whole = ask(FormatterMiddleware(Engine(lambda _: {"kind": kind}), formatters), {"raise": kind})
    assert (whole.status, whole.json["error"]["type"]) == (424, "FormatterError")
    only_output = FormatterMiddleware(Engine(lambda _: [event({"kind": kind})]), _without_input(formatters))
    assert ask(only_output, {"messages": []}).status == 424


def _without_input(formatters: Formatters) -> Formatters:
    formatters._input = None
    return formatters
