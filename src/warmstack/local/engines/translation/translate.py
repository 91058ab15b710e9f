"""From a Model's environment to a local copy's arguments and environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from warmstack.catalog import FlagTable
from warmstack.local.engines.models import LocalModel
from warmstack.local.engines.translation.container_environment import container_environment
from warmstack.local.engines.translation.drafting import speculative_config
from warmstack.local.engines.translation.replacements import Replacement
from warmstack.local.engines.translation.servers import Server, read_settings
from warmstack.local.engines.translation.tiers import Tiers, read_tiers
from warmstack.local.engines.translation.work import Work

KV_CACHE_BYTES = 256 << 20
MOST_SEQUENCES = 64


def _read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslationRequest:
    """What is translated, and for what.

    Args:
        server: Whose environment it is.
        environment: The Model's environment.
        model: The model that is served here.
        tables: The flags of each server (`warmstack.catalog`).
        carried: Finds a file that the image carries, by its place in the image.
        text_of: Reads such a file.
        kv_cache_bytes: The size of the local KV cache.
        most_sequences: The most requests at once.
    """

    server: Server
    environment: Mapping[str, str]
    model: LocalModel
    tables: Mapping[str, FlagTable]
    carried: Callable[[str], Path | None] = lambda _: None
    text_of: Callable[[Path], str] = _read_text
    kv_cache_bytes: int = KV_CACHE_BYTES
    most_sequences: int = MOST_SEQUENCES


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """What a local copy gets.

    Args:
        arguments: For `EngineOrder`; those of LMCache come from its server.
        environment: For `EngineOrder`.
        model_name: The name under which the model is served.
        max_model_len: The longest sequence, in tokens.
        tiers: The tiers beside the engine's own cache, or None.
        replacements: What is different from the template, by setting.
    """

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    model_name: str
    max_model_len: int
    tiers: Tiers | None
    replacements: tuple[Replacement, ...]


def translate(request: TranslationRequest) -> Translation:
    """Return what a local copy gets in the place of a Model's environment.

    Args:
        request: What is translated.
    """
    read = read_settings(request.server, request.environment, request.tables)
    work = Work(
        server=request.server,
        model=request.model,
        table=request.tables["vllm"],
        carried=request.carried,
        kv_cache_bytes=request.kv_cache_bytes,
        most_sequences=request.most_sequences,
        read=read,
    )
    tiers = read_tiers(request.server, read, request.environment, request.carried, request.text_of)
    drafted = speculative_config(request.server, read)
    name, length = work.names(), work.longest()
    work.sequences()
    work.batched_tokens(length)
    work.prefix_caching()
    work.adapters()
    work.chat_template()
    work.parsers()
    work.others()
    if drafted is not None:
        work.arguments += ["--speculative-config", drafted]
    environment, more = container_environment(request.server, request.environment, request.carried)
    replaced = sorted([*read.replacements, *more], key=lambda one: (one.setting, one.why))
    return Translation(
        arguments=(*work.arguments, "--kv-cache-memory-bytes", str(request.kv_cache_bytes)),
        environment=environment,
        model_name=name,
        max_model_len=length,
        tiers=tiers,
        replacements=tuple(replaced),
    )
