"""All checks of an adapter in one."""

from __future__ import annotations

from collections.abc import Iterator

from warmstack.adapters import config
from warmstack.adapters.check_archive import check_packaging
from warmstack.adapters.check_code import check_code
from warmstack.adapters.check_config import check_config
from warmstack.adapters.check_shape import check_shape
from warmstack.adapters.check_tensors import check_tensors
from warmstack.adapters.config import AdapterConfig, ConfigError, read_config
from warmstack.adapters.contents import Contents
from warmstack.adapters.problems import Problem, error
from warmstack.adapters.safetensors_header import HeaderError
from warmstack.adapters.target import Target

_ORDER = {"error": 0, "warning": 1, "note": 2}


def check_adapter(contents: Contents, target: Target | None = None) -> tuple[Problem, ...]:
    """Return what is wrong with an adapter, errors first.

    Args:
        contents: the adapter's files.
        target: what it is to run on; without one, only what no server can load is found.
    """
    return tuple(sorted(dict.fromkeys(_all(contents, target)), key=lambda one: (_ORDER[one.severity], one.id)))


def configuration_of(contents: Contents) -> AdapterConfig | None:
    """Return an adapter's configuration, or None where it cannot be read."""
    try:
        return read_config(contents.texts[config.NAME])
    except (KeyError, ConfigError):
        return None


def _all(contents: Contents, target: Target | None) -> Iterator[Problem]:
    yield from check_packaging(contents, target)
    yield from _configuration(contents, target)
    yield from _tensors(contents, target)
    yield from check_code(contents, target)


def _configuration(contents: Contents, target: Target | None) -> Iterator[Problem]:
    fix = "save the adapter again with save_pretrained"
    entry = contents.files.get(config.NAME)
    if entry is None:
        return  # its absence is a problem of the packaging
    if config.NAME not in contents.texts:
        rule = f"a configuration has {config.LARGEST_BYTES:,} at the most"
        yield error("config", config.NAME, f"it has {entry.size:,} bytes", rule, fix)
        return
    try:
        found = read_config(contents.texts[config.NAME])
    except ConfigError as problem:
        yield error("config", config.NAME, f"it {problem}", "every server reads it", fix)
        return
    yield from check_config(found, target)


def _tensors(contents: Contents, target: Target | None) -> Iterator[Problem]:
    found = configuration_of(contents)
    for name, table in contents.tables.items():
        if "/" in name:
            continue  # what is not at the root is not loaded
        if isinstance(table, HeaderError):
            rule = "the file must be whole safetensors"
            yield error("weights", name, str(table), rule, "copy it again, or save the adapter again")
            continue
        problems, pairs = check_tensors(table.tensors, found, name)
        yield from problems
        if target is not None and target.shape.hidden_size:
            yield from check_shape(pairs, target.shape, name)
