"""Buckets, repositories and parameters, in the local S3, ECR and Parameter Store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from warmstack.assembly.identities import partition_of
from warmstack.assembly.unresolved import as_text
from warmstack.local.aws.errors import RefusedError, ResourceError
from warmstack.local.aws.resources.handler import Existing, Made, Order


class Bucket:
    """``AWS::S3::Bucket``. Versioning, encryption and the public access block are set; the rest is recorded."""

    replaces = frozenset({"BucketName", "BucketNamePrefix", "BucketNamespace"})
    name_property = "BucketName"
    attributes = frozenset({"Arn", "DomainName", "DualStackDomainName", "RegionalDomainName", "WebsiteURL"})

    async def create(self, order: Order) -> Made:
        """Make the bucket.

        Raises:
            ResourceError: There is one of that name.
        """
        name = order.name("BucketName", is_lower=True)
        # Guard: in us-east-1 S3 answers its owner that a bucket which is there was made; a rollback would delete it.
        if await _has_bucket(order, name):
            raise ResourceError(f"{name} already exists")
        # us-east-1 is no location constraint.
        place = None if order.region == "us-east-1" else {"LocationConstraint": order.region}
        await order.aws("s3", "CreateBucket", {"Bucket": name, "CreateBucketConfiguration": place})
        partition, suffix = partition_of(order.region)
        made = Made(
            physical_id=name,
            attributes={
                "Arn": f"arn:{partition}:s3:::{name}",
                "DomainName": f"{name}.s3.{suffix}",
                "DualStackDomainName": f"{name}.s3.dualstack.{order.region}.{suffix}",
                "RegionalDomainName": f"{name}.s3.{order.region}.{suffix}",
                "WebsiteURL": f"http://{name}.s3-website-{order.region}.{suffix}",
            },
        )
        order.began(made)
        await self._fill(order, name, {})
        return made

    async def update(self, order: Order, before: Existing) -> Made:
        """Set what can be changed, and take back what it no longer says."""
        await self._fill(order, before.physical_id, before.properties)
        return Made(physical_id=before.physical_id, attributes=before.attributes)

    async def delete(self, order: Order, existing: Existing) -> None:
        """Remove it; one that holds objects stays, as on AWS."""
        await _unless_gone(order, "s3", "DeleteBucket", {"Bucket": existing.physical_id}, "NoSuchBucket")

    async def _fill(self, order: Order, name: str, before: Mapping[str, Any]) -> None:
        properties = order.properties
        versioning = properties.get("VersioningConfiguration")
        if versioning is None and "VersioningConfiguration" in before:
            # A bucket that has had versions cannot be one that never had them.
            versioning = {"Status": "Suspended"}
        if versioning is not None:
            members = {"Bucket": name, "VersioningConfiguration": {"Status": versioning["Status"]}}
            await order.aws("s3", "PutBucketVersioning", members)
        encryption = properties.get("BucketEncryption")
        if encryption is not None:
            rules = [
                {"ApplyServerSideEncryptionByDefault": _encryption(one["ServerSideEncryptionByDefault"])}
                for one in encryption.get("ServerSideEncryptionConfiguration", [])
                if "ServerSideEncryptionByDefault" in one
            ]
            members = {"Bucket": name, "ServerSideEncryptionConfiguration": {"Rules": rules}}
            await order.aws("s3", "PutBucketEncryption", members)
        elif "BucketEncryption" in before:
            await order.aws("s3", "DeleteBucketEncryption", {"Bucket": name})
        block = properties.get("PublicAccessBlockConfiguration")
        if block is not None:
            flags = {key: _flag(value) for key, value in block.items()}
            await order.aws("s3", "PutPublicAccessBlock", {"Bucket": name, "PublicAccessBlockConfiguration": flags})
        elif "PublicAccessBlockConfiguration" in before:
            await order.aws("s3", "DeletePublicAccessBlock", {"Bucket": name})


class Repository:
    """``AWS::ECR::Repository``. Policies are recorded only."""

    replaces = frozenset({"EncryptionConfiguration", "RepositoryName"})
    name_property = "RepositoryName"
    attributes = frozenset({"Arn", "RepositoryUri"})

    async def create(self, order: Order) -> Made:
        """Make the repository."""
        answer = await order.aws(
            "ecr",
            "CreateRepository",
            {
                "repositoryName": order.name("RepositoryName", longest=256, is_lower=True),
                "imageTagMutability": order.properties.get("ImageTagMutability"),
            },
        )
        found = answer["repository"]
        return Made(
            physical_id=found["repositoryName"],
            attributes={"Arn": found["repositoryArn"], "RepositoryUri": found["repositoryUri"]},
        )

    async def update(self, order: Order, before: Existing) -> Made:
        """Set whether tags can be moved."""
        mutability = order.properties.get("ImageTagMutability", "MUTABLE")
        members = {"repositoryName": before.physical_id, "imageTagMutability": mutability}
        await order.aws("ecr", "PutImageTagMutability", members)
        return Made(physical_id=before.physical_id, attributes=before.attributes)

    async def delete(self, order: Order, existing: Existing) -> None:
        """Remove it; one that holds images stays, unless it says EmptyOnDelete."""
        force = _flag(existing.properties.get("EmptyOnDelete", False))
        members = {"repositoryName": existing.physical_id, "force": force}
        await _unless_gone(order, "ecr", "DeleteRepository", members, "RepositoryNotFoundException")


class Parameter:
    """``AWS::SSM::Parameter``."""

    replaces = frozenset({"Name"})
    name_property = "Name"
    attributes = frozenset({"Type", "Value"})

    async def create(self, order: Order) -> Made:
        """Write the parameter."""
        return await self._put(order, order.name("Name", longest=512), None)

    async def update(self, order: Order, before: Existing) -> Made:
        """Write it again, and set its tags."""
        made = await self._put(order, before.physical_id, before.properties)
        now, then = _tags(order.properties), _tags(before.properties)
        members = {"ResourceType": "Parameter", "ResourceId": before.physical_id}
        if gone := sorted(then.keys() - now.keys()):
            await order.aws("ssm", "RemoveTagsFromResource", {**members, "TagKeys": gone})
        if now and now != then:
            await order.aws("ssm", "AddTagsToResource", {**members, "Tags": _tag_list(now)})
        return made

    async def delete(self, order: Order, existing: Existing) -> None:
        """Remove it."""
        await _unless_gone(order, "ssm", "DeleteParameter", {"Name": existing.physical_id}, "ParameterNotFound")

    async def _put(self, order: Order, name: str, before: Mapping[str, Any] | None) -> Made:
        properties, is_new = order.properties, before is None
        kind, tags = properties["Type"], _tags(properties)
        if kind not in _TYPES:
            # Guard: what overwrites a parameter is not refused for it by moto.
            raise ResourceError(f"Type is {kind!r}; CloudFormation makes parameters of {' and '.join(_TYPES)}")
        # What it no longer says is taken back: the Parameter Store keeps what is left out.
        taken_back = {key: value for key, value in _WITHOUT.items() if key in (before or {})}
        given = {key: str(properties[key]) for key in _WITHOUT if key in properties}
        await order.aws(
            "ssm",
            "PutParameter",
            {
                "Name": name,
                "Value": str(properties["Value"]),
                "Type": kind,
                **taken_back,
                **given,
                # What overwrites a parameter cannot have tags.
                "Tags": _tag_list(tags) if tags and is_new else None,
                "Overwrite": not is_new,
            },
        )
        return Made(physical_id=name, attributes={"Type": kind, "Value": properties["Value"]})


_TYPES = ("String", "StringList")
_WITHOUT = {"AllowedPattern": "", "DataType": "text", "Description": "", "Policies": "[{}]", "Tier": "Standard"}
"""What a parameter has of that which it may do without. Source: the Parameter Store's "PutParameter" (read
2026-11-30)."""


def _tags(properties: Mapping[str, Any]) -> dict[str, str]:
    return {key: as_text(value) or "" for key, value in (properties.get("Tags") or {}).items()}


def _tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


async def _has_bucket(order: Order, name: str) -> bool:
    try:
        await order.aws("s3", "HeadBucket", {"Bucket": name})
    except RefusedError as error:
        # What is answered without a body has its status for a code.
        return error.code != "404"
    return True


async def _unless_gone(order: Order, service: str, operation: str, members: Mapping[str, Any], gone: str) -> None:
    try:
        await order.aws(service, operation, members)
    except RefusedError as error:
        if error.code != gone:
            raise


def _encryption(rule: Mapping[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps({key: value for key, value in rule.items() if value != ""}))  # type: ignore[no-any-return]


def _flag(value: Any) -> bool:
    return value if isinstance(value, bool) else str(value).lower() == "true"
