"""Buckets and prefixes: where they are, what lies in them, and small files read from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from warmstack.operate.asking import RefusedError, ask, ask_pages, not_seen, reading
from warmstack.operate.preflights import checks
from warmstack.operate.preflights.account import Account
from warmstack.operate.results import Check, Result
from warmstack.plan import Plan

MOST_ENTRIES = 20_000
LARGEST_TEXT_BYTES = 20_000_000
_REGION_HEADER = "x-amz-bucket-region"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """What lies directly under a prefix, as in a folder.

    Args:
        bucket: The bucket.
        prefix: The prefix, with a slash at its end or empty.
        files: Bytes by the name below the prefix.
        folders: The names of the folders in it, with a slash at their ends.
        whole: Whether these are all of them.
    """

    bucket: str
    prefix: str
    files: Mapping[str, int]
    folders: tuple[str, ...]
    whole: bool

    def not_listed(self, check: Check, what: str) -> Result:
        """Return that a check cannot be made, because not everything was listed.

        Args:
            check: The check.
            what: What is not known for that reason.
        """
        uri = f"s3://{self.bucket}/{self.prefix}"
        return check.unseen(
            uri,
            f"the first {MOST_ENTRIES:,} entries were listed, and there are more: {what}",
            fix=f"keep other files under another prefix, or look: aws s3 ls {uri}",
        )


def split_s3(uri: str) -> tuple[str, str]:
    """Return the bucket and the key of ``s3://bucket/key``."""
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return bucket, key


def list_prefix(account: Account, uri: str) -> Prefix:
    """Return what lies directly under a prefix: folders in it may hold any number of checkpoints.

    Args:
        account: The account.
        uri: The prefix, with a slash at its end.

    Raises:
        RefusedError: It could not be listed.
    """
    bucket, prefix = split_s3(uri)
    client, action = account.service("s3"), "s3:ListBucket"
    files: dict[str, int] = {}
    folders: list[str] = []
    whole = True
    for page in ask_pages(action, client, "list_objects_v2", Bucket=bucket, Prefix=prefix, Delimiter="/"):
        if len(files) + len(folders) >= MOST_ENTRIES:
            whole = False
            break
        with reading(action):
            _ = page["Name"]  # that of the bucket, which S3 always tells
            files |= {one["Key"].removeprefix(prefix): int(one["Size"]) for one in page.get("Contents") or ()}
            folders += [one["Prefix"].removeprefix(prefix) for one in page.get("CommonPrefixes") or ()]
    # A "folder" that the console made is an object of its own, without a name below the prefix.
    files.pop("", None)
    return Prefix(bucket=bucket, prefix=prefix, files=files, folders=tuple(folders), whole=whole)


def read_text(account: Account, place: Prefix, name: str) -> bytes:
    """Return a small file of a prefix.

    Args:
        account: The account.
        place: The prefix.
        name: The file's name, which was listed.

    Raises:
        RefusedError: It could not be read.
    """
    if not place.files[name]:
        # Guard: of an object without bytes S3 refuses every range.
        return b""
    key = place.prefix + name
    answer = ask(
        "s3:GetObject",
        account.service("s3").get_object,
        Bucket=place.bucket,
        Key=key,
        Range=f"bytes=0-{LARGEST_TEXT_BYTES - 1}",
    )
    with answer["Body"] as body:
        data: bytes = ask("s3:GetObject", body.read)
    return data


def check_buckets(plan: Plan, account: Account) -> Iterator[Result]:
    """Yield whether each bucket is there, and in the target's Region."""
    uris = [one.weights_s3 for one in plan.models if one.weights_s3 is not None]
    uris += [one.artifact for served in plan.models for one in served.adapters]
    for bucket in sorted({split_s3(one)[0] for one in uris}):
        yield _bucket(bucket, account)


def _bucket(bucket: str, account: Account) -> Result:
    check = checks.BUCKET
    try:
        answer = ask("s3:ListBucket", account.service("s3").head_bucket, Bucket=bucket)
        region = answer.get("BucketRegion") or answer["ResponseMetadata"]["HTTPHeaders"].get(_REGION_HEADER)
    except RefusedError as refused:
        if refused.kind == "missing":
            way_out = "create it in the target's Region, or correct s3"
            if account.local is not None:
                way_out = f"with the variables of `warmstack local aws env`: aws s3 mb s3://{bucket}, and upload"
            return check.failed(bucket, "there is no such bucket", fix=way_out)
        # S3 tells where a bucket is even to those who may not see into it.
        region = refused.headers.get(_REGION_HEADER)
        if region is None or region == account.region:
            return not_seen(check, bucket, refused)
    if region is None:
        return check.unseen(bucket, "S3 did not tell its Region", fix=f"look whether it is in {account.region}")
    if region != account.region:
        return check.failed(bucket, f"it is in {region}, and the endpoint will be in {account.region}")
    return check.passed(bucket, f"it is in {region}")
