"""Formatters: a user's functions that change what reaches the model and what reaches the client.

The file needs Python 3.10 or newer and nothing beside the standard library. It is copied into images and into
adapters' archives, so that the same ``formatters.py`` runs on LMI, on the vLLM image and on the SGLang image::

    from warmstack_formatters import input_formatter, output_formatter

    @input_formatter
    def to_model(payload: dict) -> dict: ...

    @output_formatter
    def to_client(response: dict, *, stream: bool) -> dict: ...
"""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import json
import sys
import threading
import traceback
import types
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
_MARKS = {"input": "is_input_formatter", "output": "is_output_formatter"}
# What a formatter may ask for by naming a parameter like this.
_OFFERED = {"input": ("adapter",), "output": ("stream", "adapter")}
_SERIAL = itertools.count()
_LOADING = threading.RLock()
_LONGEST_TEXT = 500


class FormatterError(Exception):
    """A formatter file that cannot be used, or a formatter that failed; the text is a whole message."""

    # Guard: no ValueError. LMI takes a ValueError from model.py for a model.py that is not there.


def input_formatter(function: Decorated) -> Decorated:
    """Mark the function that changes a request's payload before the model sees it."""
    function.is_input_formatter = True  # type: ignore[attr-defined]  # the mark that LMI looks for, too
    return function


def output_formatter(function: Decorated) -> Decorated:
    """Mark the function that changes the response, or each chunk of a streamed one, before the client sees it."""
    function.is_output_formatter = True  # type: ignore[attr-defined]  # the mark that LMI looks for, too
    return function


class Formatters:
    """The formatters of one file. Without a formatter of a kind, its methods return what they were given."""

    def __init__(self, functions: dict[str, _Function]) -> None:
        self._input, self._output = functions.get("input"), functions.get("output")

    @property
    def has_input(self) -> bool:
        """Whether the file has an input formatter."""
        return self._input is not None

    @property
    def has_output(self) -> bool:
        """Whether the file has an output formatter."""
        return self._output is not None

    def input(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the payload for the model.

        Args:
            payload: the request's body.

        Raises:
            FormatterError: the formatter failed, or returned something else than a dict that JSON can hold.
        """
        if self._input is None:
            return payload
        return cast("dict[str, Any]", self._input.call(payload, "a request", (dict,)))

    def output(self, response: dict[str, Any]) -> dict[str, Any] | str:
        """Return the body for the client: a dict, sent as JSON, or a text, sent as it is.

        Args:
            response: the whole response, in OpenAI's form.

        Raises:
            FormatterError: the formatter failed, or returned something else.
        """
        if self._output is None:
            return response
        return cast("dict[str, Any] | str", self._output.call(response, "a whole response", (dict, str)))

    def chunk(self, chunk: dict[str, Any]) -> dict[str, Any] | str | None:
        """Return a streamed chunk for the client; None drops it.

        Args:
            chunk: one chunk of a streamed response, in OpenAI's form.

        Raises:
            FormatterError: the formatter failed, or returned something else.
        """
        if self._output is None:
            return chunk
        result = self._output.call(chunk, "a chunk", (dict, str, type(None)), stream=True)
        return cast("dict[str, Any] | str | None", result)


def load(path: Path, name: str, *, adapter: str | None = None) -> Formatters:
    """Load a file of formatters as a module of its own.

    Args:
        path: the user's file.
        name: the component or adapter it belongs to, for messages.
        adapter: what a formatter that asks for ``adapter`` is given: the adapter's name, or None for a base model.

    Raises:
        FormatterError: the file is missing, does not load, or has no formatter, two of a kind, or one that no server
            can call.
    """
    where = f"the formatters of {name} ({path})"
    try:
        code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except OSError as error:
        raise FormatterError(f"{where} cannot be read: {error.strerror or error}") from error
    except SyntaxError as error:
        raise FormatterError(f"{where} have a syntax error in line {error.lineno}: {error.msg}") from error
    except (ValueError, MemoryError, RecursionError) as error:
        raise FormatterError(f"{where} are no Python text: {_text(error)}") from error
    # Guard: the name has a serial number, so that neither a-b and a.b nor two versions of a file are one module.
    module = types.ModuleType(f"warmstack_user_formatters_{next(_SERIAL)}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        with _importable_names():
            exec(code, module.__dict__)
        formatters = Formatters(_functions(module, path, name, adapter))
    except BaseException as error:  # whatever ends the user's file must not end the server
        del sys.modules[module.__name__]
        if isinstance(error, FormatterError):
            raise
        raise FormatterError(f"{where} do not load: {_told(error, path)}") from error
    weakref.finalize(formatters, sys.modules.pop, module.__name__, None)
    return formatters


def is_result(body: object) -> bool:
    """Tell whether a reply is for an output formatter: an object that reports no error."""
    return isinstance(body, dict) and body.get("error") is None


def is_session_request(payload: dict[str, Any]) -> bool:
    """Tell whether a request opens or closes a SageMaker session: such requests pass unformatted."""
    return "requestType" in payload and not {"prompt", "inputs", "messages"} & payload.keys()


def error_body(error: FormatterError) -> dict[str, Any]:
    """Return the body that tells a client of a formatter's failure."""
    return {"error": {"message": str(error), "type": "FormatterError", "code": 424}}


def to_text(value: dict[str, Any] | str) -> str:
    """Return what is sent for a formatter's result: JSON without spaces, or the text itself.

    Raises:
        ValueError: JSON or UTF-8 cannot hold the value (also raised as a TypeError or a RecursionError).
    """
    if isinstance(value, str):
        text = value
    else:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text.encode()  # Guard: half of a surrogate pair would fail later, while it is being sent.
    return text


class _Function:
    """One function of the user's, and how it is called."""

    def __init__(self, function: Callable[..., Any], kind: str, path: Path, name: str, adapter: str | None) -> None:
        self._function, self._path, self._adapter = function, path, adapter
        called = getattr(function, "__name__", type(function).__name__)
        self._who = f"{kind} formatter {called} of {name}"
        self._wanted = self._keywords(kind)

    def call(self, value: dict[str, Any], what: str, allowed: tuple[type, ...], *, stream: bool = False) -> Any:
        """Call the function and return its result, which is of an allowed type."""
        offered = {"stream": stream, "adapter": self._adapter}
        try:
            result: Any = self._function(value, **{key: offered[key] for key in self._wanted})
        except BaseException as error:
            # Guard: all. The server would take a CancelledError or KeyboardInterrupt of the user's for another's.
            raise FormatterError(f"{self._who} failed: {_told(error, self._path)}") from error
        # Guard: by its type, and as a plain text. A class of the user's own runs its code when it is asked or sent.
        if issubclass(type(result), str):
            result = str.__str__(result)
        if not issubclass(type(result), allowed):
            if inspect.iscoroutine(result):
                result.close()
            names = " or ".join(one.__name__ for one in allowed).replace("NoneType", "None")
            returned = type(result).__name__.replace("NoneType", "None")
            raise self._error(f"returned {returned} for {what}; allowed is {names}")
        try:
            to_text("" if result is None else result)
        except BaseException as error:  # JSON calls methods of the user's objects
            raise self._error(f"returned what cannot be sent as JSON: {_text(error)}") from error
        return result

    def _keywords(self, kind: str) -> tuple[str, ...]:
        """Return the offered keywords that the function takes; a function that cannot be called is an error."""
        inner = self._function if inspect.isroutine(self._function) else type(self._function).__call__
        if inspect.iscoroutinefunction(inner) or inspect.isasyncgenfunction(inner):
            raise self._error("is async; write a plain function")
        if inspect.isgeneratorfunction(inner):
            raise self._error("is a generator; write a function that is called once for each chunk")
        parameters = list(inspect.signature(self._function).parameters.values())
        if not parameters or parameters[0].kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD):
            raise self._error("takes no argument; the first one is the payload or the response")
        offered = _OFFERED[kind]
        by_keyword = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters):
            first = parameters[0].name if parameters[0].kind in by_keyword else None
            wanted = tuple(name for name in offered if name != first)
        else:
            wanted = tuple(one.name for one in parameters[1:] if one.name in offered and one.kind in by_keyword)
        for one in parameters[1:]:
            required = one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
            if required and (one.name not in offered or one.kind is one.POSITIONAL_ONLY):
                raise self._error(f"requires {one.name}; beside its first argument it can have {', '.join(offered)}")
        return wanted

    def _error(self, problem: str) -> FormatterError:
        return FormatterError(f"{self._who} {problem} ({self._path.name})")


def _functions(module: types.ModuleType, path: Path, name: str, adapter: str | None) -> dict[str, _Function]:
    """Return the marked functions of a module by their kind."""
    found: dict[str, _Function] = {}
    for kind, mark in _MARKS.items():
        # The same function under two names is one function.
        marked = {id(one): one for one in vars(module).values() if callable(one) and getattr(one, mark, False) is True}
        if len(marked) > 1:
            names = " and ".join(getattr(one, "__name__", "an object") for one in marked.values())
            raise FormatterError(f"the formatters of {name} ({path}) have two {kind} formatters, {names}; keep one")
        for function in marked.values():
            found[kind] = _Function(function, kind, path, name, adapter)
    if not found:
        raise FormatterError(
            f"the formatters of {name} ({path}) have none: put @input_formatter or @output_formatter above a function"
        )
    return found


@contextmanager
def _importable_names() -> Iterator[None]:
    """Let the user's file import this module, and LMI's decorators where there is no LMI, while it loads."""
    with _LOADING:
        names = {"warmstack_formatters": sys.modules.get(__name__) or _own_names("warmstack_formatters")}
        if "djl_python" not in sys.modules and importlib.util.find_spec("djl_python") is None:
            names["djl_python"] = types.ModuleType("djl_python")
            names["djl_python"].__path__ = []
            for name in ("djl_python.input_parser", "djl_python.output_formatter"):
                names[name] = _own_names(name)
        before = {name: sys.modules.get(name) for name in names}
        sys.modules.update(names)
        try:
            yield
        finally:
            for name, module in before.items():
                if module is None:
                    sys.modules.pop(name, None)
                else:
                    sys.modules[name] = module


def _own_names(name: str) -> types.ModuleType:
    module = types.ModuleType(name)
    vars(module).update(input_formatter=input_formatter, output_formatter=output_formatter)
    return module


def _told(error: BaseException, path: Path) -> str:
    """Return an error in one line, with the last line of the user's file that it passed through."""
    steps = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in steps if frame.f_code.co_filename == str(path)]
    place = f"{path.name}, line {lines[-1]}" if lines else path.name
    return f"{type(error).__name__}: {_text(error)} ({place})"


def _text(error: BaseException) -> str:
    try:
        # Encoded: half of a surrogate pair would fail later, while the message is being sent.
        text = " ".join(str.__str__(str(error)).split()).encode("utf-8", "replace").decode()
    except BaseException:  # a user's exception may fail to say what it is, in every way
        text = ""
    return (text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…") or "no message"
