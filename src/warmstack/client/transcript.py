"""A conversation as it is sent: its messages, kept byte for byte."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from warmstack.client.failures import InvalidArgument
from warmstack.payload import canonical

Message = dict[str, Any]
Said = str | Mapping[str, Any] | Iterable[Mapping[str, Any]]
"""What a turn adds: a user's text, a message, or several (results of tools, for example)."""


class Transcript:
    """The messages so far. A turn is added whole, with its answer, or not at all.

    Messages are copied on their way in and out: what a caller changes later does not change what was said, and with it
    the bytes that the cache is found by.

    Args:
        messages: What the conversation starts from, such as a system message.
    """

    def __init__(self, messages: Iterable[Mapping[str, Any]] = ()) -> None:
        self._first = messages_of(messages)
        self._messages = list(self._first)

    def __len__(self) -> int:
        return len(self._messages)

    def messages(self) -> list[Message]:
        """Return the messages so far."""
        return copy.deepcopy(self._messages)

    def with_turn(self, said: Said) -> list[Message]:
        """Return the messages of the next request, which adds ``said``."""
        return [*self._messages, *messages_of(said)]

    def keep(self, sent: Sequence[Message], answer: Message) -> None:
        """Take over the messages of a request that was answered, and the answer."""
        self._messages = [*sent, copy.deepcopy(answer)]

    def reset(self) -> None:
        """Go back to what the conversation started from."""
        self._messages = list(self._first)


def messages_of(said: Said) -> list[Message]:
    """Return what a turn adds as messages; a text is the user's.

    Raises:
        InvalidArgument: It is none of the forms.
        PayloadError: A message holds what JSON has no form for and what cannot be copied, such as a generator.
    """
    if isinstance(said, str):
        return [{"role": "user", "content": said}]
    listed = [said] if isinstance(said, Mapping) or not isinstance(said, Iterable) else list(said)
    for at, one in enumerate(listed):
        if not isinstance(one, Mapping):
            raise InvalidArgument(
                f"message {at} is a {type(one).__name__}; a turn is a text, a message such as "
                '{"role": "user", "content": "…"}, or a list of messages'
            )
    given = [dict(one) for one in listed]
    try:
        return copy.deepcopy(given)
    except Exception as error:
        canonical({"messages": given})  # which tells where the value is
        raise InvalidArgument(
            f"a message cannot be copied: {error}; build it of plain dicts, lists and texts"
        ) from error
