"""Roles and policies: made, changed in place, and taken back."""

from __future__ import annotations

from typing import Any

from tests.unit.local.aws.running import Running
from tests.unit.local.aws.templates import ROLE, parameter, text

DOCUMENT = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}]}
OTHER = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:PutObject", "Resource": "*"}]}
READ_ONLY = "arn:aws:iam::aws:policy/ReadOnlyAccess"


def role(**properties: Any) -> dict[str, Any]:
    return {**ROLE, "Properties": {**ROLE["Properties"], "RoleName": "mine", **properties}}  # type: ignore[dict-item]


def test_a_role_changes_in_place(aws: Running) -> None:
    iam = aws.client("iam")
    inline = [{"PolicyName": one, "PolicyDocument": DOCUMENT} for one in ("a", "b")]
    tags = [{"Key": "team", "Value": "search"}, {"Key": "old", "Value": "1"}]
    aws.create(text({"Role": role(Policies=inline, ManagedPolicyArns=[READ_ONLY], Tags=tags, Description="first")}))
    assert iam.list_role_policies(RoleName="mine")["PolicyNames"] == ["a", "b"]
    assert iam.list_attached_role_policies(RoleName="mine")["AttachedPolicies"][0]["PolicyArn"] == READ_ONLY
    aws.update(text({"Role": role(Policies=inline[1:], Tags=tags[:1], Description="second", MaxSessionDuration=7200)}))
    assert iam.list_role_policies(RoleName="mine")["PolicyNames"] == ["b"]
    assert iam.list_attached_role_policies(RoleName="mine")["AttachedPolicies"] == []
    found = iam.get_role(RoleName="mine")["Role"]
    assert (found["Description"], found["MaxSessionDuration"]) == ("second", 7200)
    assert iam.list_role_tags(RoleName="mine")["Tags"] == tags[:1]


def test_policies_on_roles(aws: Running) -> None:
    iam = aws.client("iam")

    def template(document: dict[str, Any], *roles: str) -> str:
        named = [{"Ref": one} for one in roles]
        return text(
            {
                "One": role(),
                "Two": role(RoleName="yours"),
                "Inline": {
                    "Type": "AWS::IAM::Policy",
                    "Properties": {"PolicyName": "inline", "PolicyDocument": document, "Roles": named},
                },
                "Single": {
                    "Type": "AWS::IAM::RolePolicy",
                    "Properties": {"PolicyName": "single", "PolicyDocument": document, "RoleName": {"Ref": "One"}},
                },
                "Managed": {
                    "Type": "AWS::IAM::ManagedPolicy",
                    "Properties": {"ManagedPolicyName": "managed", "PolicyDocument": document, "Roles": named},
                },
            }
        )

    assert aws.create(template(DOCUMENT, "One"))["StackStatus"] == "CREATE_COMPLETE", aws.failed()
    assert sorted(iam.list_role_policies(RoleName="mine")["PolicyNames"]) == ["StartModels", "inline", "single"]
    for document in (OTHER, DOCUMENT):
        assert aws.update(template(document, "Two"))["StackStatus"] == "UPDATE_COMPLETE", aws.failed()
        assert sorted(iam.list_role_policies(RoleName="mine")["PolicyNames"]) == ["StartModels", "single"]
        assert iam.get_role_policy(RoleName="yours", PolicyName="inline")["PolicyDocument"] == document
        (attached,) = iam.list_attached_role_policies(RoleName="yours")["AttachedPolicies"]
        versions = iam.list_policy_versions(PolicyArn=attached["PolicyArn"])["Versions"]
        assert len(versions) == 2
        assert iam.list_attached_role_policies(RoleName="mine")["AttachedPolicies"] == []
    assert aws.delete()["StackStatus"] == "DELETE_COMPLETE"
    assert iam.list_roles()["Roles"] == []
    assert iam.list_policies(Scope="Local")["Policies"] == []


def test_a_policy_is_renamed_in_place(aws: Running) -> None:
    iam = aws.client("iam")

    def template(name: str, *roles: str, **more: Any) -> str:
        properties = {"PolicyName": name, "PolicyDocument": DOCUMENT, "Roles": [{"Ref": one} for one in roles]}
        return text({"One": role(), "Two": role(RoleName="yours"),
                     "Inline": {"Type": "AWS::IAM::Policy", "Properties": properties}, **more})  # fmt: skip

    def inside(name: str) -> list[str]:
        return sorted(iam.list_role_policies(RoleName=name)["PolicyNames"])

    aws.create(template("a", "One", "Two"))
    physical = aws.resources()["Inline"]["PhysicalResourceId"]
    assert aws.update(template("b", "One"))["StackStatus"] == "UPDATE_COMPLETE", aws.failed()
    assert (inside("mine"), inside("yours")) == (["StartModels", "b"], ["StartModels"])
    assert aws.resources()["Inline"]["PhysicalResourceId"] == physical
    wrong = {**parameter("x", Type="Wrong"), "DependsOn": "Inline"}
    assert aws.update(template("c", "One", "Two", Bad=wrong))["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert (inside("mine"), inside("yours")) == (["StartModels", "b"], ["StartModels"])


def test_a_policy_that_one_role_refuses_is_taken_out_of_the_others(aws: Running) -> None:
    iam = aws.client("iam")
    properties = {"PolicyName": "half", "PolicyDocument": DOCUMENT, "Roles": [{"Ref": "Role"}, "absent"]}
    aws.create(text({"Role": role()}))
    half = text({"Role": role(), "Half": {"Type": "AWS::IAM::Policy", "Properties": properties}})
    assert aws.update(half)["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert "absent" in aws.failed()["Half CREATE_FAILED"]
    assert iam.list_role_policies(RoleName="mine")["PolicyNames"] == ["StartModels"]


def test_a_boundary_is_set_changed_and_taken_away(aws: Running) -> None:
    iam = aws.client("iam")

    def boundary() -> Any:
        return iam.get_role(RoleName="mine")["Role"].get("PermissionsBoundary", {}).get("PermissionsBoundaryArn")

    aws.create(text({"Role": role(PermissionsBoundary=READ_ONLY)}))
    assert boundary() == READ_ONLY
    for wanted in ("arn:aws:iam::aws:policy/AdministratorAccess", None, READ_ONLY):
        given = {} if wanted is None else {"PermissionsBoundary": wanted}
        assert aws.update(text({"Role": role(**given)}))["StackStatus"] == "UPDATE_COMPLETE", aws.failed()
        assert boundary() == wanted


def test_policies_of_users_are_refused(aws: Running) -> None:
    users = {"Type": "AWS::IAM::Policy",
             "Properties": {"PolicyName": "p", "PolicyDocument": DOCUMENT, "Users": ["me"]}}  # fmt: skip
    aws.create(text({"One": users}))
    assert "policies of Roles only" in aws.failed()["One CREATE_FAILED"]
