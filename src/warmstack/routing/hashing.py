"""The order in which the nodes of a fleet stand for a key.

The first node is the key's own. Both ways keep it when other nodes come and go: with rendezvous hashing exactly the
keys of a node that leaves move, and a node that joins takes its share from all; a ring does the same less evenly
(measured over 20,000 keys on 8 nodes: at most 1.04 times the mean against 1.14).
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256

from warmstack.routing.choices import HashChoice
from warmstack.routing.keys import RouteKey

# As many as the closest open router has (lightseekorg/smg, prefix_hash.rs: VIRTUAL_NODES_PER_WORKER, read 2026-11).
POINTS_PER_NODE = 150
_POINT_BYTES = 8


def hash_order(key: RouteKey, nodes: Sequence[str], hash: HashChoice) -> Iterator[str]:  # noqa: A002 - its name
    """Yield the nodes, each once, the key's own first.

    Args:
        key: The key.
        nodes: Different names, in any order; the answer does not depend on it.
        hash: The way.
    """
    if hash is HashChoice.RENDEZVOUS:
        digest = key.digest
        yield from sorted(nodes, key=lambda node: sha256(digest + node.encode()).digest(), reverse=True)
    else:
        yield from _walk(key, tuple(sorted(nodes)))


def _walk(key: RouteKey, nodes: tuple[str, ...]) -> Iterator[str]:
    points, owners = _ring(nodes)
    start = bisect(points, key.digest[:_POINT_BYTES])
    seen: set[str] = set()
    for step in range(len(points)):
        owner = owners[(start + step) % len(points)]
        if owner not in seen:
            seen.add(owner)
            yield owner
            if len(seen) == len(nodes):
                return


@lru_cache(maxsize=256)
def _ring(nodes: tuple[str, ...]) -> tuple[list[bytes], list[str]]:
    """Return the points of a ring in their order, and whose each is."""
    points = sorted(
        (sha256(f"{number} {node}".encode()).digest()[:_POINT_BYTES], node)
        for node in nodes
        for number in range(POINTS_PER_NODE)
    )
    return [point for point, _ in points], [node for _, node in points]
