"""The interface of the formatter runtime, for tests: a file has the functions `input`, `output` and `chunk`."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any


class FormatterError(Exception):
    """A formatter failed."""


class Formatters:
    def __init__(self, path: Path, name: str, found: dict[str, Any]) -> None:
        self._path, self._name, self._found = path, name, found
        self.has_input = "input" in found
        self.has_output = "output" in found

    def input(self, payload: dict[str, Any]) -> Any:
        return self._call("input", payload)

    def output(self, response: dict[str, Any]) -> Any:
        return self._call("output", response)

    def chunk(self, chunk: dict[str, Any]) -> Any:
        return self._call("chunk", chunk)

    def _call(self, name: str, value: dict[str, Any]) -> Any:
        try:
            return self._found[name](value)
        except Exception as error:
            raise FormatterError(f"{self._name}'s {name} formatter in {self._path} failed: {error}") from error


def load(path: Path, name: str) -> Formatters:
    try:
        return Formatters(path, name, runpy.run_path(str(path)))
    except Exception as error:
        raise FormatterError(f"{name}'s formatters in {path} cannot be loaded: {error}") from error
