"""`warmstack adapter`: an adapter's folder becomes an archive, and is checked before a server sees it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn
from rich.table import Table
from rich.text import Text

from warmstack.adapters import (
    AdapterError,
    Contents,
    Packed,
    Problem,
    Selection,
    Target,
    adapter_name,
    check_adapter,
    configuration_of,
    pack,
    read_archive,
    read_folder,
    select,
    target_of,
)
from warmstack.cli.console import console, print_json
from warmstack.cli.load import Outcome, plan_file
from warmstack.cli.verdict import counted, failed, verdict
from warmstack.spec import printable, render
from warmstack.units import format_bytes

DOCUMENT_VERSION = 1
_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}
# As the spec takes it (spec/fields.py), with the last slash left to this command.
_S3_PART = r"[A-Za-z0-9!_.'()=+@-]+"
_S3_PREFIX = re.compile(rf"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{{1,61}}[a-z0-9])/(?P<prefix>({_S3_PART}/)*({_S3_PART})?)")
_SHA256 = "sha256"
Client = Callable[[], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackOrder:
    """What to pack, and where to put it.

    Args:
        folder: the adapter's folder.
        code: a file of formatters, or None.
        output: the archive's path, or the folder for it.
        upload: the S3 prefix to store it under instead, or None.
        name: the adapter's name, or None for the folder's.
    """

    folder: Path
    code: Path | None
    output: Path
    upload: str | None
    name: str | None


def check(path: Path, spec: Path | None, component: str | None, *, as_json: bool, strict: bool) -> int:
    """Print what is wrong with an adapter. Returns the exit code."""
    try:
        target: Target | None = None
        if spec is not None:
            outcome = plan_file(spec)
            if outcome.plan is None:
                return _unplanned(outcome, as_json=as_json)
            target = target_of(outcome.plan, component)
        elif component is not None:
            raise AdapterError(f"--component is {component!r}; it needs --spec, which says what the component is")
        contents = read_folder(path) if path.is_dir() else read_archive(path)
    except AdapterError as error:
        return _failed(error)
    problems = check_adapter(contents, target)
    if as_json:
        print_json({**_document(contents, problems), "component": target.component if target else None})
    else:
        _show_check(contents, problems, target, strict=strict)
    return int(failed(_severities(problems), strict=strict))


def pack_folder(order: PackOrder, *, as_json: bool, client: Client | None = None) -> int:
    """Check a folder, write its archive, and store it in S3 where that is asked for. Returns the exit code."""
    try:
        return _pack(order, client, as_json=as_json)
    except AdapterError as error:
        return _failed(error)


def _pack(order: PackOrder, client: Client | None, *, as_json: bool) -> int:
    place = None if order.upload is None else _s3_place(order.upload)
    if place is not None and order.output != Path():
        raise AdapterError("--output and --upload are two places; give one of them")
    name = _name(order.folder, order.name)
    selection = select(order.folder, order.code)
    problems = check_adapter(selection.contents)
    document = _document(selection.contents, problems)
    if failed(_severities(problems), strict=False):
        if as_json:
            print_json({**document, "archive": None, "left_out": dict(selection.left_out)})
        else:
            _table(problems)
            print(f"{printable(str(order.folder))}: not packed ({', '.join(counted(_severities(problems)))})")
        return 1
    with contextlib.ExitStack() as stack:
        output = order.output
        if place is not None:
            output = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        size = sum(one.size for one in selection.contents.files.values())
        with _progress("packing", size, quiet=as_json) as advance:
            packed = pack(selection.files, output, name, advance)
        if place is None:
            artifact, state = f"s3://BUCKET/PREFIX/{packed.path.name}", "already there" if packed.existed else "written"
        else:
            artifact, state = _store(packed, *place, client, quiet=as_json)
    archive = {
        "path": str(packed.path) if place is None else artifact,
        "sha256": packed.sha256,
        "bytes": packed.size,
        "state": state,
        "spec": f"- {{name: {name}, artifact: {artifact}, rank: {document['rank']}}}",
    }
    if as_json:
        print_json({**document, "archive": archive, "left_out": dict(selection.left_out)})
    else:
        _show_packed(selection, archive, problems)
    return 0


def _failed(error: AdapterError) -> int:
    print(f"warmstack: {printable(str(error))}", file=sys.stderr)
    return 1


def _unplanned(outcome: Outcome, *, as_json: bool) -> int:
    if as_json:
        messages = json.loads(render(outcome.diagnostics, outcome.lines, "json"))
        print_json({"version": DOCUMENT_VERSION, "diagnostics": messages})
    else:
        sys.stdout.write(render(outcome.diagnostics, outcome.lines))
    return 1


def _name(folder: Path, name: str | None) -> str:
    if name is None:
        return adapter_name(folder.resolve().name)
    if adapter_name(name) != name:
        raise AdapterError(
            f"--name is {name!r}; a spec takes lower-case letters, digits and single hyphens, at most 40"
        )
    return name


def _severities(problems: Sequence[Problem]) -> list[str]:
    return [one.severity for one in problems]


def _document(contents: Contents, problems: Sequence[Problem]) -> dict[str, Any]:
    found = configuration_of(contents)
    return {
        "version": DOCUMENT_VERSION,
        "path": contents.label,
        "rank": found.largest_rank if found else None,
        "base_model": found.base_model if found else None,
        "weights_bytes": contents.weights_bytes,
        "files": {one.name: one.size for one in contents.files.values()},
        "problems": [dataclasses.asdict(one) for one in problems],
    }


def _show_check(contents: Contents, problems: Sequence[Problem], target: Target | None, *, strict: bool) -> None:
    found = configuration_of(contents)
    facts = [f"rank {found.largest_rank}"] if found and found.largest_rank else []
    facts += [f"{format_bytes(contents.weights_bytes)} of weights"] if contents.weights_bytes else []
    facts += [f"trained on {found.base_model}"] if found and found.base_model else []
    if target is not None:
        facts.append(f"for {target.model_id} on {target.server} {target.server_version}")
    if facts:
        print(printable(", ".join(facts)))
    _table(problems)
    print(f"{printable(contents.label)}: {verdict(_severities(problems), strict=strict)}")


def _table(problems: Sequence[Problem]) -> None:
    if not problems:
        return
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("", no_wrap=True)
    for heading, ratio in (("where", 2), ("what", 4), ("way out", 3)):
        table.add_column(heading, overflow="fold", ratio=ratio)
    for one in problems:
        cells = (Text(printable(text)) for text in (one.place, one.message, one.fix))
        table.add_row(Text(one.severity, style=_STYLES[one.severity]), *cells)
    console().print(table)
    sys.stdout.flush()


def _show_packed(selection: Selection, archive: Mapping[str, Any], problems: Sequence[Problem]) -> None:
    print(f"{printable(archive['path'])}: {archive['state']}, {format_bytes(archive['bytes'])}")
    print(f"  sha256 {archive['sha256']}")
    for member in selection.contents.files.values():
        print(f"  {member.name}  {format_bytes(member.size)}")
    if selection.left_out:
        print("left out:")
        for left, why in selection.left_out.items():
            print(f"  {printable(left)}: {printable(why)}")
    _table(problems)
    print(f"in the spec, under the component's adapters:\n  {archive['spec']}")


@contextlib.contextmanager
def _progress(what: str, size: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Show how far a long step is, on a terminal."""
    err = Console(stderr=True)
    columns = (what, BarColumn(), DownloadColumn(binary_units=True), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=quiet or not err.is_terminal) as shown:
        task = shown.add_task(what, total=size)
        yield lambda count: shown.update(task, advance=count)


def _s3_place(upload: str) -> tuple[str, str]:
    match = _S3_PREFIX.fullmatch(upload)
    if match is None:
        raise AdapterError(
            f"--upload is {upload!r}; it must be a bucket and a prefix, such as s3://acme-adapters/legal/"
        )
    prefix = match["prefix"]
    return match["bucket"], prefix if prefix == "" or prefix.endswith("/") else f"{prefix}/"


def _store(packed: Packed, bucket: str, prefix: str, client: Client | None, *, quiet: bool) -> tuple[str, str]:
    """Store an archive where it is not yet. Returns its address, and what became of it."""
    key = f"{prefix}{packed.path.name}"
    address = f"s3://{bucket}/{key}"
    try:
        import boto3
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError as error:
        raise AdapterError("--upload needs boto3: install it with pip install 'warmstack[aws]'") from error
    try:
        s3 = client() if client is not None else boto3.client("s3")
        stored = _stored(s3, bucket, key, ClientError)
        if stored is not None and stored[0] == packed.size and stored[1] == packed.sha256:
            return address, "already there"
        if stored is not None and stored[1] not in (None, packed.sha256):
            raise AdapterError(
                f"{address} holds something else, with sha256 {stored[1]}; delete it, or use another prefix"
            )
        with _progress("uploading", packed.size, quiet=quiet) as advance:
            extra = {"Metadata": {_SHA256: packed.sha256}, "ContentType": "application/gzip"}
            s3.upload_file(str(packed.path), bucket, key, ExtraArgs=extra, Callback=advance)
    except (Boto3Error, BotoCoreError, ClientError) as error:
        raise AdapterError(f"{address} cannot be stored: {' '.join(str(error).split())}") from error
    return address, "uploaded"


def _stored(s3: Any, bucket: str, key: str, client_error: type[Exception]) -> tuple[int, str | None] | None:
    """Return the size and the digest of an object, or None where there is none that can be seen."""
    try:
        head = s3.head_object(Bucket=bucket, Key=key)
    except client_error as error:
        # S3 answers 403 for an absent object where one may not list the bucket; an upload may still be allowed.
        status = getattr(error, "response", {}).get("ResponseMetadata", {}).get("HTTPStatusCode")
        if status in (403, 404):
            return None
        raise
    return head["ContentLength"], head.get("Metadata", {}).get(_SHA256)
