"""A request as routing sees it, the copies that could take it, and the decision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from warmstack.routing.keys import RouteKey

BlockId = int | bytes
LongestMatch = Callable[[str, Sequence[BlockId]], int]
"""Of a copy and the blocks of a prompt: how many of the first blocks the copy holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A copy that can serve the request.

    Args:
        copy: Its name, different from that of every other candidate.
        instance: The instance that it is on.
        in_flight: Requests in flight on the copy.
        instance_in_flight: Requests of the variant in flight on the instance: what counts without components.
        session_in_flight: Those of ``in_flight`` that belong to sessions.
        instance_session_in_flight: Those of ``instance_in_flight`` that belong to sessions.
    """

    copy: str
    instance: str
    in_flight: int = 0
    instance_in_flight: int = 0
    session_in_flight: int = 0
    instance_session_in_flight: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """Where the live session of a request is.

    Args:
        instance: The instance that opened it.
        copy: The copy that opened it, where that is known.
    """

    instance: str
    copy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingRequest:
    """What of a request decides where it goes.

    Args:
        key: Of its prefix; None where it has none.
        pin: Of its live session.
        blocks: The blocks of its prompt, first block first; what they are is the caller's business.
    """

    key: RouteKey | None = None
    pin: Pin | None = None
    blocks: Sequence[BlockId] = ()


class Reason(StrEnum):
    """Why a request went where it went."""

    SESSION = "session"
    PREFIX = "prefix"
    PREFIX_SPILL_COPY = "prefix_spill_copy"
    PREFIX_SPILL_INSTANCE = "prefix_spill_instance"
    PREFIX_ALL_FULL = "prefix_all_full"
    KV_MATCH = "kv_match"
    LEAST_OUTSTANDING = "least_outstanding"
    RANDOM = "random"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Where a request goes.

    Args:
        copy: The copy.
        instance: Its instance.
        reason: Why.
        detail: Why, in words for people.
    """

    copy: str
    instance: str
    reason: Reason
    detail: str
