"""Start-up timeouts from the size of the weights.

SageMaker accepts 60..3600 seconds for each (API ProductionVariant, InferenceComponentStartupParameters). The
rates are assumptions for sizing, half of what instances of these families usually reach: they are not promises.
"""

from __future__ import annotations

from dataclasses import dataclass

LOWEST_SECONDS = 60
HIGHEST_SECONDS = 3600
DOWNLOAD_BYTES_PER_SECOND = 250 * 10**6
LOAD_BYTES_PER_SECOND = 500 * 10**6
DOWNLOAD_BASE_SECONDS = 300
STARTUP_BASE_SECONDS = 600
MARGIN = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class StartTimes:
    """Timeouts in seconds, and the wish before it was cut to the service's limit."""

    download_seconds: int
    startup_seconds: int
    wanted_download_seconds: int
    wanted_startup_seconds: int


def start_times(
    weight_bytes: int, *, from_hub: bool, download: int | None = None, startup: int | None = None
) -> StartTimes:
    """Return the timeouts for weights of a size; the spec's own values stand.

    Args:
        weight_bytes: weights on disk.
        from_hub: whether the container downloads them itself, which then counts as start-up.
        download: the spec's own download timeout, or None.
        startup: the spec's own start-up timeout, or None.
    """
    transfer = MARGIN * weight_bytes / DOWNLOAD_BYTES_PER_SECOND
    load = MARGIN * weight_bytes / LOAD_BYTES_PER_SECOND
    wanted_download = _whole_minutes(DOWNLOAD_BASE_SECONDS + (0 if from_hub else transfer))
    wanted_startup = _whole_minutes(STARTUP_BASE_SECONDS + load + (transfer if from_hub else 0))
    return StartTimes(
        download_seconds=download or _accepted(wanted_download),
        startup_seconds=startup or _accepted(wanted_startup),
        wanted_download_seconds=wanted_download,
        wanted_startup_seconds=wanted_startup,
    )


def _whole_minutes(seconds: float) -> int:
    return -(-int(seconds) // 60) * 60


def _accepted(seconds: int) -> int:
    return max(LOWEST_SECONDS, min(HIGHEST_SECONDS, seconds))
