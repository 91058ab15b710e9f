"""How a streamed answer is cut into parts. SageMaker's parts do not follow the container's writes, nor its lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from random import Random


class Cut(StrEnum):
    """Where parts end."""

    AS_WRITTEN = "as-written"
    """Where the container's own writes end, as far as the network keeps them apart."""
    EVERY_BYTE = "every-byte"
    """After each byte: the hardest case for a client."""
    RANDOM = "random"
    """Anywhere, by the given random numbers."""


Cutting = Callable[[bytes], Iterator[bytes]]


def cutting(cut: Cut, random: Random) -> Cutting:
    """Return what cuts a piece into parts.

    Args:
        cut: Where.
        random: For `Cut.RANDOM`.
    """

    def anywhere(piece: bytes) -> Iterator[bytes]:
        while piece:
            size = random.randint(1, len(piece))
            yield piece[:size]
            piece = piece[size:]

    match cut:
        case Cut.AS_WRITTEN:
            return lambda piece: iter((piece,))
        case Cut.EVERY_BYTE:
            return lambda piece: (piece[at : at + 1] for at in range(len(piece)))
        case Cut.RANDOM:
            return anywhere
