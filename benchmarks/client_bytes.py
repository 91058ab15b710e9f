"""How much of a conversation's bytes stays as it was, from one turn to the next, in the bodies of real clients.

PREFIX_AWARE routes by a body's first bytes, so what a client puts before the messages, or changes there, decides
whether a turn meets the copy that holds its prefix. The bodies are those that tests/data/client_bodies records: two
turns with other sampling parameters, whole, streamed and with tools. Each is taken as the client sends it, and as
canonical bytes. Nothing here depends on the machine.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import orjson

from warmstack.payload import canonical, shared_bytes

RECORDED = Path(__file__).resolve().parents[1] / "tests" / "data" / "client_bodies"
PREFIX_LENGTH = 1024
"""The smallest that SageMaker takes, and the shortest body that can be sticky."""
TURNS = 2
MIN_STABLE = 0.85
"""Of canonical bodies. What differs is the end of the earlier turn, behind its messages: tools and sampling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """What adjacent turns share.

    Args:
        share: Shared bytes against those of the earlier turn, the mean of the pairs.
        agree: In how many pairs the first bytes are the same.
        pairs: Of how many.
        streams_agree: Whether a turn begins the same streamed and whole.
    """

    share: float
    agree: int
    pairs: int
    streams_agree: bool

    def row(self) -> str:
        """Return the cells of a table."""
        return f"{self.share:8.1%}{f'{self.agree} of {self.pairs}':>9}{'yes' if self.streams_agree else 'no':>9}"


def conversations(bodies: list[bytes]) -> Iterator[list[bytes]]:
    """Yield the turns of each case."""
    for begin in range(0, len(bodies), TURNS):
        yield bodies[begin : begin + TURNS]


def measure(bodies: list[bytes]) -> Stability:
    """Return what the turns of a recording share.

    Args:
        bodies: The bodies, in the order of the recording.
    """
    cases = list(conversations(bodies))
    pairs = [pair for case in cases for pair in pairwise(case)]
    whole, streamed = cases[0][0], cases[1][0]
    return Stability(
        share=statistics.mean(shared_bytes(one, two) / len(one) for one, two in pairs),
        agree=sum(one[:PREFIX_LENGTH] == two[:PREFIX_LENGTH] for one, two in pairs),
        pairs=len(pairs),
        streams_agree=whole[:PREFIX_LENGTH] == streamed[:PREFIX_LENGTH],
    )


def as_sent(body: bytes) -> bytes:
    """Return a body as it is."""
    return body


def as_canonical(body: bytes) -> bytes:
    """Return a body's canonical bytes."""
    return bytes(canonical(orjson.loads(body)))


FORMS: tuple[Callable[[bytes], bytes], ...] = (as_sent, as_canonical)


def groups(recordings: list[list[bytes]]) -> int:
    """Return into how many groups the first turns of all clients fall, by their first bytes."""
    return len({bodies[0][:PREFIX_LENGTH] for bodies in recordings})


def main() -> int:
    """Measure and print; return 1 when canonical bodies are less stable than they must be."""
    argparse.ArgumentParser(prog="client_bytes", description=(__doc__ or "").splitlines()[0]).parse_args()
    print(f"stable: bytes shared with the next turn; agree: pairs whose first {PREFIX_LENGTH} bytes are the same;")
    print("streams: whether a turn begins the same streamed and whole")
    print(f"{'':24}{'as the client sends it':>26}{'canonical':>26}")
    print(f"{'':24}" + f"{'stable':>8}{'agree':>9}{'streams':>9}" * 2)
    good = True
    found: list[list[list[bytes]]] = [[] for _ in FORMS]
    for path in sorted(RECORDED.glob("*.jsonl")):
        sides = [[form(body) for body in path.read_bytes().splitlines()] for form in FORMS]
        sent, made = (measure(bodies) for bodies in sides)
        good = good and made.share >= MIN_STABLE and made.agree == made.pairs and made.streams_agree
        print(f"{path.stem:24}{sent.row()}{made.row()}")
        for recordings, bodies in zip(found, sides, strict=True):
            recordings.append(bodies)
    before, after = (groups(recordings) for recordings in found)
    print(f"{'groups of first turns':24}{before:>26}{after:>26}")
    print(f"limit: of canonical bodies {MIN_STABLE:.0%} is stable, every pair agrees, and streams do")
    print("within the limit" if good else "OVER the limit")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
