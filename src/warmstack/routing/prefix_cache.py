"""A model of a KV cache that reuses prefixes: blocks, least recently used first out.

As in vLLM, a block's identity covers everything before it, only full blocks are kept, and of one prompt the last block
is let go of first. Blocks are names here; there is no content.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256
from itertools import islice

from warmstack.routing.decision import BlockId

_ID_BYTES = 8
_TOKEN_BYTES = 8


class PrefixCache:
    """The blocks that a copy holds.

    Args:
        capacity_blocks: How many blocks there is room for; 0 holds nothing.
    """

    def __init__(self, capacity_blocks: int) -> None:
        if capacity_blocks < 0:
            raise ValueError(f"the capacity is {capacity_blocks} blocks; it cannot be negative")
        self.capacity_blocks = capacity_blocks
        self.queried_blocks = 0
        """Blocks that :meth:`match` was asked for, since the start."""
        self.hit_blocks = 0
        """Blocks of those that were here."""
        self.evicted_blocks = 0
        """Blocks that made room for others."""
        # The least recently used first. A prompt's blocks are touched last block first, so a block is always more
        # recent than those that continue it, and what is evicted is a leaf.
        self._blocks: OrderedDict[BlockId, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._blocks)

    def peek(self, blocks: Sequence[BlockId]) -> int:
        """Return how many of the first blocks are here; counts nothing, touches nothing."""
        held = self._blocks
        for number, block in enumerate(blocks):
            if block not in held:
                return number
        return len(blocks)

    def match(self, blocks: Sequence[BlockId]) -> int:
        """Return how many of the first blocks are here, and count them."""
        matched = self.peek(blocks)
        self.queried_blocks += len(blocks)
        self.hit_blocks += matched
        return matched

    def insert(self, blocks: Sequence[BlockId]) -> int:
        """Hold the blocks of a prompt, from its first on; return how many others had to go.

        Of a prompt that is larger than the cache, the start is held.
        """
        held = self._blocks
        for block in reversed(blocks[: self.capacity_blocks]):
            held[block] = None
            held.move_to_end(block)
        excess = max(0, len(held) - self.capacity_blocks)
        for _ in range(excess):
            held.popitem(last=False)
        self.evicted_blocks += excess
        return excess

    def least_recent(self, count: int) -> tuple[BlockId, ...]:
        """Return the blocks that go next, the first to go first."""
        return tuple(islice(self._blocks, count))

    def clear(self) -> None:
        """Forget every block, as a copy that starts again does; the counters stay."""
        self._blocks.clear()


def chained_block_ids(
    content: Sequence[int] | bytes, block_size: int, *, seed: bytes = b"", after: int | None = None
) -> tuple[int, ...]:
    """Return the ids of the full blocks of a prompt: equal exactly where everything up to the block's end is equal.

    Args:
        content: Token ids, or bytes that stand for them.
        block_size: In tokens, or bytes.
        seed: What else parts caches: an adapter's name, a cache salt.
        after: The id of the block that the content continues; None at the start of a prompt.

    Raises:
        ValueError: The block size is below one.
    """
    if block_size < 1:
        raise ValueError(f"block_size is {block_size}; a block holds at least one token")
    is_bytes = isinstance(content, bytes)
    data = memoryview(content if isinstance(content, bytes) else array("q", content).tobytes())
    step = block_size if is_bytes else block_size * _TOKEN_BYTES
    parent = sha256(seed).digest()[:_ID_BYTES] if after is None else after.to_bytes(_ID_BYTES, "big")
    ids: list[int] = []
    for end in range(step, len(data) + 1, step):
        parent = sha256(parent + data[end - step : end]).digest()[:_ID_BYTES]
        ids.append(int.from_bytes(parent, "big"))
    return tuple(ids)
