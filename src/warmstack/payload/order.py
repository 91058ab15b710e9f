"""The order of keys in canonical bytes: the prompt first, then what is stable, then what varies from call to call.

Routing by prefix counts from the first byte of the body. A byte before the prompt that varies sends equal prompts to
different instances; one that does not vary is a byte of the prefix length spent for nothing.
"""

from __future__ import annotations

from functools import lru_cache

PROMPT_KEYS = ("messages", "inputs", "prompt", "input")
"""What holds the prompt: a chat, the LMI form, a completion, and an embedding or response."""
_FIRST = (*PROMPT_KEYS, "suffix", "tools")
# Sampling parameters of the OpenAI API, vLLM and SGLang, and what else applications change between calls.
SAMPLING_KEYS = (
    "best_of",
    "frequency_penalty",
    "ignore_eos",
    "length_penalty",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_new_tokens",
    "max_tokens",
    "min_p",
    "min_tokens",
    "n",
    "presence_penalty",
    "prompt_logprobs",
    "reasoning_effort",
    "repetition_penalty",
    "stop",
    "stop_token_ids",
    "temperature",
    "top_k",
    "top_logprobs",
    "top_p",
    "use_beam_search",
)
"""What says how to sample."""
VOLATILE_KEYS = (
    "model",
    "stream",
    "stream_options",
    "requestType",
    "user",
    "safety_identifier",
    "metadata",
    "prompt_cache_key",
    "cache_salt",
    "session_id",
    "request_id",
    "seed",
)
"""What says who asks and how to answer: never a part of the prompt."""
_LAST = (*SAMPLING_KEYS, *VOLATILE_KEYS)
_RANKS = {key: (place, key) for place, key in enumerate(_FIRST)} | {
    key: (len(_FIRST) + 1 + place, key) for place, key in enumerate(_LAST)
}
MESSAGE_KEYS = ("role", "name", "content", "tool_calls", "tool_call_id")
PART_KEYS = ("type", "text")
CALL_KEYS = ("id", "type", "function")
FUNCTION_KEYS = ("name", "arguments")


class KeyOrderError(Exception):
    """Keys that cannot be sorted, because one is no text."""


@lru_cache(maxsize=256)
def body_order(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return the keys of a body in their canonical order; unknown ones are sorted, between the tools and sampling.

    Raises:
        KeyOrderError: a key is no text.
    """
    return tuple(sorted(_plain(keys), key=lambda key: _RANKS.get(key, (len(_FIRST), key))))


@lru_cache(maxsize=1024)
def inner_order(keys: tuple[str, ...], first: tuple[str, ...]) -> tuple[str, ...]:
    """Return keys with some of them first, in their given order, and the rest sorted.

    Raises:
        KeyOrderError: a key is no text.
    """
    held = set(_plain(keys))
    return (*(key for key in first if key in held), *sorted(held.difference(first)))


def _plain(keys: tuple[str, ...]) -> list[str]:
    if not all(isinstance(key, str) for key in keys):
        raise KeyOrderError("a key is no text")
    # Guard: a member of an enumeration equals its text, and would be the cached answer for it, or not.
    return [str.__str__(key) for key in keys]
