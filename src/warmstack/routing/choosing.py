"""The decision: which copy a request goes to.

A live session is above every strategy. Then the variant's strategy decides. Ties go to one of the tied by the given
random numbers, so that an idle fleet does not send everything to its first copy; equal seeds give equal decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from warmstack.routing.choices import OneInstance
from warmstack.routing.decision import Candidate, Decision, LongestMatch, Reason, RoutingRequest
from warmstack.routing.load import Load
from warmstack.routing.prefix_aware import choose_by_prefix
from warmstack.routing.strategy import RoutingRules, RoutingStrategy


def choose(
    request: RoutingRequest,
    candidates: Sequence[Candidate],
    rules: RoutingRules,
    random: Random,
    *,
    longest_match: LongestMatch | None = None,
) -> Decision:
    """Return where a request goes.

    Args:
        request: The request.
        candidates: The copies that can serve it: those of the variant, or of the component that is invoked.
        rules: Those of the variant.
        random: Asked for RANDOM, and for ties.
        longest_match: What each copy holds of a prompt, for KV_AWARE; without it no copy holds anything.

    Raises:
        ValueError: There are no candidates, or none on the instance of the live session. Both have answers of their
            own on SageMaker, which are the caller's to give.
    """
    if not candidates:
        raise ValueError("there are no candidates; a request that no copy can serve is not routed")
    load = Load(rules=rules, random=random)
    if request.pin is not None:
        return _stay(request, candidates, load, longest_match)
    match rules.strategy:
        case RoutingStrategy.RANDOM:
            return _at_random(candidates, load, "the strategy is RANDOM")
        case RoutingStrategy.LEAST_OUTSTANDING_REQUESTS:
            return _least(candidates, load, "the strategy is LEAST_OUTSTANDING_REQUESTS")
        case RoutingStrategy.PREFIX_AWARE:
            return _by_prefix(request, candidates, load)
        case RoutingStrategy.KV_AWARE:
            return _by_cache(request, candidates, load, longest_match)


def _stay(
    request: RoutingRequest, candidates: Sequence[Candidate], load: Load, longest_match: LongestMatch | None
) -> Decision:
    """Decide among the copies on the instance of the session: its own, else as the strategy says."""
    assert request.pin is not None
    home = request.pin.instance
    there = [one for one in candidates if one.instance == home]
    if not there:
        raise ValueError(f"no candidate is on {home}, the instance of the live session; drop its sessions first")
    for one in there:
        if one.copy == request.pin.copy:
            return Decision(
                copy=one.copy, instance=home, reason=Reason.SESSION, detail=f"its session is on {one.copy} on {home}"
            )
    if load.rules.strategy is RoutingStrategy.PREFIX_AWARE and request.key is not None:
        inner = choose_by_prefix(request.key, there, load)
    elif load.rules.strategy is RoutingStrategy.KV_AWARE:
        inner = _by_cache(request, there, load, longest_match)
    elif load.rules.strategy is RoutingStrategy.RANDOM:
        inner = _at_random(there, load, "the strategy is RANDOM")
    else:
        inner = _least(there, load, "the session names no copy")
    detail = f"its session is on {home}; among its copies: {inner.detail}"
    return Decision(copy=inner.copy, instance=home, reason=Reason.SESSION, detail=detail)


def _by_prefix(request: RoutingRequest, candidates: Sequence[Candidate], load: Load) -> Decision:
    # "Applies prefix-aware routing only when two or more instances can serve the request" (botocore 1.44.8).
    if all(one.instance == candidates[0].instance for one in candidates):
        because = f"PREFIX_AWARE needs two instances, and only {candidates[0].instance} can serve it"
        if load.rules.choices.one_instance is OneInstance.RANDOM:
            return _at_random(candidates, load, because)
        return _least(candidates, load, because)
    if request.key is None:
        return _least(candidates, load, "it has no prefix to route by")
    return choose_by_prefix(request.key, candidates, load)


def _by_cache(
    request: RoutingRequest, candidates: Sequence[Candidate], load: Load, longest_match: LongestMatch | None
) -> Decision:
    """Weigh what each copy holds of the prompt against how much busier it is than the least busy."""
    if longest_match is None or not request.blocks:
        return _least(candidates, load, "no copy is known to hold the start of its prompt")
    total = len(request.blocks)
    worth = load.rules.choices.kv_match_worth_requests
    least = min(load.of(one) for one in candidates)
    matches = {one.copy: longest_match(one.copy, request.blocks) for one in candidates}
    # In whole numbers: a share times the worth, less the requests above the least busy, all times the blocks.
    gains = {one.copy: matches[one.copy] * worth - (load.of(one) - least) * total for one in candidates}
    best = max(gains.values())
    if best <= 0:
        if not any(matches.values()):
            return _least(candidates, load, "no copy holds the start of its prompt")
        return _least(candidates, load, "the copies that hold the start of its prompt are too busy")
    chosen = load.least([one for one in candidates if gains[one.copy] == best])
    detail = (
        f"{chosen.copy} on {chosen.instance} holds the first {matches[chosen.copy]} of {total} blocks, "
        f"with {load.of(chosen)} in flight"
    )
    return Decision(copy=chosen.copy, instance=chosen.instance, reason=Reason.KV_MATCH, detail=detail)


def _least(candidates: Sequence[Candidate], load: Load, because: str) -> Decision:
    chosen = load.least(candidates)
    detail = f"{because}: least outstanding is {chosen.copy} on {chosen.instance} with {load.of(chosen)} in flight"
    return Decision(copy=chosen.copy, instance=chosen.instance, reason=Reason.LEAST_OUTSTANDING, detail=detail)


def _at_random(candidates: Sequence[Candidate], load: Load, because: str) -> Decision:
    chosen = load.random.choice(candidates)
    detail = f"{because}: {chosen.copy} on {chosen.instance} by lot"
    return Decision(copy=chosen.copy, instance=chosen.instance, reason=Reason.RANDOM, detail=detail)
