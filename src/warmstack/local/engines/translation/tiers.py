"""The tiers of KV that a template asks for, as LMCache's server on this machine has them.

The keys and defaults are LMCache's (0.5.6, ``lmcache/v1/config.py``): variables win over the file, the CPU tier is on
unless it is switched off, and a disk tier has a place and a size. Nothing of it does anything without vLLM's connector.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warmstack.local.engines.translation.replacements import Replacement, shown
from warmstack.local.engines.translation.servers import Read, Server

CONNECTORS = ("LMCacheConnectorV1", "LMCacheConnectorV1Dynamic", "LMCacheMPConnector")
BLOCK_TOKENS = 128
"""A block of vLLM on a CPU."""
DEFAULT_CHUNK_TOKENS = 256
NO_CONNECTOR = "LMCache does nothing without kv_transfer_config, which names vLLM's connector for it"
LOCAL_SERVER = "on a CPU LMCache runs as a server beside the copies of an instance, with small tiers"
# One setting a line, as LMCache's files are written; what is nested in one is not needed here.
_LINE = re.compile(r"^([a-z_0-9]+)\s*:[ \t]*(\"[^\"]*\"|'[^']*'|[^#\n]*)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiers:
    """The tiers beside the engine's own cache.

    Args:
        chunk_tokens: The tokens of a chunk.
        disk: Whether there is a disk tier behind the CPU's.
    """

    chunk_tokens: int = DEFAULT_CHUNK_TOKENS
    disk: bool = False


def read_tiers(
    server: Server,
    read: Read,
    environment: Mapping[str, str],
    carried: Callable[[str], Path | None],
    text_of: Callable[[Path], str],
) -> Tiers | None:
    """Return the tiers that a template asks for, or None; what is different here is added to the report.

    Args:
        server: Whose environment it is.
        read: What was read of it; the connector is taken out of its settings.
        environment: The Model's environment.
        carried: Finds a file that the image carries.
        text_of: Reads it.
    """
    if server == "sglang":
        return _hierarchical_cache(read)
    given = read.settings.pop("kv_transfer_config", None)
    auto = server == "lmi" and read.raw.get("lmcache_auto_config", "").lower() == "true"
    if auto:
        read.replacements.append(
            Replacement(
                setting="OPTION_LMCACHE_AUTO_CONFIG", given="true", used="a CPU and a disk tier", why=LOCAL_SERVER
            )
        )
        return Tiers(disk=True)
    variables = {key: value for key, value in environment.items() if key.startswith("LMCACHE_")}
    if given is None:
        for key, value in sorted(variables.items()):
            read.replacements.append(Replacement(setting=key, given=shown(key, value), used=None, why=NO_CONNECTOR))
        return None
    if (connector := _connector(given.text)) not in CONNECTORS:
        why = f"the local engine has LMCache's connector only, and this is {connector or 'none'}"
        read.replacements.append(given.replaced(None, why))
        return None
    settings = _file_settings(read, environment, carried, text_of)
    settings |= {key.removeprefix("LMCACHE_").lower(): value for key, value in variables.items()}
    read.replacements.append(given.replaced("LMCacheMPConnector", LOCAL_SERVER))
    return _of_settings(read, settings)


def _of_settings(read: Read, settings: Mapping[str, str]) -> Tiers:
    disk = bool(settings.get("local_disk")) and _number(settings.get("max_local_disk_size")) > 0
    if remote := settings.get("remote_url"):
        why = "no remote tier is reached from here"
        read.replacements.append(Replacement(setting="remote_url", given=remote, used=None, why=why))
    if settings.get("local_cpu", "").lower() == "false":
        why = "LMCache's server keeps its first tier in memory"
        read.replacements.append(Replacement(setting="local_cpu", given="false", used="a small CPU tier", why=why))
    asked = int(_number(settings.get("chunk_size"))) or DEFAULT_CHUNK_TOKENS
    chunk_tokens = -(-asked // BLOCK_TOKENS) * BLOCK_TOKENS
    if chunk_tokens != asked:
        why = f"a chunk holds whole blocks, and a block has {BLOCK_TOKENS} tokens on a CPU"
        read.replacements.append(Replacement(setting="chunk_size", given=str(asked), used=str(chunk_tokens), why=why))
    return Tiers(chunk_tokens=chunk_tokens, disk=disk)


def _hierarchical_cache(read: Read) -> Tiers | None:
    names = ("enable_hierarchical_cache", "enable_hicache")
    name = next((one for one in names if read.raw.get(one, "false").lower() != "false"), None)
    if name is None:
        return None
    backend = read.raw.get("hicache_storage_backend")
    disk = backend == "file"
    used = "LMCache, with a CPU and a disk tier" if disk else "LMCache, with a CPU tier"
    why = "the local engine is vLLM; " + LOCAL_SERVER
    read.replacements.append(Replacement(setting=f"SM_SGLANG_{name.upper()}", given=read.raw[name], used=used, why=why))
    if backend is not None and not disk:
        why = "no remote tier is reached from here"
        read.replacements.append(
            Replacement(setting="SM_SGLANG_HICACHE_STORAGE_BACKEND", given=backend, used=None, why=why)
        )
    return Tiers(disk=disk)


def _connector(text: str) -> str | None:
    try:
        config: Any = json.loads(text)
    except ValueError:
        return None
    found = config.get("kv_connector") if isinstance(config, dict) else None
    return found if isinstance(found, str) else None


def _file_settings(
    read: Read,
    environment: Mapping[str, str],
    carried: Callable[[str], Path | None],
    text_of: Callable[[Path], str],
) -> dict[str, str]:
    for variable in ("OPTION_LMCACHE_CONFIG_FILE", "LMCACHE_CONFIG_FILE"):
        if path := environment.get(variable):
            file = carried(path)
            if file is not None:
                return {name: value.strip().strip("\"'") for name, value in _LINE.findall(text_of(file))}
            why = "the file is not in the build context of the image; LMCache's defaults are used"
            read.replacements.append(Replacement(setting=variable, given=path, used="a CPU tier", why=why))
    return {}


def _number(text: str | None) -> float:
    try:
        return max(0.0, float(text or 0))
    except ValueError:
        return 0.0
