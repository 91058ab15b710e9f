"""Tokens and words of the simulated engine: how many tokens a text is, and what answers a prompt."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

BYTES_PER_TOKEN = 4
"""English text in the tokenizers of today's models; a prompt here has as many tokens as such a model would count."""
_WORDS = """
    warm cold cache block prefix token copy route turn batch queue layer head key value page slot tier disk host stream
    reply prompt model adapter session instance request answer context window shared stable ready steady
""".split()  # noqa: SIM905  (a list of forty strings would be forty lines)


def token_count(text: bytes) -> int:
    """Return how many tokens a text is: its UTF-8 bytes in fours, the last one perhaps shorter."""
    return -(-len(text) // BYTES_PER_TOKEN)


def answer_words(prompt: bytes, voice: str) -> Iterator[str]:
    """Yield the words of the answer to a prompt, without end: equal prompts get equal answers.

    Args:
        prompt: The whole prompt.
        voice: Who answers: an adapter answers otherwise than its base.
    """
    seed = hashlib.blake2b(f"{len(voice)}:{voice}".encode() + prompt, digest_size=32).digest()
    first = True
    while True:
        for byte in seed:
            word = _WORDS[byte % len(_WORDS)]
            yield word if first else f" {word}"
            first = False
        seed = hashlib.blake2b(seed, digest_size=32).digest()


def token_id(word: str) -> int:
    """Return the id of a word of an answer; the ones that follow another, with their space, have ids of their own."""
    at = _WORDS.index(word.strip())
    return at + len(_WORDS) if word.startswith(" ") else at


def token_text(identifier: int) -> str:
    """Return the word of an id; nothing for one that no word has."""
    if not 0 <= identifier < 2 * len(_WORDS):
        return ""
    word = _WORDS[identifier % len(_WORDS)]
    return f" {word}" if identifier >= len(_WORDS) else word
