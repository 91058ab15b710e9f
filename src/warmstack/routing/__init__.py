"""Which copy a request goes to: pure functions, shared by the local endpoint and the simulator.

::

    body, PrefixAwareId ──body_prefix──route_key──▶ RouteKey ─┐
    session id ──SessionTable.instance_of──▶ Pin ─────────────┼─▶ RoutingRequest ──choose──▶ Decision
    prompt ──chained_block_ids──▶ blocks ─────────────────────┘        ▲
                                            Candidates, RoutingRules ──┘

No clock, no I/O, and no randomness but what is passed in.
"""

from warmstack.routing.choices import (
    ChoiceDescription,
    ConfigSwap,
    HashChoice,
    OneInstance,
    RoutingChoices,
    SessionLoad,
    SessionReply,
    ShortBodies,
    Spill,
    TextParts,
    describe_choices,
    parse_choices,
)
from warmstack.routing.choosing import choose
from warmstack.routing.decision import BlockId, Candidate, Decision, LongestMatch, Pin, Reason, RoutingRequest
from warmstack.routing.errors import RoutingError
from warmstack.routing.keys import Prefix, RouteKey, body_prefix, messages_prefix, route_key
from warmstack.routing.prefix_cache import PrefixCache, chained_block_ids
from warmstack.routing.sessions import Session, SessionLookup, SessionState, SessionTable
from warmstack.routing.strategy import RoutingRules, RoutingStrategy

__all__ = [
    "BlockId",
    "Candidate",
    "ChoiceDescription",
    "ConfigSwap",
    "Decision",
    "HashChoice",
    "LongestMatch",
    "OneInstance",
    "Pin",
    "Prefix",
    "PrefixCache",
    "Reason",
    "RouteKey",
    "RoutingChoices",
    "RoutingError",
    "RoutingRequest",
    "RoutingRules",
    "RoutingStrategy",
    "Session",
    "SessionLoad",
    "SessionLookup",
    "SessionReply",
    "SessionState",
    "SessionTable",
    "ShortBodies",
    "Spill",
    "TextParts",
    "body_prefix",
    "chained_block_ids",
    "choose",
    "describe_choices",
    "messages_prefix",
    "parse_choices",
    "route_key",
]
