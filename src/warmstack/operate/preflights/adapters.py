"""The adapters' archives in S3: there, whole as far as it shows, and what the plan expects. Nothing in them is run."""

from __future__ import annotations

import io
import tarfile
import zlib
from collections.abc import Iterator
from typing import Any

from warmstack.adapters import Contents, Target, check_adapter, configuration_of, target_of
from warmstack.adapters.archive import MOST_BYTES, MOST_TIMES, read_members
from warmstack.adapters.config import NAME
from warmstack.adapters.contents import PICKLES, Look
from warmstack.operate.asking import RefusedError, ask, not_seen
from warmstack.operate.preflights import checks
from warmstack.operate.preflights.account import Account
from warmstack.operate.preflights.ranged import RangedObject, TooFarError
from warmstack.operate.preflights.storage import split_s3
from warmstack.operate.results import Result
from warmstack.plan import AdapterPlan, Plan
from warmstack.units import format_bytes

MOST_READ_BYTES = 64 << 20
"""How much of an archive is read in search of its configuration: `warmstack adapter pack` puts it first."""
WHOLE_BYTES = 1 << 20
"""Archives up to this size are read to their end."""
_TRAILER_BYTES = 4
_TAR_BLOCK = 512


def check_adapters(plan: Plan, account: Account) -> Iterator[Result]:
    """Yield what is wrong with each adapter's archive."""
    for served in plan.models:
        if served.adapters:
            target = target_of(plan, served.component)
            for adapter in served.adapters:
                yield _adapter(adapter, target, account)


def _adapter(adapter: AdapterPlan, target: Target, account: Account) -> Result:
    check, subject = checks.ADAPTER, adapter.artifact
    bucket, key = split_s3(subject)
    client = account.service("s3")
    try:
        size = int(ask("s3:GetObject", client.head_object, Bucket=bucket, Key=key)["ContentLength"])
        if size == 0:
            return check.failed(subject, "it is empty")
        contents, partial = _start(subject, size, _reader(client, bucket, key))
        loose = _loose_end(size, _reader(client, bucket, key)) if partial and contents.damage is None else False
    except RefusedError as refused:
        if refused.kind == "missing":
            return check.failed(subject, "there is no such object", fix="upload it: warmstack adapter pack --upload")
        return not_seen(check, subject, refused)
    except TooFarError as far:
        return check.warned(subject, f"its {NAME} was not found: {far}", fix="pack it again: warmstack adapter pack")
    return _judge(adapter, contents, target, partial=partial, loose=loose)


def _judge(adapter: AdapterPlan, contents: Contents, target: Target, *, partial: bool, loose: bool) -> Result:
    check, subject = checks.ADAPTER, adapter.artifact
    # Of an archive that is read in part, what was not reached is not known to be missing.
    problems = [one for one in check_adapter(contents, target) if not (partial and one.id in ("weights", "shards"))]
    found = configuration_of(contents)
    rank = found.largest_rank if found is not None else None
    size = format_bytes(contents.packed_bytes)
    errors = [one for one in problems if one.severity == "error"]
    if errors:
        return check.failed(subject, "; ".join(f"{one.place}: {one.message}" for one in errors[:3]), fix=errors[0].fix)
    if rank is not None and rank > adapter.rank:
        way_out = f"write rank: {rank} for {adapter.name} in the spec"
        return check.failed(subject, f"its rank is {rank}, and the spec says {adapter.rank}", fix=way_out)
    if loose:
        return check.warned(subject, f"{size}; its end is not that of a .tar.gz, so it may be cut off")
    warnings = [one for one in problems if one.severity == "warning"]
    if warnings:
        return check.warned(
            subject, "; ".join(f"{one.place}: {one.message}" for one in warnings[:3]), fix=warnings[0].fix
        )
    note = "" if rank in (None, adapter.rank) else f", and the spec says {adapter.rank}"
    return check.passed(subject, f"{size}; {NAME} at its root, rank {rank}{note}", bytes=contents.packed_bytes)


def _start(label: str, size: int, read_range: Any) -> tuple[Contents, bool]:
    """Return what the first members say, and whether members may follow that were not read."""
    look, entries = Look(), []
    damage, partial = None, False
    try:
        most = min(MOST_BYTES, max(size * MOST_TIMES, 10 * WHOLE_BYTES))
        stream = RangedObject(read_range, size, min(size, MOST_READ_BYTES))
        for entry in read_members(io.BufferedReader(stream), most, look):
            entries.append(entry)
            weights = bool(look.tables) or any(one.name.endswith(PICKLES) for one in entries)
            if NAME in look.texts and weights and size > WHOLE_BYTES:
                partial = True
                break
    except (RefusedError, TooFarError):
        raise
    except (tarfile.TarError, OSError, EOFError, zlib.error, ValueError, OverflowError) as error:
        damage = "it ends too early" if isinstance(error, EOFError) else f"it is no whole .tar.gz: {error}"
    contents = Contents(
        label=label,
        packed=True,
        entries=tuple(entries),
        packed_bytes=size,
        texts=look.texts,
        tables=look.tables,
        damage=damage,
    )
    return contents, partial


def _loose_end(size: int, read_range: Any) -> bool:
    """Return whether an archive does not end as a tar file in gzip does.

    gzip ends with the unpacked size, modulo 2**32 (RFC 1952), and a tar file's size is whole blocks.
    """
    data: bytes = read_range(max(0, size - _TRAILER_BYTES), size)
    return int.from_bytes(data, "little") % _TAR_BLOCK != 0


def _reader(client: Any, bucket: str, key: str) -> Any:
    def read_range(begin: int, end: int) -> bytes:
        answer = ask("s3:GetObject", client.get_object, Bucket=bucket, Key=key, Range=f"bytes={begin}-{end - 1}")
        with answer["Body"] as body:
            data: bytes = ask("s3:GetObject", body.read)
        return data

    return read_range
