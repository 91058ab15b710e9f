"""The draft of speculative decoding, where it is a folder inside the weights' prefix."""

from __future__ import annotations

from collections.abc import Iterator

from warmstack.operate.asking import RefusedError, not_seen
from warmstack.operate.preflights import checks
from warmstack.operate.preflights.account import Account
from warmstack.operate.preflights.shards import check_shards
from warmstack.operate.preflights.storage import list_prefix
from warmstack.operate.results import Result
from warmstack.plan import ServedModel

CONFIG = "config.json"
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth")


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
    weights = [name for name in inside.files if name.endswith(_WEIGHTS)]
    lacks = ([] if CONFIG in inside.files else [CONFIG]) + ([] if weights else ["its weights"])
    empty = sorted(name for name in (CONFIG, *weights) if inside.files.get(name) == 0)
    if not inside.files and not inside.folders:
        yield checks.DRAFT.failed(subject, "there is no such folder")
    elif empty:
        yield checks.DRAFT.failed(subject, f"empty: {', '.join(empty)}")
    elif lacks and not inside.whole:
        yield inside.not_listed(checks.DRAFT, f"{' and '.join(lacks)} not among them")
    elif lacks:
        yield checks.DRAFT.failed(subject, f"it lacks {' and '.join(lacks)}")
    else:
        yield from check_shards(account, inside, subject, checks.DRAFT)
