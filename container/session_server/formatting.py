"""The users' formatters: the base's and each adapter's, input and output separately.

They run in the event loop. They are called for every chunk, where a thread for each call would cost more than most of
them do, and would ask their authors for thread safety. So a formatter must compute and not wait; a slow one is logged.
"""

from __future__ import annotations

import importlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from session_server.errors import FormatterFailedError

SLOW_SECONDS = 0.05
_log = logging.getLogger(__name__)
_Value = TypeVar("_Value")
_Result = TypeVar("_Result")


class Formatters(Protocol):
    """What `warmstack_formatters.load` returns."""

    has_input: bool
    has_output: bool

    def input(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the payload for the engine."""
        ...

    def output(self, response: dict[str, Any]) -> dict[str, Any] | str:
        """Return the answer for the client."""
        ...

    def chunk(self, chunk: dict[str, Any]) -> dict[str, Any] | str | None:
        """Return a chunk for the client, or None to leave it out."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatterPair:
    """The formatters of one request; None where there is none."""

    input: Formatters | None = None
    output: Formatters | None = None

    def format_input(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Apply the input formatter, if there is one.

        Raises:
            FormatterFailedError: With the formatter's name and file.
        """
        return _call(self.input.input, payload) if self.input else payload

    def format_output(self, answer: dict[str, Any]) -> dict[str, Any] | str:
        """Apply the output formatter to a whole answer.

        Raises:
            FormatterFailedError: With the formatter's name and file.
        """
        return _call(self.output.output, answer) if self.output else answer

    def format_chunk(self, chunk: dict[str, Any]) -> dict[str, Any] | str | None:
        """Apply the output formatter to a chunk of a stream.

        Raises:
            FormatterFailedError: With the formatter's name and file.
        """
        return _call(self.output.chunk, chunk) if self.output else chunk


def load_formatters(path: Path, adapter: str | None = None) -> Formatters:
    """Load a file of formatters with the runtime that the image carries.

    Args:
        path: The file.
        adapter: The adapter that they belong to, or None for the base model's.

    Raises:
        FormatterFailedError: The file cannot be loaded.
    """
    try:
        runtime = importlib.import_module("warmstack_formatters")
    except ImportError as error:
        raise FormatterFailedError(
            f"{path} has formatters, and the image lacks warmstack_formatters: {error}"
        ) from error
    try:
        return cast(Formatters, runtime.load(path, adapter or "the base model", adapter=adapter))
    except runtime.FormatterError as error:
        raise FormatterFailedError(str(error)) from error


def choose_pair(base: Formatters | None, adapter: Formatters | None) -> FormatterPair:
    """Choose for each direction: the adapter's formatter, else the base's."""
    return FormatterPair(
        input=next((one for one in (adapter, base) if one and one.has_input), None),
        output=next((one for one in (adapter, base) if one and one.has_output), None),
    )


def _call(function: Callable[[_Value], _Result], value: _Value) -> _Result:
    started = time.perf_counter()
    try:
        return function(value)
    except Exception as error:
        # The runtime wraps what users' code raises; anything else is its own defect, and the client gets no traceback.
        if type(error).__name__ != "FormatterError":
            _log.exception("a formatter failed unexpectedly")
        raise FormatterFailedError(str(error)) from error
    finally:
        if (seconds := time.perf_counter() - started) > SLOW_SECONDS:
            _log.warning("a formatter took %.0f ms, in which this server did nothing else", seconds * 1000)
