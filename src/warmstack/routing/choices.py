"""What SageMaker does not document about routing, as named options.

Searched until 2026-11-30: botocore 1.44.8's service model, the developer guide, AWS's samples and blogs. None says how
prefixes are hashed, where overflow goes, or how sessions and strategies meet. Each gap is a field here, with a default
that is stated, and not one that is hidden in the code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import Field, dataclass, field, fields
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

from warmstack.routing.errors import RoutingError

LARGEST_WORTH_REQUESTS = 1_000_000


class HashChoice(StrEnum):
    """How a key finds its instance, and its copy there."""

    RENDEZVOUS = "rendezvous"
    RING = "ring"


class ShortBodies(StrEnum):
    """What the prefix of a body is that is shorter than the prefix length."""

    WHOLE_BODY = "whole_body"
    UNKEYED = "unkeyed"


class Spill(StrEnum):
    """Which copy under the threshold takes what its own copy has no room for."""

    LEAST_OUTSTANDING = "least_outstanding"
    NEXT_IN_HASH_ORDER = "next_in_hash_order"


class OneInstance(StrEnum):
    """What PREFIX_AWARE does while fewer than two instances can serve the request."""

    LEAST_OUTSTANDING = "least_outstanding"
    RANDOM = "random"


class SessionLoad(StrEnum):
    """Whether requests of sessions count towards the concurrency threshold."""

    COUNTED = "counted"
    UNCOUNTED = "uncounted"


class SessionReply(StrEnum):
    """What becomes of a request whose session is not live."""

    ROUTED = "routed"
    REFUSED = "refused"


class TextParts(StrEnum):
    """How the texts of messages are joined on the OpenAI path."""

    CONCATENATED = "concatenated"
    LINES = "lines"


class ConfigSwap(StrEnum):
    """What becomes of the copies of components when their endpoint takes another configuration."""

    KEEP_COPIES = "keep_copies"
    RESTART_COPIES = "restart_copies"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingChoices:
    """The options, each with its default.

    Args:
        hash: ``rendezvous`` (default: exactly the keys of an instance that goes away move) or ``ring`` (consistent
            hashing with 150 points a node).
        short_bodies: ``whole_body`` (default: PrefixLength is documented as a maximum) or ``unkeyed`` (a body shorter
            than PrefixLength goes to the least outstanding).
        spill: ``least_outstanding`` (default: AWS's benchmark speaks of an instance with more capacity) or
            ``next_in_hash_order`` (overflow of one prefix goes to the same copy again).
        one_instance: ``least_outstanding`` (default) or ``random``.
        session_load: ``counted`` (default: they are in flight like any other) or ``uncounted``.
        unknown_session: ``routed`` (default: as a request without a session; the container answers that it does not
            know it) or ``refused`` (by the platform).
        expired_session: ``routed`` (default: to the instance that opened it, whose container has its own rule) or
            ``refused``.
        lost_session: as ``unknown_session``, for a session whose instance is gone.
        kv_match_worth_requests: KV_AWARE: for how many requests in flight above the least busy copy a match of the
            whole prompt makes up. 16 by default; 0 ignores the cache. A copy scores the share of the prompt's blocks
            that it holds, times this, less its requests above the least busy; the best score above zero wins.
        text_parts: ``concatenated`` (default: nothing between two texts) or ``lines`` (a line feed).
        config_swap: ``keep_copies`` (default) or ``restart_copies``; the platform acts on it.
    """

    hash: HashChoice = field(
        default=HashChoice.RENDEZVOUS, metadata={"meaning": "How a prefix finds its instance, and its copy there."}
    )
    short_bodies: ShortBodies = field(
        default=ShortBodies.WHOLE_BODY,
        metadata={
            "meaning": "A body shorter than PrefixLength: all of it is the prefix, or it goes to the least outstanding."
        },
    )
    spill: Spill = field(
        default=Spill.LEAST_OUTSTANDING,
        metadata={"meaning": "Which copy under the threshold takes a request whose own copy is at it."},
    )
    one_instance: OneInstance = field(
        default=OneInstance.LEAST_OUTSTANDING,
        metadata={"meaning": "What PREFIX_AWARE does while fewer than two instances can serve a request."},
    )
    session_load: SessionLoad = field(
        default=SessionLoad.COUNTED,
        metadata={"meaning": "Whether requests of sessions count towards ConcurrencyThreshold."},
    )
    unknown_session: SessionReply = field(
        default=SessionReply.ROUTED,
        metadata={"meaning": "A session that was never opened here, or is closed: left to the container, or refused."},
    )
    expired_session: SessionReply = field(
        default=SessionReply.ROUTED,
        metadata={"meaning": "A session whose time is over: left to the container, or refused."},
    )
    lost_session: SessionReply = field(
        default=SessionReply.ROUTED,
        metadata={"meaning": "A session whose instance is gone: left to another instance's container, or refused."},
    )
    kv_match_worth_requests: int = field(
        default=16,
        metadata={"meaning": "KV_AWARE: how many requests in flight a match of a whole prompt outweighs; 0: none."},
    )
    text_parts: TextParts = field(
        default=TextParts.CONCATENATED,
        metadata={"meaning": "What stands between two texts of `messages` on the OpenAI path: nothing, or a newline."},
    )
    config_swap: ConfigSwap = field(
        default=ConfigSwap.KEEP_COPIES,
        metadata={"meaning": "What UpdateEndpoint does to the copies of components."},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceDescription:
    """One option, for documents and the command line.

    Args:
        name: Its name.
        values: What it takes: the names, or one text that says which numbers.
        default: The default, as text.
        meaning: One sentence.
    """

    name: str
    values: tuple[str, ...]
    default: str
    meaning: str


def describe_choices() -> tuple[ChoiceDescription, ...]:
    """Return every option in the order of their definition."""
    return tuple(
        ChoiceDescription(
            name=one.name, values=_values(one), default=str(one.default), meaning=str(one.metadata["meaning"])
        )
        for one in fields(RoutingChoices)
    )


def parse_choices(settings: Iterable[str]) -> RoutingChoices:
    """Read options written as ``name=value``.

    Args:
        settings: One option a text; each name at most once.

    Raises:
        RoutingError: Unknown names or values, or a name given twice: every problem in one text.
    """
    known = {one.name: one for one in fields(RoutingChoices)}
    found: dict[str, Any] = {}
    problems: list[str] = []
    for setting in settings:
        name, equals, text = (part.strip() for part in setting.partition("="))
        if not equals:
            problems.append(f"routing choice {setting!r} has no value; write name=value")
        elif name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            problems.append(f"there is no routing choice {name!r}; {hint}")
        elif name in found:
            problems.append(f"routing choice {name!r} is given twice; give it once")
        else:
            try:
                found[name] = _read(known[name], text)
            except ValueError:
                values = " or ".join(_values(known[name]))
                problems.append(f"routing choice {name} is {text!r}; it takes {values}")
                found[name] = None
    if problems:
        raise RoutingError("\n".join(problems))
    return RoutingChoices(**found)


def _values(one: Field[Any]) -> tuple[str, ...]:
    if isinstance(one.default, StrEnum):
        return tuple(str(value) for value in type(one.default))
    return (f"a whole number from 0 to {LARGEST_WORTH_REQUESTS}",)


def _read(one: Field[Any], text: str) -> StrEnum | int:
    if isinstance(one.default, StrEnum):
        return type(one.default)(text)
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(LARGEST_WORTH_REQUESTS)):
        raise ValueError(text)
    number = int(text)
    if number > LARGEST_WORTH_REQUESTS:
        raise ValueError(text)
    return number
