"""The engine flags of each server: which names it knows, what they accept, and which names do nothing."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from warmstack.catalog._data import read_json

KINDS = ("bool", "int", "float", "str", "json")
_FILES = {"lmi": "flags_lmi.json", "vllm": "flags_vllm.json", "sglang": "flags_sglang.json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One engine flag.

    Attributes:
        name: the name with underscores, ``max_num_seqs``.
        choices: the values that the engine accepts; empty: any.
        kind: ``bool``, ``int``, ``float``, ``str`` or ``json``; ``str`` also stands for a value that the
            engine parses itself (a size with a unit, for example).
        has_no_form: the engine has a ``--no-<name>`` too, so false can be said.
        repeated: the flag takes a list.
        aliases: other names of the same flag.
    """

    name: str
    choices: tuple[str, ...]
    kind: str
    has_no_form: bool
    repeated: bool
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagTable:
    """The flags of one server.

    Attributes:
        server: ``lmi``, ``vllm`` or ``sglang``.
        version: the engine version that the table was read from.
        flags: flags by every name that the server takes: an alias leads to the same flag.
        removed: names that users still write and that do nothing or stop the server, with the reason.
        source: where the table comes from.
        as_of: its date.
    """

    server: str
    version: str
    flags: Mapping[str, Flag]
    removed: Mapping[str, str]
    source: str
    as_of: str

    def suggest(self, name: str) -> tuple[str, ...]:
        """Return the names nearest to a name that is not in the table, best first, at most three."""
        wanted = name.lower().replace("-", "_")
        return tuple(difflib.get_close_matches(wanted, self.flags, n=3, cutoff=0.6))


def load_flags() -> Mapping[str, FlagTable]:
    """Return the flag tables by server. The LMI table is its own keys and vLLM's engine arguments."""
    documents = {server: read_json(name) for server, name in _FILES.items()}
    tables = {server: _table(server, document) for server, document in documents.items()}
    tables["lmi"] = _with_engine_arguments(tables["lmi"], tables["vllm"], documents["vllm"])
    return MappingProxyType(tables)


def _table(server: str, document: Mapping[str, Any]) -> FlagTable:
    flags = {name: _flag(name, row) for name, row in document["flags"].items()}
    aliases = {alias: flag for flag in flags.values() for alias in flag.aliases}
    return FlagTable(
        server=server,
        version=document["version"],
        flags=MappingProxyType({**aliases, **flags}),
        removed=MappingProxyType(document["removed"]),
        source=document["source"],
        as_of=document["as_of"],
    )


def _flag(name: str, row: Mapping[str, Any]) -> Flag:
    return Flag(
        name=name,
        choices=tuple(row.get("choices", ())),
        kind=row["kind"],
        has_no_form=row.get("has_no_form", False),
        repeated=row.get("repeated", False),
        aliases=tuple(row.get("aliases", ())),
    )


def _with_engine_arguments(lmi: FlagTable, vllm: FlagTable, vllm_document: Mapping[str, Any]) -> FlagTable:
    """Add vLLM's engine arguments to LMI's own keys.

    Why not every vLLM flag: LMI keeps a key only if it is a field of vLLM's EngineArgs, and drops any other
    without a word, so a front-end flag of vLLM in this table would pass a check and do nothing.
    """
    dropped = {*vllm_document["front_end"], *lmi.removed}
    passed = {
        name: flag
        for name, flag in vllm.flags.items()
        # Guard: LMI compares the key with the field's own name, so vLLM's other spellings are dropped too.
        if name == flag.name and name not in dropped and name not in lmi.flags
    }
    return FlagTable(
        server=lmi.server,
        version=lmi.version,
        flags=MappingProxyType({**lmi.flags, **passed}),
        removed=lmi.removed,
        source=f"{lmi.source}; {vllm.source}",
        as_of=lmi.as_of,
    )
