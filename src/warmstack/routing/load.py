"""How busy a candidate is: by its copy where components are, else by its instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from warmstack.routing.choices import SessionLoad
from warmstack.routing.decision import Candidate
from warmstack.routing.strategy import RoutingRules


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The load of candidates under a variant's rules.

    Args:
        rules: The rules.
        random: Decides between equals.
    """

    rules: RoutingRules
    random: Random

    def of(self, one: Candidate) -> int:
        """Return the requests in flight that count for the candidate."""
        return one.in_flight if self.rules.per_copy else one.instance_in_flight

    def is_full(self, one: Candidate) -> bool:
        """Return whether the candidate is at the concurrency threshold."""
        threshold = self.rules.concurrency_threshold
        if threshold is None:
            return False
        counted = self.of(one)
        if self.rules.choices.session_load is SessionLoad.UNCOUNTED:
            counted -= one.session_in_flight if self.rules.per_copy else one.instance_session_in_flight
        return counted >= threshold

    def least(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return the least busy, or one of them by lot."""
        fewest = min(map(self.of, candidates))
        # Without components the load is the instance's: among its copies, the one with the fewest of its own.
        tied = [one for one in candidates if self.of(one) == fewest]
        own = min(one.in_flight for one in tied)
        tied = [one for one in tied if one.in_flight == own]
        return tied[0] if len(tied) == 1 else self.random.choice(tied)
