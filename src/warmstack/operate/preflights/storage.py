"""Buckets and prefixes: where they are, what lies in them, and small files read from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from warmstack.operate.asking import RefusedError, ask, ask_pages, not_seen, reading
from warmstack.operate.preflights import checks
from warmstack.operate.preflights.account import Account
from warmstack.operate.results import Result
from warmstack.plan import Plan

MOST_OBJECTS = 20_000
LARGEST_TEXT_BYTES = 20_000_000
_REGION_HEADER = "x-amz-bucket-region"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """What lies under a prefix.

    Args:
        bucket: The bucket.
        prefix: The prefix, with a slash at its end or empty.
        sizes: Bytes by the name below the prefix.
        whole: Whether these are all of them.
    """

    bucket: str
    prefix: str
    sizes: Mapping[str, int]
    whole: bool

    @property
    def root(self) -> dict[str, int]:
        """The files directly below the prefix."""
        return {name: size for name, size in self.sizes.items() if "/" not in name}

    def folder(self, name: str) -> Prefix:
        """Return what lies in a folder of it."""
        start = f"{name.strip('/')}/"
        inside = {key.removeprefix(start): size for key, size in self.sizes.items() if key.startswith(start)}
        return Prefix(bucket=self.bucket, prefix=self.prefix + start, sizes=inside, whole=self.whole)


def split_s3(uri: str) -> tuple[str, str]:
    """Return the bucket and the key of ``s3://bucket/key``."""
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return bucket, key


def list_prefix(account: Account, uri: str) -> Prefix:
    """Return what lies under a prefix.

    Args:
        account: The account.
        uri: The prefix.

    Raises:
        RefusedError: It could not be listed.
    """
    bucket, prefix = split_s3(uri)
    found: list[tuple[str, int]] = []
    action = "s3:ListBucket"
    for page in ask_pages(action, account.service("s3"), "list_objects_v2", Bucket=bucket, Prefix=prefix):
        with reading(action):
            _ = page["Name"]  # that of the bucket, which S3 always tells
            found += [(one["Key"].removeprefix(prefix), int(one["Size"])) for one in page.get("Contents") or ()]
        if len(found) > MOST_OBJECTS:
            break
    sizes = dict(found[:MOST_OBJECTS])
    # A "folder" that the console made is an object of its own, without a name below the prefix.
    named = {name: size for name, size in sizes.items() if name and not name.endswith("/")}
    return Prefix(bucket=bucket, prefix=prefix, sizes=named, whole=len(found) <= MOST_OBJECTS)


def read_text(account: Account, place: Prefix, name: str) -> bytes:
    """Return a small file of a prefix.

    Raises:
        RefusedError: It could not be read.
    """
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
