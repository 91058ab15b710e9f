"""One recorded request, whatever file it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class WorkloadFormat(StrEnum):
    """The files that hold the bodies of requests."""

    JSONL = "jsonl"
    CAPTURE = "capture"
    AGENT = "agent"
    RECORDED = "recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """One request, as it was sent.

    Args:
        body: its bytes, verbatim where the file holds them.
        source: the file.
        line: the line in it, from 1.
        format: of the file.
        conversation: the session or conversation that it belongs to, where the file says so.
        time: when it was sent, in seconds since 1970, where the file says so.
        prefix_aware_id: PrefixAwareId of the call.
        endpoint: the endpoint's name.
        component: the inference component's name.
    """

    body: bytes
    source: str
    line: int
    format: WorkloadFormat
    conversation: str | None = None
    time: float | None = None
    prefix_aware_id: str | None = None
    endpoint: str | None = None
    component: str | None = None

    @property
    def place(self) -> str:
        """The file and the line, as an editor opens them."""
        return f"{self.source}:{self.line}"
