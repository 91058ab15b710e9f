"""Defects of the servers that are reproduced here: code that meets them on AWS must meet them on this machine.

Each is on unless it is named otherwise. All were read in djl-serving at d21927c4 (2026-06-24); releases after LMI 27
may have mended some.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from warmstack.local.errors import LocalError

SESSIONS_FALSE = "sessions-false-breaks-every-request"
EXPIRED_SERVED = "expired-session-served"
LAZY_ADAPTER = "lazy-adapter-424"
FORMATTER_DROPS_HEADER = "output-formatter-drops-session-header"
FORMATTER_HIDES_ERRORS = "output-formatter-hides-engine-errors"
UNKNOWN_MODEL_500 = "unknown-model-becomes-500"
REASON_LOST = "engine-errors-lose-their-reason"
CODE_RUNS_FOUR_TIMES = "model-py-runs-four-times"
_DEFECTS: Mapping[str, str] = {
    SESSIONS_FALSE: "lmi: with OPTION_ENABLE_STATEFUL_SESSIONS other than exactly true, each request is a 424",
    EXPIRED_SERVED: "lmi: a session that has expired is served until the next one is opened, which drops it",
    LAZY_ADAPTER: "lmi: an adapter that was registered with preload=false is a 424 for whoever names it",
    FORMATTER_DROPS_HEADER: "lmi: with an output formatter, replies that open or close a session lack their header",
    FORMATTER_HIDES_ERRORS: "lmi: with an output formatter, vLLM's error for an unknown model is formatted, and a 200",
    UNKNOWN_MODEL_500: "lmi: a model that vLLM does not know is a 500, with vLLM's object as its text",
    REASON_LOST: "lmi: what else vLLM refuses, such as a prompt that is too long, is a 424 that does not say why",
    CODE_RUNS_FOUR_TIMES: "lmi: model.py is executed four times, so that its formatters share no variables",
}
ALL_DEFECTS: frozenset[str] = frozenset(_DEFECTS)


def describe_defects() -> dict[str, str]:
    """Return what each defect does, by its name."""
    return dict(_DEFECTS)


def defects_without(names: Iterable[str]) -> frozenset[str]:
    """Return every defect but some.

    Args:
        names: Those that are not wanted.

    Raises:
        LocalError: There is none of a name.
    """
    wanted = list(names)
    unknown = [name for name in wanted if name not in _DEFECTS]
    if unknown:
        told = []
        for name in unknown:
            near = difflib.get_close_matches(name, _DEFECTS, n=1)
            told.append(f"defect {name!r} does not exist" + (f"; did you mean {near[0]}?" if near else ""))
        raise LocalError(f"{'. '.join(told)} The defects are {', '.join(_DEFECTS)}")
    return ALL_DEFECTS.difference(wanted)
