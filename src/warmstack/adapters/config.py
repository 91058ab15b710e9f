"""adapter_config.json, as PEFT writes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NAME = "adapter_config.json"
LARGEST_BYTES = 1_000_000


class ConfigError(ValueError):
    """A configuration that cannot be read; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterConfig:
    """What the checks need of a configuration.

    Args:
        rank: ``r``, or None where it is absent or no positive whole number.
        ranks: the ranks of modules that have one of their own (``rank_pattern``), by module or pattern.
        base_model: ``base_model_name_or_path``, or None.
        target_modules: the names of the modules, empty where a pattern or a shorthand stands for them.
        document: the whole configuration.
    """

    rank: int | None
    ranks: Mapping[str, int]
    base_model: str | None
    target_modules: tuple[str, ...]
    document: Mapping[str, Any]

    @property
    def largest_rank(self) -> int | None:
        """The rank that the server must have room for."""
        return None if self.rank is None else max(self.rank, *self.ranks.values(), 0)

    def ranks_of(self, module: str) -> frozenset[int]:
        """Return the ranks that a module's tensors may have.

        A name in ``rank_pattern`` holds for the modules that end with it. A regular expression there is not run, for
        it comes from a file that no one has looked at: with one, a module may have any of the ranks.
        """
        if self.rank is None:
            return frozenset()
        for name, rank in self.ranks.items():
            if not _is_plain(name):
                return frozenset({self.rank, *self.ranks.values()})
            if module == name or module.endswith(f".{name}"):
                return frozenset({rank})
        return frozenset({self.rank})


def read_config(text: bytes) -> AdapterConfig:
    """Read a configuration.

    Raises:
        ConfigError: the text is no JSON object.
    """
    try:
        # Guard: json.loads guesses the encoding of bytes; the servers open the file as UTF-8.
        document = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"is no JSON in UTF-8: {error}") from error
    if not isinstance(document, dict):
        raise ConfigError("is no JSON object")
    pattern = document.get("rank_pattern")
    modules = document.get("target_modules")
    base = document.get("base_model_name_or_path")
    return AdapterConfig(
        rank=_rank(document.get("r")),
        ranks={key: rank for key, value in pattern.items() if (rank := _rank(value)) is not None}
        if isinstance(pattern, dict)
        else {},
        base_model=base if isinstance(base, str) and base else None,
        target_modules=tuple(one for one in modules if isinstance(one, str)) if isinstance(modules, list) else (),
        document=document,
    )


def _rank(value: object) -> int | None:
    # Guard: true is an int in Python.
    return value if type(value) is int and 0 < value < 2**31 else None


def _is_plain(name: str) -> bool:
    return all(one.isalnum() or one in "._-" for one in name)
