"""The conversation that every client sends: two turns of it, with other sampling parameters in each.

Read by Pythons of two environments; it needs the standard library alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MODEL = "support"
ENDPOINT = "support-prod"
REGION = "us-west-2"
# Longer than 1024 bytes in each encoding: what is shorter cannot be sticky.
SYSTEM = (
    "Sei l'assistente del servizio clienti di «Caffè Perù». Rispondi con cortesia, è più importante della velocità. "
    "営業時間は九時から十八時までです。 Prices are in €. 🙂 "
) + "Verità, qualità, città: così è la nostra filosofia, perché ogni tazza è già un'opera d'arte. " * 11
QUESTIONS = ("Quali caffè c'è da provare? ☕", "E quanto costa un tè? 茶")
ANSWER = "Il caffè è ottimo: «Perù», 4 €. ✓"
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "prezzo",
            "description": "Dà il prezzo di una bevanda, in €.",
            "parameters": {
                "type": "object",
                "properties": {"bevanda": {"type": "string", "description": "Il nome: caffè, tè, …"}},
                "required": ["bevanda"],
            },
        },
    }
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a turn is sampled with."""

    temperature: float
    max_tokens: int


TURNS = (Turn(temperature=0.2, max_tokens=64), Turn(temperature=0.7, max_tokens=128))
CASES = ("whole", "streamed", "tools")
"""A recording holds the cases in this order, and of each one the two turns; the last is missing where a client has no
tools."""


def messages(turn: int) -> list[dict[str, Any]]:
    """Return the messages of a turn, from 0."""
    found: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}]
    for question in QUESTIONS[:turn]:
        found += [{"role": "user", "content": question}, {"role": "assistant", "content": ANSWER}]
    return [*found, {"role": "user", "content": QUESTIONS[turn]}]


def prompt(turn: int) -> str:
    """Return the messages as one text, for the clients that send no messages."""
    return "\n".join(f"{one['role']}: {one['content']}" for one in messages(turn))
