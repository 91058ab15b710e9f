"""How many requests run at a time, and which headers of ours each may have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from session_server.adapter_references import ADAPTER_HEADER
from session_server.errors import BadRequestError, TooBusyError
from session_server.session_protocol import SESSION_HEADER

RETRY_SECONDS = 1


class RequestSlots:
    """Counts the requests that run.

    Args:
        limit: How many may run at a time.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.taken = 0

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hold one of the places.

        Raises:
            TooBusyError: All are taken.
        """
        if self.taken >= self._limit:
            raise TooBusyError(
                f"{self._limit} requests are running, as many as WARMSTACK_MAX_CONCURRENT_REQUESTS allows; try again",
                code="too_many_requests",
                retry_after_seconds=RETRY_SECONDS,
            )
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1


def validated_headers(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return this server's own headers by their names in lower case, each at most once.

    Args:
        raw: The request's headers, as ASGI gives them.

    Raises:
        BadRequestError: One comes twice. What their values may be is the business of the modules that read them.
    """
    wanted = {SESSION_HEADER.lower(), ADAPTER_HEADER.lower()}
    found: dict[str, str] = {}
    for key, value in raw:
        name = key.decode("latin-1").lower()
        if name in wanted:
            if name in found:
                raise BadRequestError(f"the header {name} is sent twice; send it once")
            found[name] = value.decode("latin-1").strip()
    return found
