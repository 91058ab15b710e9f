"""The code that images carry, loaded into this process: ``container/`` of a clone, or of the package's data."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from warmstack.authored import authored_folder

# In the order in which they import one another.
_FORMATTERS = ("warmstack_formatters", "server_sent_events", "formatted_response", "formatter_middleware")
_STAYS = "warmstack_formatters"
"""The session server asks for it by its name when an adapter brings formatters."""


@lru_cache
def formatter_runtime() -> ModuleType:
    """Return the module that runs formatters."""
    return _formatters()[_STAYS]


@lru_cache
def formatter_middleware() -> ModuleType:
    """Return the module with the middleware that runs formatters in the vLLM image."""
    return _formatters()["formatter_middleware"]


@lru_cache
def session_server(part: str) -> ModuleType:
    """Return a module of the session server.

    Args:
        part: Its name in the package.

    Raises:
        ImportError: A package that the server needs is not installed.
    """
    return _session_server()[part]


def formatter_folder() -> Path:
    """Return the folder whose files images have beside a user's formatters."""
    return authored_folder("container") / "formatters"


@lru_cache
def _formatters() -> dict[str, ModuleType]:
    before = set(sys.modules)
    loaded = {name: _load(name, formatter_folder() / f"{name}.py") for name in _FORMATTERS}
    _forget(set(_FORMATTERS) - before - {_STAYS})
    return loaded


@lru_cache
def _session_server() -> dict[str, ModuleType]:
    _formatters()
    package = "session_server"
    before = set(sys.modules)
    _load(package, authored_folder("container") / package / "__init__.py")
    parts = ("app", "engine_client", "errors", "health", "settings")
    try:
        return {part: importlib.import_module(f"{package}.{part}") for part in parts}
    finally:
        # Guard: under its own name it would hide a package of the user's with that name.
        _forget({name for name in sys.modules if name.partition(".")[0] == package} - before)


def _load(name: str, path: Path) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    folders = [str(path.parent)] if path.name == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=folders)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _forget(names: set[str]) -> None:
    for name in names:
        sys.modules.pop(name, None)
