"""How long the client waits."""

from __future__ import annotations

from dataclasses import dataclass

from warmstack.client.failures import InvalidArgument


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long the client waits, in seconds.

    Args:
        connect_seconds: For a connection.
        read_seconds: For an answer. SageMaker ends a regular request after 60 seconds and asks clients to wait for at
            least 70 (botocore 1.44.8, InvokeEndpoint); botocore's own default is 60.
        stream_seconds: For a whole stream, and so for its first part; SageMaker ends one after 8 minutes.
    """

    connect_seconds: float = 5.0
    read_seconds: float = 70.0
    stream_seconds: float = 480.0

    def __post_init__(self) -> None:
        """Hold the numbers to their ranges.

        Raises:
            InvalidArgument: One is not above 0.
        """
        for name in ("connect_seconds", "read_seconds", "stream_seconds"):
            value = getattr(self, name)
            if not is_seconds(value, above_zero=True):
                raise InvalidArgument(f"{name} is {value!r}; it must be a number of seconds above 0")


def is_seconds(value: object, *, above_zero: bool = False) -> bool:
    """Return whether a value is a number of seconds: finite, and 0 or more.

    Args:
        value: Whatever a caller gave.
        above_zero: Whether 0 is none.
    """
    if not isinstance(value, int | float) or not 0 <= value < float("inf"):
        return False
    return value > 0 or not above_zero
