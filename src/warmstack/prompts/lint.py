"""The lint: requests that should share a prefix, compared with the ones before them."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

import orjson

from warmstack.errors import WarmstackError
from warmstack.payload import Difference, PayloadError, canonical, first_difference
from warmstack.prompts.fixes import SHORTEST_PREFIX, fix_of
from warmstack.prompts.grouping import Group, group_of, has_prompt
from warmstack.prompts.histogram import LONGEST
from warmstack.prompts.report import Example, GroupReport, KindCount, LintReport
from warmstack.prompts.tally import Head, Pair, Tally, head_of, pair_of
from warmstack.workload import RecordedRequest

CANDIDATES = (1024, 2048, 4096, 8192, 16_384, 32_768, 65_536)
"""Prefix lengths that are tried beside the one in use, in bytes."""
_MOST_HEADS = 512
"""Groups whose last request is kept for comparison: 64 KiB in two forms each."""
_MOST_GROUPS = 20_000
_MOST_SHOWN = 100


class LintError(WarmstackError):
    """Settings that the lint cannot use."""


def lint_requests(requests: Iterable[RecordedRequest], *, prefix_length: int = 4096) -> LintReport:
    """Compare each request with the one before it in its group, as sent and as it would be in canonical form.

    Memory is bounded: of 512 groups the last request is kept, of 20,000 the counts. A group that comes back after so
    many others begins anew.

    Args:
        requests: in the order in which they were sent.
        prefix_length: PrefixLength of the endpoint, in bytes, of 1024..65536.

    Raises:
        LintError: SageMaker would refuse the prefix length.
        WorkloadError: the requests cannot be read.
    """
    if not SHORTEST_PREFIX <= prefix_length <= LONGEST:
        raise LintError(f"prefix_length is {prefix_length}; SageMaker accepts {SHORTEST_PREFIX}..{LONGEST} bytes")
    run = _Run(prefix_length)
    for request in requests:
        run.take(request)
    return run.report()


class _State:
    """What is known of a group."""

    __slots__ = ("canonical_least", "canonical_stable", "group", "least", "pairs", "requests", "stable", "worst")

    def __init__(self, group: Group) -> None:
        self.group = group
        self.requests = self.pairs = self.stable = self.canonical_stable = 0
        self.least: int | None = None
        self.canonical_least: int | None = None
        self.worst: Example | None = None

    @property
    def rank(self) -> tuple[int, int]:
        """What sorts groups: those with most pairs that part first, then the largest."""
        return self.stable - self.pairs, -self.requests

    def report(self) -> GroupReport:
        return GroupReport(
            name=self.group.name,
            by="conversation" if self.group.is_conversation else "opening",
            requests=self.requests,
            pairs=self.pairs,
            stable_pairs=self.stable,
            canonical_stable_pairs=self.canonical_stable,
            least_shared_bytes=self.least,
            canonical_least_shared_bytes=self.canonical_least,
            worst=self.worst,
        )


class _Run:
    """One pass over the requests."""

    def __init__(self, prefix_length: int) -> None:
        self._length = prefix_length
        lengths = tuple(sorted({*CANDIDATES, prefix_length}))
        self._sent, self._canonical = Tally(lengths, prefix_length), Tally(lengths, prefix_length)
        self._states: OrderedDict[bytes, _State] = OrderedDict()
        self._retired: list[_State] = []
        self._heads: OrderedDict[bytes, tuple[Head, Head, str]] = OrderedDict()
        self._worst: dict[str, Example] = {}
        self._requests = self._bytes = self._short = self._broken = self._without = 0
        self._groups = self._conversations = self._pairs = 0

    def take(self, request: RecordedRequest) -> None:
        body = _parsed(request.body)
        if body is not None and not has_prompt(body):
            self._without += 1
            return
        self._requests += 1
        self._bytes += len(request.body)
        self._short += len(request.body) < SHORTEST_PREFIX
        written = None if body is None else _canonical(body)
        self._broken += written is None
        sent = head_of(request.body)
        ideal = sent if written is None else head_of(written)
        group = group_of(request, body)
        self._sent.request(sent, group.route)
        self._canonical.request(ideal, group.route)
        state = self._state(group, sent, ideal)
        state.requests += 1
        before = self._heads.pop(state.group.key, None)
        self._heads[state.group.key] = (sent, ideal, request.place)
        if len(self._heads) > _MOST_HEADS:
            self._heads.popitem(last=False)
        if before is not None:
            self._compare(state, before, (sent, ideal, request.place))

    def _state(self, group: Group, sent: Head, ideal: Head) -> _State:
        state = self._states.get(group.key)
        if state is not None:
            self._states.move_to_end(group.key)
            return state
        self._groups += 1
        self._conversations += group.is_conversation
        self._sent.opened(sent, group.route)
        self._canonical.opened(ideal, group.route)
        state = self._states[group.key] = _State(group)
        if len(self._states) > _MOST_GROUPS:
            self._retired.append(self._states.popitem(last=False)[1])
            if len(self._retired) > 4 * _MOST_SHOWN:
                self._retired = sorted(self._retired, key=lambda one: one.rank)[:_MOST_SHOWN]
        return state

    def _compare(self, state: _State, before: tuple[Head, Head, str], now: tuple[Head, Head, str]) -> None:
        self._pairs += 1
        state.pairs += 1
        sent, ideal = pair_of(before[0], now[0]), pair_of(before[1], now[1])
        for tally, pair in ((self._sent, sent), (self._canonical, ideal)):
            tally.pair(pair, in_conversation=state.group.is_conversation)
        state.stable += sent.agrees(self._length)
        state.canonical_stable += ideal.agrees(self._length)
        state.least = _least(state.least, sent)
        state.canonical_least = _least(state.canonical_least, ideal)
        if not sent.agrees(self._length):
            difference = first_difference(before[0].data, now[0].data)
            assert difference is not None  # the pair does not agree
            self._sent.kinds[difference.kind] += 1
            self._keep(state, before[2], now[2], difference)
        if not ideal.agrees(self._length):
            difference = first_difference(before[1].data, now[1].data)
            assert difference is not None  # the pair does not agree
            self._canonical.kinds[difference.kind] += 1

    def _keep(self, state: _State, first: str, second: str, difference: Difference) -> None:
        example = Example(first=first, second=second, difference=difference, fix=fix_of(difference))
        if state.worst is None or difference.offset < state.worst.difference.offset:
            state.worst = example
        worst = self._worst.get(difference.kind)
        if worst is None or difference.offset < worst.difference.offset:
            self._worst[difference.kind] = example

    def report(self) -> LintReport:
        kinds = {*self._sent.kinds, *self._canonical.kinds}
        states = sorted((*self._states.values(), *self._retired), key=lambda one: one.rank)
        return LintReport(
            prefix_length=self._length,
            requests=self._requests,
            without_prompt=self._without,
            request_bytes=self._bytes,
            short_requests=self._short,
            not_json=self._broken,
            groups=self._groups,
            conversations=self._conversations,
            pairs=self._pairs,
            sent=self._sent.measure(),
            canonical=self._canonical.measure(),
            kinds=tuple(
                KindCount(
                    kind=kind,
                    pairs=self._sent.kinds[kind],
                    canonical_pairs=self._canonical.kinds[kind],
                    worst=self._worst.get(kind),
                )
                for kind in sorted(kinds, key=lambda one: (-self._sent.kinds[one], one))
            ),
            worst_groups=tuple(state.report() for state in states[:_MOST_SHOWN]),
        )


def _least(least: int | None, pair: Pair) -> int | None:
    if pair.repeats:
        return least
    return pair.shared if least is None else min(least, pair.shared)


def _parsed(body: bytes) -> dict[str, Any] | None:
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        # Guard: what clients send and orjson refuses, such as NaN, still has an opening.
        try:
            value = json.loads(body.decode())
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def _canonical(body: dict[str, Any]) -> bytes | None:
    try:
        return canonical(body)
    except PayloadError:
        return None
