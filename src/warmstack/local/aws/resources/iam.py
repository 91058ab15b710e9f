"""Roles and policies: kept by the local IAM, which checks none of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from warmstack.local.aws.errors import RefusedError, ResourceError
from warmstack.local.aws.resources.handler import Existing, Made, Order

DEFAULT_SESSION_SECONDS = 3600
_GONE = frozenset({"NoSuchEntity"})


class Role:
    """``AWS::IAM::Role``."""

    replaces = frozenset({"Path", "RoleName"})
    name_property = "RoleName"
    attributes = frozenset({"Arn", "RoleId"})

    async def create(self, order: Order) -> Made:
        """Make the role with its policies."""
        properties = order.properties
        name = order.name("RoleName", longest=64)
        answer = await _iam(
            order,
            "CreateRole",
            RoleName=name,
            AssumeRolePolicyDocument=_document(properties.get("AssumeRolePolicyDocument")),
            Description=properties.get("Description"),
            Path=properties.get("Path"),
            PermissionsBoundary=properties.get("PermissionsBoundary"),
            MaxSessionDuration=_number(properties.get("MaxSessionDuration")),
            Tags=properties.get("Tags"),
        )
        role = answer["Role"]
        made = Made(physical_id=name, attributes={"Arn": role["Arn"], "RoleId": role["RoleId"]})
        order.began(made)
        await self._fill(order, name, {})
        return made

    async def update(self, order: Order, before: Existing) -> Made:
        """Change its trust, its boundary, its policies, its description and its tags."""
        name = before.physical_id
        properties = order.properties
        document = _document(properties.get("AssumeRolePolicyDocument"))
        await _iam(order, "UpdateAssumeRolePolicy", RoleName=name, PolicyDocument=document)
        await _iam(
            order,
            "UpdateRole",
            RoleName=name,
            Description=properties.get("Description", ""),
            # Guard: a role whose duration is left out keeps the one that it has.
            MaxSessionDuration=int(properties.get("MaxSessionDuration", DEFAULT_SESSION_SECONDS)),
        )
        boundary = properties.get("PermissionsBoundary")
        if boundary is not None:
            await _iam(order, "PutRolePermissionsBoundary", RoleName=name, PermissionsBoundary=boundary)
        elif "PermissionsBoundary" in before.properties:
            await _iam(order, "DeleteRolePermissionsBoundary", RoleName=name)
        await self._fill(order, name, before.properties)
        await _tag(order, "Role", name, before.properties)
        return Made(physical_id=name, attributes=before.attributes)

    async def delete(self, order: Order, existing: Existing) -> None:
        """Remove the role with everything that is on it."""
        name = existing.physical_id
        try:
            inline = await _iam(order, "ListRolePolicies", RoleName=name)
            for policy in inline.get("PolicyNames", []):
                await _iam(order, "DeleteRolePolicy", RoleName=name, PolicyName=policy)
            attached = await _iam(order, "ListAttachedRolePolicies", RoleName=name)
            for policy in attached.get("AttachedPolicies", []):
                await _iam(order, "DetachRolePolicy", RoleName=name, PolicyArn=policy["PolicyArn"])
            await _iam(order, "DeleteRole", RoleName=name)
        except RefusedError as error:
            _unless_gone(error)

    async def _fill(self, order: Order, name: str, before: Mapping[str, Any]) -> None:
        inline = {one["PolicyName"]: one["PolicyDocument"] for one in order.properties.get("Policies", [])}
        for one in before.get("Policies", []):
            if one["PolicyName"] not in inline:
                await _iam(order, "DeleteRolePolicy", RoleName=name, PolicyName=one["PolicyName"])
        for policy, document in inline.items():
            await _iam(order, "PutRolePolicy", RoleName=name, PolicyName=policy, PolicyDocument=_document(document))
        managed = order.properties.get("ManagedPolicyArns", [])
        for arn in set(before.get("ManagedPolicyArns", [])) - set(managed):
            await _iam(order, "DetachRolePolicy", RoleName=name, PolicyArn=arn)
        for arn in managed:
            await _iam(order, "AttachRolePolicy", RoleName=name, PolicyArn=arn)


class RolePolicy:
    """``AWS::IAM::RolePolicy``: a policy inside one role."""

    replaces = frozenset({"PolicyName", "RoleName"})
    name_property = None
    attributes: frozenset[str] = frozenset()

    async def create(self, order: Order) -> Made:
        """Put it into its role."""
        role, name = str(order.properties["RoleName"]), str(order.properties["PolicyName"])
        document = _document(order.properties.get("PolicyDocument"))
        await _iam(order, "PutRolePolicy", RoleName=role, PolicyName=name, PolicyDocument=document)
        return Made(physical_id=f"{name}|{role}")

    async def update(self, order: Order, before: Existing) -> Made:  # noqa: ARG002  (the form of every handler)
        """Put it into its role again."""
        return await self.create(order)

    async def delete(self, order: Order, existing: Existing) -> None:
        """Take it out of its role."""
        name, _, role = existing.physical_id.partition("|")
        try:
            await _iam(order, "DeleteRolePolicy", RoleName=role, PolicyName=name)
        except RefusedError as error:
            _unless_gone(error)


class Policy:
    """``AWS::IAM::Policy``: one policy inside several roles."""

    replaces: frozenset[str] = frozenset()
    name_property = None
    attributes = frozenset({"Id"})

    async def create(self, order: Order) -> Made:
        """Put it into each of its roles."""
        _only_roles(order)
        name = str(order.properties["PolicyName"])
        document = _document(order.properties.get("PolicyDocument"))
        physical = f"{order.stack[:4]}-{order.logical_id[:4]}-{order.around.suffix()}"
        made = Made(physical_id=physical, attributes={"Id": physical})
        # A role that refuses it leaves it inside the ones before.
        order.began(made)
        for role in order.properties.get("Roles", []):
            await _iam(order, "PutRolePolicy", RoleName=role, PolicyName=name, PolicyDocument=document)
        return made

    async def update(self, order: Order, before: Existing) -> Made:
        """Put it into each of its roles, and out of those that are no longer its own; under its name of now only."""
        made = await self.create(order)
        is_named_alike = str(before.properties["PolicyName"]) == str(order.properties["PolicyName"])
        await self._take_out(order, before, keep=order.properties.get("Roles", []) if is_named_alike else [])
        return Made(physical_id=before.physical_id, attributes=before.attributes or made.attributes)

    async def delete(self, order: Order, existing: Existing) -> None:
        """Take it out of each of its roles."""
        await self._take_out(order, existing, keep=[])

    async def _take_out(self, order: Order, existing: Existing, *, keep: Sequence[str]) -> None:
        for role in existing.properties.get("Roles", []):
            if role in keep:
                continue
            try:
                await _iam(order, "DeleteRolePolicy", RoleName=role, PolicyName=existing.properties["PolicyName"])
            except RefusedError as error:
                _unless_gone(error)


class ManagedPolicy:
    """``AWS::IAM::ManagedPolicy``: a policy of its own, which roles refer to."""

    replaces = frozenset({"Description", "ManagedPolicyName", "Path"})
    name_property = "ManagedPolicyName"
    attributes = frozenset({"PolicyArn", "PolicyId"})

    async def create(self, order: Order) -> Made:
        """Make it, and attach it to the roles that it names."""
        _only_roles(order)
        properties = order.properties
        answer = await _iam(
            order,
            "CreatePolicy",
            PolicyName=order.name("ManagedPolicyName", longest=128),
            PolicyDocument=_document(properties.get("PolicyDocument")),
            Description=properties.get("Description"),
            Path=properties.get("Path"),
        )
        policy = answer["Policy"]
        arn = policy["Arn"]
        made = Made(physical_id=arn, attributes={"PolicyArn": arn, "PolicyId": policy["PolicyId"]})
        order.began(made)
        for role in properties.get("Roles", []):
            await _iam(order, "AttachRolePolicy", RoleName=role, PolicyArn=arn)
        return made

    async def update(self, order: Order, before: Existing) -> Made:
        """Make a new version of it the default."""
        arn = before.physical_id
        versions = await _iam(order, "ListPolicyVersions", PolicyArn=arn)
        for version in versions.get("Versions", []):
            if not version["IsDefaultVersion"]:
                await _iam(order, "DeletePolicyVersion", PolicyArn=arn, VersionId=version["VersionId"])
        document = _document(order.properties.get("PolicyDocument"))
        await _iam(order, "CreatePolicyVersion", PolicyArn=arn, PolicyDocument=document, SetAsDefault=True)
        now, then = (frozenset(one.get("Roles", [])) for one in (order.properties, before.properties))
        for role in sorted(then - now):
            await _iam(order, "DetachRolePolicy", RoleName=role, PolicyArn=arn)
        for role in sorted(now - then):
            await _iam(order, "AttachRolePolicy", RoleName=role, PolicyArn=arn)
        return Made(physical_id=arn, attributes=before.attributes)

    async def delete(self, order: Order, existing: Existing) -> None:
        """Detach and remove it."""
        arn = existing.physical_id
        try:
            entities = await _iam(order, "ListEntitiesForPolicy", PolicyArn=arn)
            for role in entities.get("PolicyRoles", []):
                await _iam(order, "DetachRolePolicy", RoleName=role["RoleName"], PolicyArn=arn)
            versions = await _iam(order, "ListPolicyVersions", PolicyArn=arn)
            for version in versions.get("Versions", []):
                if not version["IsDefaultVersion"]:
                    await _iam(order, "DeletePolicyVersion", PolicyArn=arn, VersionId=version["VersionId"])
            await _iam(order, "DeletePolicy", PolicyArn=arn)
        except RefusedError as error:
            _unless_gone(error)


async def _iam(order: Order, operation: str, **members: Any) -> Mapping[str, Any]:
    return await order.aws("iam", operation, members)


async def _tag(order: Order, what: str, name: str, before: Mapping[str, Any]) -> None:
    now, then = (
        {one["Key"]: one["Value"] for one in properties.get("Tags", [])} for properties in (order.properties, before)
    )
    key = {f"{what}Name": name}
    if gone := sorted(then.keys() - now.keys()):
        await _iam(order, f"Untag{what}", **key, TagKeys=gone)
    if now:
        tags = [{"Key": one, "Value": value} for one, value in now.items()]
        await _iam(order, f"Tag{what}", **key, Tags=tags)


def _only_roles(order: Order) -> None:
    others = [one for one in ("Groups", "Users") if order.properties.get(one)]
    if others:
        raise ResourceError(f"{order.kind} has {' and '.join(others)}; the local AWS knows policies of Roles only")


def _document(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _number(value: Any) -> int | None:
    return None if value is None else int(value)


def _unless_gone(error: RefusedError) -> None:
    if error.code not in _GONE:
        raise error
