"""Templates of requests: in the request, in S3, or the one that the stack has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from warmstack.assembly.documents import DocumentError, parse_document
from warmstack.local.aws.cloudformation.template_format import check_format
from warmstack.local.aws.errors import RefusedError, StackError, invalid
from warmstack.local.aws.ports import Aws
from warmstack.local.aws.stacks.parameters import read_parameters
from warmstack.local.aws.stacks.records import Desired, Stack

LARGEST_BODY_BYTES = 51_200
"""Larger templates come from S3."""
LARGEST_BYTES = 1 << 20
"""CloudFormation takes templates of up to 1 MB from S3."""


async def read_desired(members: Mapping[str, Any], stack: Stack | None, *, aws: Aws, region: str) -> Desired:
    """Return what a request wants a stack to be.

    Args:
        members: The request.
        stack: The stack that there is, for what the request keeps of it.
        aws: Has S3 and the Parameter Store.
        region: The Region.

    Raises:
        StackError: The template or its parameters cannot be used.
    """
    text = await read_text(members, stack, aws=aws, region=region)
    document = read_template(text)
    section = document.get("Parameters")
    previous = () if stack is None else stack.desired.parameters
    parameters = await read_parameters(
        section if isinstance(section, dict) else {}, members.get("Parameters", []), previous, aws=aws, region=region
    )
    if "Tags" in members or stack is None:
        tags = {str(one["Key"]): str(one.get("Value", "")) for one in members.get("Tags", [])}
    else:
        tags = dict(stack.desired.tags)
    return Desired(text=text, document=document, parameters=parameters, tags=tags)


async def read_text(members: Mapping[str, Any], stack: Stack | None, *, aws: Aws, region: str) -> str:
    """Return the template of a request as it is written.

    Raises:
        StackError: There is none.
    """
    if "TemplateBody" in members:
        return _bounded(str(members["TemplateBody"]))
    if "TemplateURL" in members:
        return await _fetched(str(members["TemplateURL"]), aws, region)
    if members.get("UsePreviousTemplate") and stack is not None:
        return stack.desired.text
    raise invalid("Either Template URL or Template Body must be specified.")


def read_template(text: str) -> Mapping[str, Any]:
    """Return a template's document.

    Raises:
        StackError: It is none, or has what templates do not have.
    """
    try:
        document = parse_document(text)
    except DocumentError as error:
        raise invalid(f"Template format error: the template {error}") from error
    check_format(document)
    return document


def _bounded(text: str) -> str:
    if len(text.encode("utf-8", "surrogatepass")) > LARGEST_BODY_BYTES:
        raise invalid(
            "1 validation error detected: Value at 'templateBody' failed to satisfy constraint: Member must have "
            f"length less than or equal to {LARGEST_BODY_BYTES}"
        )
    return text


async def _fetched(url: str, aws: Aws, region: str) -> str:
    bucket, key = place_of(url)
    try:
        answer = await aws.call("s3", "GetObject", {"Bucket": bucket, "Key": key}, region=region)
    except RefusedError as error:
        raise invalid(f"S3 error: {error.message} (TemplateURL {url})") from error
    data: bytes = answer["Body"].read(LARGEST_BYTES + 1)
    if len(data) > LARGEST_BYTES:
        raise invalid(f"the template at {url} is larger than {LARGEST_BYTES} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise invalid(f"the template at {url} is not UTF-8") from error


def place_of(url: str) -> tuple[str, str]:
    """Return the bucket and the key of an address in S3.

    Raises:
        StackError: It is no such address.
    """
    split = urlsplit(url)
    host, path = (split.hostname or "").lower(), unquote(split.path).lstrip("/")
    if split.scheme == "s3":
        return host, path
    labels = host.split(".")
    # Path style: s3.REGION.amazonaws.com, or this very server; else the bucket is in front of the host.
    if labels[0] == "s3" or labels[0].startswith("s3-") or "s3" not in labels:
        bucket, _, key = path.partition("/")
    else:
        at = next(index for index, label in enumerate(labels) if label == "s3")
        bucket, key = ".".join(labels[:at]), path
    if not bucket or not key:
        raise StackError("ValidationError", f"TemplateURL must be a supported URL; it is {url}")
    return bucket, key
