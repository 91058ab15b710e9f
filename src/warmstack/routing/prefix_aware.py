"""PREFIX_AWARE: one prefix, one copy, until it is at the threshold.

Source: PrefixAwareRoutingConfig of botocore 1.44.8 (read 2026-11-30). At the threshold another copy on the same
instance takes the request, and only when all of them are at it another instance. What happens when every copy is at
the threshold is not documented: the least busy takes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from warmstack.routing.choices import Spill
from warmstack.routing.decision import Candidate, Decision, Reason
from warmstack.routing.hashing import hash_order
from warmstack.routing.keys import RouteKey
from warmstack.routing.load import Load


def choose_by_prefix(key: RouteKey, candidates: Sequence[Candidate], load: Load) -> Decision:
    """Return where a key goes among candidates, of which there is at least one."""
    by_instance: dict[str, dict[str, Candidate]] = {}
    for one in candidates:
        by_instance.setdefault(one.instance, {})[one.copy] = one
    hash_choice = load.rules.choices.hash
    instances = hash_order(key, tuple(by_instance), hash_choice)
    home = next(instances)
    here = [by_instance[home][copy] for copy in hash_order(key, tuple(by_instance[home]), hash_choice)]
    own = here[0]
    if not load.is_full(own):
        return _decision(own, Reason.PREFIX, f"prefix {key} → {own.copy} on {home}")

    in_order = load.rules.choices.spill is Spill.NEXT_IN_HASH_ORDER
    threshold = load.rules.concurrency_threshold
    free = [one for one in here if not load.is_full(one)]
    if free:
        chosen = free[0] if in_order else load.least(free)
        detail = f"prefix {key} → {own.copy} on {home}, which is at the threshold of {threshold}: spilled to "
        return _decision(chosen, Reason.PREFIX_SPILL_COPY, f"{detail}{chosen.copy} on the same instance")

    what = "it is" if len(here) == 1 or not load.rules.per_copy else f"its {len(here)} copies are"
    detail = f"prefix {key} → {home}; {what} at the threshold of {threshold}"
    free = [one for one in candidates if not load.is_full(one)]
    if not free:
        chosen = load.least(candidates)
        detail += f", and so is every other: {chosen.copy} on {chosen.instance} has the fewest in flight"
        return _decision(chosen, Reason.PREFIX_ALL_FULL, detail)
    if in_order:
        there = next(one for one in instances if any(not load.is_full(copy) for copy in by_instance[one].values()))
        copies = hash_order(key, tuple(by_instance[there]), hash_choice)
        chosen = next(by_instance[there][copy] for copy in copies if not load.is_full(by_instance[there][copy]))
    else:
        chosen = load.least(free)
    return _decision(chosen, Reason.PREFIX_SPILL_INSTANCE, f"{detail}: spilled to {chosen.copy} on {chosen.instance}")


def _decision(chosen: Candidate, reason: Reason, detail: str) -> Decision:
    return Decision(copy=chosen.copy, instance=chosen.instance, reason=reason, detail=detail)
