"""Formatters from ``model.py``, as LMI loads and calls them.

Read in djl-serving d21927c4: ``service_loader.py``, ``custom_formatter_handling.py``, ``adapter_formatter_mixin.py``.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from warmstack.local.dialects.authored_code import formatter_folder
from warmstack.local.errors import LocalError

_LOADING = threading.Lock()
_KINDS = ("input_formatter", "output_formatter", "prediction_handler", "init_handler")
_SAGEMAKER = ("model_fn", "input_fn", "predict_fn", "output_fn")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCode:
    """The formatters of one ``model.py``.

    Args:
        input: Changes a payload, or None.
        output: Changes an answer, or None.
    """

    input: Callable[..., Any] | None = None
    output: Callable[..., Any] | None = None


class Response:
    """vLLM's response object, as far as formatters look at it: members, ``model_dump`` and ``model_dump_json``.

    Args:
        document: What it holds.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def __getattr__(self, name: str) -> Any:
        try:
            return _seen(self._document[name])
        except KeyError:
            raise AttributeError(name) from None

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """Return it as a dict."""
        copied: dict[str, Any] = json.loads(json.dumps(self._document))
        return copied

    def model_dump_json(self, **_: Any) -> str:
        """Return it as JSON."""
        return json.dumps(self._document, ensure_ascii=False)


def load_bridged(formatters: Path, *, four_times: bool) -> ModelCode:
    """Load formatters that an image of ours carries, through the ``model.py`` that it lays beside the weights.

    Args:
        formatters: The user's file.
        four_times: Whether it is executed for each kind anew.

    Raises:
        LocalError: They do not load.
    """
    with TemporaryDirectory(prefix="warmstack-") as name:
        folder = Path(name)
        shutil.copyfile(formatters, folder / "formatters.py")
        shutil.copyfile(formatter_folder() / "lmi_model.py", folder / "model.py")
        shutil.copyfile(formatter_folder() / "warmstack_formatters.py", folder / "warmstack_formatters.py")
        try:
            return load_code(folder, four_times=four_times)
        except LocalError as error:
            raise LocalError(str(error).replace(str(folder / "formatters.py"), str(formatters))) from error


def load_code(folder: Path, *, four_times: bool, adapter: str | None = None) -> ModelCode:
    """Load the ``model.py`` of a folder.

    Args:
        folder: The model's or the adapter's folder.
        four_times: Whether it is executed for each kind anew.
        adapter: The adapter's name; None for the base model.

    Raises:
        LocalError: It does not load, or holds what is not run here.
    """
    path = folder / "model.py"
    found: dict[str, Callable[..., Any]] = {}
    with _LOADING, _importable():
        module: ModuleType | None = None
        for kind in _KINDS:
            try:
                module = _execute(path, adapter) if four_times or module is None else module
            except ValueError:
                module = None  # Guard: LMI takes it for a model.py that is not there
                continue
            except Exception as error:  # a user's file may raise anything
                raise LocalError(
                    f"Failed to load custom code from {folder}: {type(error).__name__}: {error}"
                ) from error
            function = _marked(module, f"is_{kind}")
            if function is not None:
                found[kind] = function
    _refuse_others(path, module, found)
    return ModelCode(input=found.get("input_formatter"), output=found.get("output_formatter"))


def _refuse_others(path: Path, module: ModuleType | None, found: dict[str, Callable[..., Any]]) -> None:
    others = [f"@{kind}" for kind in _KINDS[2:] if kind in found]
    if module is not None:
        others += ["handle"] if callable(getattr(module, "handle", None)) else []
        others += [] if found else [name for name in _SAGEMAKER if callable(getattr(module, name, None))]
    if others:
        raise LocalError(
            f"{path} has {', '.join(others)}: of a model.py, only @input_formatter and @output_formatter run here"
        )


def _execute(path: Path, adapter: str | None) -> ModuleType:
    if adapter is None:
        name = f"model_{hashlib.md5(str(path).encode(), usedforsecurity=False).hexdigest()[:8]}"
    else:
        name = f"ns_{adapter.replace('-', '_').replace('.', '_')}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before
    return module


def _marked(module: ModuleType, mark: str) -> Callable[..., Any] | None:
    """Return the first function with a mark, in the order of the names."""
    for name in dir(module):
        one = getattr(module, name)
        if callable(one) and getattr(one, mark, False) is True:
            found: Callable[..., Any] = one
            return found
    return None


@contextmanager
def _importable() -> Iterator[None]:
    """Let a file import LMI's decorators while it loads, and leave nothing behind: no module, no bytecode."""
    package = ModuleType("djl_python")
    package.__path__ = []
    names = {"djl_python": package}
    for part, kinds in (("input_parser", (_KINDS[0], *_KINDS[2:])), ("output_formatter", (_KINDS[1],))):
        module = ModuleType(f"djl_python.{part}")
        vars(module).update({kind: _decorator(f"is_{kind}") for kind in kinds})
        names[module.__name__] = module
    before = {name: sys.modules.get(name) for name in names}
    bytecode = sys.dont_write_bytecode
    sys.modules.update(names)
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = bytecode
        for name, old in before.items():
            if old is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = old


def _decorator(mark: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        setattr(function, mark, True)
        return function

    return decorate


def _seen(value: Any) -> Any:
    if isinstance(value, dict):
        return Response(value)
    return [_seen(one) for one in value] if isinstance(value, list) else value
