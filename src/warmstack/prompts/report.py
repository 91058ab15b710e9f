"""What the lint finds, as values."""

from __future__ import annotations

from dataclasses import dataclass

from warmstack.payload import Difference, DifferenceKind
from warmstack.prompts.histogram import Quantiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What a prefix length would do with the requests.

    Args:
        length: in bytes.
        sticky_share: the share of adjacent requests of a group that it keeps together; None without a pair.
        prefixes: how many different prefixes it sees; endpoint, component and PrefixAwareId are a part of each.
        more_prefixes: there are more than were counted.
        largest_share: the share of all requests that have the most frequent prefix, which go to one instance.
    """

    length: int
    sticky_share: float | None
    prefixes: int
    more_prefixes: bool
    largest_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """The requests in one form: as sent, or canonical.

    Args:
        stable_pairs: adjacent requests of a group whose first ``prefix_length`` bytes agree.
        stable_share: of all pairs; None without a pair.
        between_groups: S: bytes that the first request of a group shares with that of the group before, for the same
            endpoint, component and PrefixAwareId.
        between_turns: D: bytes that adjacent requests of a conversation share.
        candidates: what other prefix lengths would do.
    """

    stable_pairs: int
    stable_share: float | None
    between_groups: Quantiles | None
    between_turns: Quantiles | None
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Two requests that part, and where.

    Args:
        first: file and line of the first one.
        second: of the second one.
        difference: where they part, and why.
        fix: what to do about it.
    """

    first: str
    second: str
    difference: Difference
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KindCount:
    """The pairs that part for one reason, before ``prefix_length``.

    Args:
        kind: the reason.
        pairs: how many, as sent.
        canonical_pairs: how many would part for that reason if every body were canonical.
        worst: the example that parts first.
    """

    kind: DifferenceKind
    pairs: int
    canonical_pairs: int
    worst: Example | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupReport:
    """Requests that should share a prefix.

    Args:
        name: the conversation's id, or the beginning of the system prompt.
        by: ``conversation`` or ``opening``.
        requests: how many.
        pairs: adjacent ones that could be compared.
        stable_pairs: whose first ``prefix_length`` bytes agree.
        canonical_stable_pairs: that would agree if every body were canonical.
        least_shared_bytes: the fewest bytes that a pair shares; None without a pair, or when all pairs are equal.
        canonical_least_shared_bytes: the same, if every body were canonical.
        worst: the pair that parts first, before ``prefix_length``.
    """

    name: str
    by: str
    requests: int
    pairs: int
    stable_pairs: int
    canonical_stable_pairs: int
    least_shared_bytes: int | None
    canonical_least_shared_bytes: int | None
    worst: Example | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """What became of all requests.

    Args:
        prefix_length: what they were held against, in bytes.
        requests: how many, without those that hold no prompt.
        without_prompt: requests that open or close a session.
        request_bytes: the bytes of all.
        short_requests: those under 1,024 bytes, SageMaker's least prefix length.
        not_json: those that are no JSON object, which have no canonical form.
        groups: how many groups.
        conversations: how many of them are conversations by the file's own word.
        pairs: adjacent requests of a group.
        sent: the requests as sent.
        canonical: the same with every body canonical.
        kinds: why pairs part, most frequent first.
        worst_groups: the groups with most pairs that part, at most 100.
    """

    prefix_length: int
    requests: int
    without_prompt: int
    request_bytes: int
    short_requests: int
    not_json: int
    groups: int
    conversations: int
    pairs: int
    sent: Measure
    canonical: Measure
    kinds: tuple[KindCount, ...]
    worst_groups: tuple[GroupReport, ...]
