"""What is counted of the requests in one form, as sent or canonical, in a fixed amount of memory."""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass
from hashlib import blake2b

from warmstack.payload import DifferenceKind, shared_bytes
from warmstack.prompts.histogram import LONGEST, Histogram
from warmstack.prompts.report import Candidate, Measure

_MOST_PREFIXES = 20_000
_MOST_ROUTES = 64
"""Routes whose last group is kept for comparison: 64 KiB each."""


@dataclass(frozen=True, slots=True)
class Head:
    """The first bytes of a body, and how long it is."""

    data: bytes
    length: int


def head_of(body: bytes) -> Head:
    """Return as much of a body as any prefix length can see."""
    return Head(body[:LONGEST], len(body))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two requests that came one after the other.

    Args:
        shared: bytes that they share from the start; those behind the longest prefix length do not count.
        equal: nothing in them differs, as far as any prefix length can see.
    """

    shared: int
    equal: bool

    @property
    def repeats(self) -> bool:
        """Whether the second is the first once more: it says nothing about where two turns part."""
        return self.equal and self.shared < LONGEST

    def agrees(self, length: int) -> bool:
        """Return whether both have the same prefix of a length."""
        return self.equal or self.shared >= length


def pair_of(first: Head, second: Head) -> Pair:
    """Compare two requests."""
    shared = shared_bytes(first.data, second.data)
    return Pair(shared, shared == LONGEST or (first.length == second.length == shared))


class Tally:
    """Counts of one form.

    Args:
        lengths: prefix lengths, in bytes and ascending.
        prefix_length: the one that is in use.
    """

    def __init__(self, lengths: tuple[int, ...], prefix_length: int) -> None:
        self.kinds: Counter[DifferenceKind] = Counter()
        self._lengths = lengths
        self._prefix_length = prefix_length
        self._sticky = dict.fromkeys(lengths, 0)
        self._prefixes: dict[int, dict[bytes, int]] = {length: {} for length in lengths}
        self._overflown: set[int] = set()
        self._groups, self._turns = Histogram(), Histogram()
        self._pairs = self._requests = 0
        self._opened: OrderedDict[bytes, Head] = OrderedDict()

    def request(self, head: Head, route: bytes) -> None:
        """Count a request.

        Args:
            head: its beginning.
            route: what else its way depends on: an equal prefix of another route goes its own way.
        """
        self._requests += 1
        digest, start = blake2b(route, digest_size=8), 0
        for length in self._lengths:
            digest.update(head.data[start:length])
            start = length
            self._prefix(length, digest.digest())

    def _prefix(self, length: int, digest: bytes) -> None:
        seen = self._prefixes[length]
        if digest in seen:
            seen[digest] += 1
        elif len(seen) < _MOST_PREFIXES:
            seen[digest] = 1
        else:
            self._overflown.add(length)

    def opened(self, head: Head, route: bytes) -> None:
        """Count the first request of a group, against that of the group before on the same route."""
        before = self._opened.pop(route, None)
        if before is not None:
            self._groups.add(shared_bytes(before.data, head.data))
        self._opened[route] = head
        if len(self._opened) > _MOST_ROUTES:
            self._opened.popitem(last=False)

    def pair(self, pair: Pair, *, in_conversation: bool) -> None:
        """Count two adjacent requests of a group."""
        self._pairs += 1
        for length in self._lengths:
            self._sticky[length] += pair.agrees(length)
        if in_conversation and not pair.repeats:
            self._turns.add(pair.shared)

    def measure(self) -> Measure:
        """Return what was counted."""
        stable = self._sticky[self._prefix_length]
        return Measure(
            stable_pairs=stable,
            stable_share=stable / self._pairs if self._pairs else None,
            between_groups=self._groups.quantiles(),
            between_turns=self._turns.quantiles(),
            candidates=tuple(self._candidate(length) for length in self._lengths),
        )

    def _candidate(self, length: int) -> Candidate:
        seen = self._prefixes[length]
        return Candidate(
            length=length,
            sticky_share=self._sticky[length] / self._pairs if self._pairs else None,
            prefixes=len(seen),
            more_prefixes=length in self._overflown,
            largest_share=max(seen.values(), default=0) / self._requests if self._requests else 0.0,
        )
