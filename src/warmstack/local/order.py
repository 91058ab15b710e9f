"""What `warmstack local up` was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from warmstack.local.defaults import DEFAULT_HOST, DEFAULT_PORT
from warmstack.local.dialects.defects import ALL_DEFECTS
from warmstack.local.platform.start_plan import Room
from warmstack.local.simulated import Latency
from warmstack.local.wire.limits import Limits
from warmstack.local.wire.parts import Cut
from warmstack.routing import RoutingChoices

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1", "[::1]"})
REAL_ROOM = 2
"""Copies and instances of a real engine: two cores take no more (measured on one machine, 2026-11-30)."""
SIMULATED_ROOM = 512


class EngineKind(StrEnum):
    """What computes the answers."""

    VLLM = "vllm"
    SIMULATED = "simulated"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpOrder:
    """What to serve, and how.

    Args:
        source: A cloud assembly or a template.
        stack: The one stack of it; None for each.
        parameters: The template's parameters.
        account: The account's number in ARNs and texts; None for the assembly's own.
        region: The Region; None for the assembly's own.
        engine: What computes.
        host: The address to listen on.
        port: The port.
        copies: How many copies start in all; None for what the engine takes.
        instances: How many instances there are in all; None for as many as copies.
        model: The folder of a model for a real engine; None for a small random one.
        adapters: Folders and archives by the adapter component's name.
        kv_cache_bytes: How large each real copy's KV cache is.
        cache_blocks: How many blocks each simulated copy's prefix cache holds; None for the default.
        latency: How long simulated answers take.
        limits: Sizes and times of the API.
        choices: What is not documented of routing.
        cut: How streamed answers are cut.
        defects: Names of servers' known defects that are reproduced.
        model_code: The folder of LMI's model.py, where the weights are not here to bring it.
        seed: Of all random choices.
        outputs_file: Where the outputs of the stacks are written, as ``cdk deploy --outputs-file`` does; None: nowhere.
    """

    source: Path
    stack: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    account: str | None = None
    region: str | None = None
    engine: EngineKind = EngineKind.VLLM
    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    copies: int | None = None
    instances: int | None = None
    model: Path | None = None
    adapters: Mapping[str, Path] = field(default_factory=dict)
    kv_cache_bytes: int = 256 << 20
    cache_blocks: int | None = None
    latency: Latency = field(default_factory=Latency)
    limits: Limits = field(default_factory=Limits)
    choices: RoutingChoices = field(default_factory=RoutingChoices)
    cut: Cut = Cut.AS_WRITTEN
    defects: frozenset[str] = ALL_DEFECTS
    model_code: Path | None = None
    seed: int = 0
    outputs_file: Path | None = None

    @property
    def room(self) -> Room:
        """How much starts on this machine."""
        copies = self.copies or (REAL_ROOM if self.engine is EngineKind.VLLM else SIMULATED_ROOM)
        instances = self.instances or copies
        way_out = "--copies and --instances change that"
        return Room(copies=copies, instances=instances, way_out=way_out)

    @property
    def url(self) -> str:
        """Where clients send their requests."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"
