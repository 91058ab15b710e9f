"""The draft of speculative decoding, where it is a folder inside the weights' prefix."""

from __future__ import annotations

from collections.abc import Iterator

from warmstack.operate.asking import RefusedError, not_seen
from warmstack.operate.preflights import checks
from warmstack.operate.preflights.account import Account
from warmstack.operate.preflights.shards import check_shards, pickles_of
from warmstack.operate.preflights.storage import list_prefix
from warmstack.operate.results import Result
from warmstack.plan import ServedModel

CONFIG = "config.json"


def check_draft(served: ServedModel, account: Account, uri: str) -> Iterator[Result]:
    """Yield whether the draft's folder is there, with its configuration and its weights."""
    draft = served.draft.draft if served.draft is not None else None
    if draft is None:
        return
    if not draft.endswith("/"):
        yield checks.HUB.skipped(draft, "each copy downloads the draft from the hub; it is not looked for")
        return
    subject = f"{uri}{draft.strip('/')}/"
    try:
        inside = list_prefix(account, subject)
    except RefusedError as refused:
        yield not_seen(checks.DRAFT, subject, refused)
        return
    weights = [name for name in inside.files if name.endswith(".safetensors")] or pickles_of(inside.files)
    lacks = ([] if CONFIG in inside.files else [CONFIG]) + ([] if weights else ["its weights"])
    if not inside.files and not inside.folders:
        yield checks.DRAFT.failed(subject, "there is no such folder")
    elif inside.files.get(CONFIG) == 0:
        yield checks.DRAFT.failed(subject, f"empty: {CONFIG}")
    elif lacks and not inside.whole:
        yield inside.not_listed(checks.DRAFT, f"{' and '.join(lacks)} not among them")
    elif lacks:
        yield checks.DRAFT.failed(subject, f"it lacks {' and '.join(lacks)}")
    else:
        yield from check_shards(account, inside, subject, checks.DRAFT)
