"""The draft of speculative decoding, where it is a folder inside the weights' prefix."""

from __future__ import annotations

from collections.abc import Iterator

from warmstack.operate.preflights import checks
from warmstack.operate.preflights.storage import Prefix
from warmstack.operate.results import Result
from warmstack.plan import ServedModel

CONFIG = "config.json"
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth")


def check_draft(served: ServedModel, uri: str, place: Prefix) -> Iterator[Result]:
    """Yield whether the draft's folder is there, with its configuration and its weights."""
    draft = served.draft.draft if served.draft is not None else None
    if draft is None:
        return
    if not draft.endswith("/"):
        yield checks.HUB.skipped(draft, "each copy downloads the draft from the hub; it is not looked for")
        return
    inside = place.folder(draft)
    lacks = [] if CONFIG in inside.root else [CONFIG]
    lacks += [] if any(name.endswith(_WEIGHTS) for name in inside.root) else ["its weights"]
    subject = uri + draft
    if not inside.sizes:
        yield checks.DRAFT.failed(subject, "there is no such folder")
    elif lacks:
        yield checks.DRAFT.failed(subject, f"it lacks {' and '.join(lacks)}")
    else:
        yield checks.DRAFT.passed(subject, f"{CONFIG} and weights are there")
