"""Numbers that JSON can write and no float can hold."""

from __future__ import annotations

from math import isfinite
from typing import Any

from session_server.errors import BadRequestError


def check_finite(body: dict[str, Any]) -> None:
    """Refuse numbers that were read as infinite.

    Guard: JSON readers take 1e999 for infinity, this server's and the engine's; a sampling parameter then
    means nothing that its sender can have meant.

    Args:
        body: A body as it was read.

    Raises:
        BadRequestError: It has such a number. The message names the key that holds it, where there is one.
    """
    waiting: list[tuple[str, Any]] = [("", body)]
    while waiting:
        place, holder = waiting.pop()
        pairs = holder.items() if isinstance(holder, dict) else ((place, one) for one in holder)
        # One pass over the types first: prompts may be lists of a hundred thousand token ids.
        kinds = set(map(type, holder.values() if isinstance(holder, dict) else holder))
        if not kinds & {float, dict, list}:
            continue
        for key, value in pairs:
            if isinstance(value, dict | list):
                waiting.append((key, value))
            elif isinstance(value, float) and not isfinite(value):
                raise BadRequestError(
                    f"{key[:60] or 'the body'} has a number that is too large for a float; send a finite one",
                    code="invalid_number",
                )
