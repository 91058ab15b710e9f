"""Change sets and what only looks, by a real boto3."""

from __future__ import annotations

import json
import re

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.aws.running import CAPABILITIES, Running
from tests.unit.local.aws.templates import ROLE, components, parameter, text, variant_text

STRATEGY = "LEAST_OUTSTANDING_REQUESTS"


def change_set(
    aws: Running, template: str, kind: str = "UPDATE", name: str = "set", **more: object
) -> dict[str, object]:
    aws.cloudformation.create_change_set(
        StackName="demo",
        ChangeSetName=name,
        ChangeSetType=kind,
        TemplateBody=template,
        Capabilities=CAPABILITIES,
        **more,
    )
    return dict(aws.cloudformation.describe_change_set(StackName="demo", ChangeSetName=name))


def changes(found: dict[str, object]) -> list[tuple[str, str, str | None]]:
    listed = [one["ResourceChange"] for one in found["Changes"]]  # type: ignore[attr-defined]
    return [(one["Action"], one["LogicalResourceId"], one.get("Replacement")) for one in listed]


def execute(aws: Running, **more: object) -> dict[str, object]:
    aws.cloudformation.execute_change_set(StackName="demo", ChangeSetName="set", **more)
    return aws.settled()


def test_a_stack_is_reviewed_before_it_is_created(aws: Running) -> None:
    found = change_set(aws, variant_text(), "CREATE")
    assert found["Status"] == "CREATE_COMPLETE"
    assert found["ExecutionStatus"] == "AVAILABLE"
    assert [one for one, *_ in changes(found)] == ["Add"] * 4
    assert aws.stack()["StackStatus"] == "REVIEW_IN_PROGRESS"
    assert aws.sagemaker.things == {}
    assert execute(aws)["StackStatus"] == "CREATE_COMPLETE"
    assert aws.cloudformation.list_change_sets(StackName="demo")["Summaries"] == []


def test_a_change_set_says_what_is_replaced_and_what_follows_from_it(aws: Running) -> None:
    aws.create(variant_text())
    found = change_set(aws, variant_text(strategy=STRATEGY))
    assert changes(found) == [("Modify", "Config", "True"), ("Modify", "Endpoint", "False")]
    described = aws.cloudformation.describe_change_set(
        StackName="demo", ChangeSetName="set", IncludePropertyValues=True
    )
    config, endpoint = (one["ResourceChange"] for one in described["Changes"])
    (detail,) = config["Details"]
    assert detail["Target"]["RequiresRecreation"] == "Always"
    assert STRATEGY in detail["Target"]["AfterValue"]
    assert config["PolicyAction"] == "ReplaceAndDelete"
    (detail,) = endpoint["Details"]
    assert detail["Evaluation"] == "Dynamic"
    assert detail["Target"]["AfterValue"] == "{{changeSet:KNOWN_AFTER_APPLY}}"
    assert json.loads(endpoint["BeforeContext"])["Properties"]["EndpointName"] == "demo"
    assert execute(aws)["StackStatus"] == "UPDATE_COMPLETE"


def test_a_model_that_is_replaced_may_replace_the_configuration(aws: Running) -> None:
    aws.create(variant_text())
    found = change_set(aws, variant_text(image="image:2"))
    assert changes(found) == [
        ("Modify", "Model", "True"),
        ("Modify", "Config", "Conditional"),
        ("Modify", "Endpoint", "False"),
    ]


def test_what_goes_away_is_said(aws: Running) -> None:
    aws.create(components(adapters=("legal",)))
    found = change_set(aws, components())
    assert changes(found) == [("Remove", "Adapterlegal", None)]


def test_a_change_set_without_changes_fails_in_the_words_that_the_cli_knows(aws: Running) -> None:
    aws.create(variant_text())
    found = change_set(aws, variant_text())
    assert found["Status"] == "FAILED"
    assert str(found["StatusReason"]).startswith("The submitted information didn't contain changes.")
    with pytest.raises(ClientError, match=r"cannot be executed in its current status of \[FAILED\]"):
        execute(aws)


def test_outputs_and_tags_alone_are_changes(aws: Running) -> None:
    aws.create(text({"One": parameter("1")}))
    found = change_set(aws, text({"One": parameter("1")}, Outputs={"Two": {"Value": "2"}}))
    assert (found["Status"], changes(found)) == ("CREATE_COMPLETE", [])
    execute(aws)
    assert aws.outputs() == {"Two": "2"}
    tags = [{"Key": "team", "Value": "search"}]
    template = text({"One": parameter("1")}, Outputs={"Two": {"Value": "2"}})
    assert change_set(aws, template, Tags=tags)["Status"] == "CREATE_COMPLETE"
    execute(aws)
    assert aws.stack()["Tags"] == tags


def test_metadata_alone_touches_nothing(aws: Running) -> None:
    aws.create(text({"One": parameter("1")}))
    mark = len(aws.events())
    found = change_set(aws, text({"One": {**parameter("1"), "Metadata": {"seen": True}}}))
    assert [one["ResourceChange"]["Scope"] for one in found["Changes"]] == [["Metadata"]]  # type: ignore[attr-defined]
    execute(aws)
    assert [one.split()[0] for one in aws.events()[mark:]] == ["demo"] * 3
    detail = aws.cloudformation.describe_stack_resource(StackName="demo", LogicalResourceId="One")
    assert json.loads(detail["StackResourceDetail"]["Metadata"]) == {"seen": True}


def test_a_policy_alone_is_said_to_be_one(aws: Running) -> None:
    aws.create(text({"One": parameter("1"), "Two": parameter("2", "/demo/two")}))
    one = {**parameter("1"), "DeletionPolicy": "Retain"}
    two = {**parameter("3", "/demo/two"), "UpdateReplacePolicy": "Retain", "DeletionPolicy": "Delete"}
    found = change_set(aws, text({"One": one, "Two": two}))
    scopes = [one["ResourceChange"]["Scope"] for one in found["Changes"]]  # type: ignore[attr-defined]
    assert scopes == [["DeletionPolicy"], ["Properties", "UpdateReplacePolicy"]]


def test_a_logical_id_keeps_its_type(aws: Running) -> None:
    aws.create(text({"One": parameter("1"), "Two": parameter("2", "/demo/two"), "Three": parameter("3", "/three")}))
    mark = len(aws.events())
    group = {"Type": "AWS::Logs::LogGroup"}
    other = text({"One": group, "Two": group, "Three": parameter("3", "/three")})
    said = (
        "Update of resource type is not permitted. The new template modifies resource type of the following resources: "
        "[One, Two]"
    )
    found = change_set(aws, other)
    assert (found["Status"], found["ExecutionStatus"], found["StatusReason"]) == ("FAILED", "UNAVAILABLE", said)
    with pytest.raises(ClientError, match=re.escape(said)):
        aws.update(other)
    assert len(aws.events()) == mark
    # Under another logical id it is another resource, also where a condition has taken the former one away.
    gone = {**group, "Condition": "Never"}
    template = text({"Three": gone, "Four": group}, Conditions={"Never": {"Fn::Equals": ["a", "b"]}})
    assert aws.update(template)["StackStatus"] == "UPDATE_COMPLETE"
    assert sorted(aws.resources()) == ["Four"]


def test_an_executed_set_makes_the_others_void(aws: Running) -> None:
    aws.create(text({"One": parameter("1")}))
    change_set(aws, text({"One": parameter("2")}))
    change_set(aws, text({"One": parameter("3")}), name="other")
    execute(aws)
    with pytest.raises(ClientError) as caught:
        aws.cloudformation.execute_change_set(StackName="demo", ChangeSetName="other")
    assert caught.value.response["Error"]["Code"] == "ChangeSetNotFound"


def test_a_direct_update_makes_sets_void_too(aws: Running) -> None:
    aws.create(text({"One": parameter("1")}))
    change_set(aws, text({"One": parameter("2")}))
    aws.update(text({"One": parameter("3")}))
    assert aws.cloudformation.list_change_sets(StackName="demo")["Summaries"] == []


def test_an_execution_whose_answer_was_lost_is_asked_for_again(aws: Running) -> None:
    client = aws.cloudformation
    for kind, value in (("CREATE", "1"), ("UPDATE", "2")):
        arn = change_set(aws, text({"One": parameter(value)}), kind)["ChangeSetId"]
        for _ in range(2):
            client.execute_change_set(StackName="demo", ChangeSetName="set", ClientRequestToken=f"token-{kind}")
        with pytest.raises(ClientError, match="Another request had the token"):
            client.execute_change_set(
                StackName="demo", ChangeSetName="set", ClientRequestToken=f"token-{kind}", DisableRollback=True
            )
        with pytest.raises(ClientError, match="ChangeSetNotFound"):
            client.execute_change_set(StackName="demo", ChangeSetName=arn, ClientRequestToken="other")
        assert aws.settled()["StackStatus"] == f"{kind}_COMPLETE"
    assert aws.events().count("demo UPDATE_COMPLETE") == 1
    # A stack that was deleted may be created again with the same names and the same token.
    aws.delete()
    change_set(aws, text({"One": parameter("1")}), "CREATE")
    client.execute_change_set(StackName="demo", ChangeSetName="set", ClientRequestToken="token-CREATE")
    assert aws.settled()["StackStatus"] == "CREATE_COMPLETE"


def test_a_rollback_whose_answer_was_lost_is_asked_for_again(aws: Running) -> None:
    client = aws.cloudformation
    wrong = {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "Wrong", "Value": "x"}}
    aws.create(text({"One": parameter("1")}))
    aws.update(text({"One": parameter("2"), "Two": wrong}), DisableRollback=True)
    answers = [client.rollback_stack(StackName="demo", ClientRequestToken="again")["StackId"] for _ in range(2)]
    assert answers == [aws.settled()["StackId"]] * 2
    assert aws.events().count("demo UPDATE_ROLLBACK_COMPLETE") == 1
    client.rollback_stack(StackName="demo", ClientRequestToken="again")
    with pytest.raises(ClientError, match="can not be rolled back"):
        client.rollback_stack(StackName="demo", ClientRequestToken="another")


def test_what_cannot_be_a_change_set(aws: Running) -> None:
    template = text({"One": parameter("1")})
    with pytest.raises(ClientError, match=r"Stack \[demo\] does not exist"):
        change_set(aws, template)
    aws.create(template)
    with pytest.raises(ClientError, match="already exists and cannot be created again"):
        change_set(aws, template, "CREATE")
    with pytest.raises(ClientError, match="'c ö/' at 'changeSetName' failed to satisfy constraint"):
        aws.cloudformation.create_change_set(StackName="demo", ChangeSetName="c ö/", TemplateBody=template)
    with pytest.raises(ClientError, match="does not import resources"):
        change_set(aws, template, "IMPORT", ResourcesToImport=[])
    change_set(aws, text({"One": parameter("2")}))
    with pytest.raises(ClientError, match="ChangeSet set already exists"):
        change_set(aws, template)
    aws.cloudformation.delete_change_set(StackName="demo", ChangeSetName="set")
    aws.cloudformation.delete_change_set(StackName="demo", ChangeSetName="set")
    assert aws.cloudformation.list_change_sets(StackName="demo")["Summaries"] == []


def test_a_set_is_found_by_its_id_alone(aws: Running) -> None:
    found = change_set(aws, text({"One": parameter("1")}), "CREATE")
    again = aws.cloudformation.describe_change_set(ChangeSetName=found["ChangeSetId"])
    assert again["StackName"] == "demo"
    with pytest.raises(ClientError, match="does not exist"):
        aws.cloudformation.describe_change_set(ChangeSetName="arn:nothing")


def test_a_template_of_a_set_is_found_by_its_id_alone(aws: Running) -> None:
    client = aws.cloudformation
    one, two = (text({"One": parameter(value)}) for value in "12")
    aws.create(one)
    arn = change_set(aws, two)["ChangeSetId"]
    for members in ({"ChangeSetName": arn}, {"StackName": "demo", "ChangeSetName": "set"}):
        assert client.get_template(**members)["TemplateBody"] == json.loads(two)
    assert client.get_template(StackName="demo")["TemplateBody"] == json.loads(one)
    for members in ({"ChangeSetName": "arn:nothing"}, {"StackName": "demo", "ChangeSetName": "other"}):
        with pytest.raises(ClientError, match="ChangeSetNotFound"):
            client.get_template(**members)


def test_what_is_under_review_is_not_updated(aws: Running) -> None:
    change_set(aws, text({"One": parameter("1")}), "CREATE")
    with pytest.raises(ClientError, match="is in REVIEW_IN_PROGRESS state and can not be updated"):
        change_set(aws, text({"One": parameter("2")}), "UPDATE", name="other")
    assert change_set(aws, text({"One": parameter("2")}), "CREATE", name="other")["Status"] == "CREATE_COMPLETE"


@pytest.mark.parametrize(
    ("resources", "needed", "why"),
    [
        ({"One": parameter("1")}, [], None),
        ({"Role": ROLE}, ["CAPABILITY_IAM"], "The following resource(s) require capabilities: [AWS::IAM::Role]"),
        (
            {"Role": {**ROLE, "Properties": {**ROLE["Properties"], "RoleName": "mine"}}},  # type: ignore[dict-item]
            ["CAPABILITY_NAMED_IAM"],
            "The following resource(s) require capabilities: [AWS::IAM::Role]",
        ),
    ],
)
def test_a_template_says_which_capabilities_it_needs(
    aws: Running, resources: dict[str, object], needed: list[str], why: str | None
) -> None:
    for look in (aws.cloudformation.validate_template, aws.cloudformation.get_template_summary):
        found = look(TemplateBody=text(resources))
        assert (found.get("Capabilities", []), found.get("CapabilitiesReason")) == (needed, why)


def test_a_failed_creation_can_be_deleted_by_itself(aws: Running) -> None:
    aws.sagemaker.failures["Endpoint demo"] = "no capacity"
    change_set(aws, variant_text(), "CREATE", OnStackFailure="DELETE")
    stack_id = aws.stack()["StackId"]
    aws.cloudformation.execute_change_set(StackName="demo", ChangeSetName="set")
    assert aws.settled(stack_id)["StackStatus"] == "DELETE_COMPLETE"


def test_stacks_are_shown(aws: Running) -> None:
    template = json.dumps({**json.loads(variant_text()), "Description": "A demo"})
    aws.create(template)
    client = aws.cloudformation
    assert [one["StackName"] for one in client.describe_stacks()["Stacks"]] == ["demo"]
    assert [
        one["StackName"] for one in client.list_stacks(StackStatusFilter=["CREATE_COMPLETE"])["StackSummaries"]
    ] == ["demo"]
    assert client.list_stacks(StackStatusFilter=["CREATE_FAILED"])["StackSummaries"] == []
    assert aws.stack()["Description"] == "A demo"
    resources = client.describe_stack_resources(StackName="demo", LogicalResourceId="Model")["StackResources"]
    assert [one["ResourceType"] for one in resources] == ["AWS::SageMaker::Model"]
    physical = resources[0]["PhysicalResourceId"]
    assert len(client.describe_stack_resources(PhysicalResourceId=physical)["StackResources"]) == 4
    assert client.get_template(StackName="demo")["TemplateBody"] == json.loads(template)
    assert client.get_template_summary(StackName="demo")["ResourceTypes"] == [
        "AWS::IAM::Role",
        "AWS::SageMaker::Endpoint",
        "AWS::SageMaker::EndpointConfig",
        "AWS::SageMaker::Model",
    ]
    assert client.describe_events(StackName="demo")["OperationEvents"] == []
    for call, members in (
        (client.describe_stack_resource, {"StackName": "demo", "LogicalResourceId": "Nothing"}),
        (client.describe_stack_resources, {"PhysicalResourceId": "nothing"}),
        (client.describe_stacks, {"StackName": "nothing"}),
    ):
        with pytest.raises(ClientError, match="does not exist"):
            call(**members)


def test_a_template_is_validated_and_summed_up(aws: Running) -> None:
    given = {"Size": {"Type": "Number", "Default": 3, "NoEcho": True, "Description": "How many"}}
    template = text({"One": parameter("1")}, Parameters=given, AWSTemplateFormatVersion="2010-09-09")
    (found,) = aws.cloudformation.validate_template(TemplateBody=template)["Parameters"]
    assert found == {"ParameterKey": "Size", "DefaultValue": "3", "NoEcho": True, "Description": "How many"}
    summary = aws.cloudformation.get_template_summary(TemplateBody=template)
    assert summary["Version"] == "2010-09-09"
    assert summary["Parameters"][0]["ParameterType"] == "Number"


def test_an_operation_that_is_not_served_is_named(aws: Running) -> None:
    with pytest.raises(
        ClientError, match="does not serve CloudFormation's ListTypes; it serves CancelUpdateStack, Cont"
    ):
        aws.cloudformation.list_types()


def test_what_is_never_echoed_is_in_no_event_and_no_change(aws: Running) -> None:
    client = aws.cloudformation
    value = {"Fn::Join": ["-", ["key", {"Ref": "Secret"}, {"Fn::Select": [0, {"Ref": "Several"}]}]]}
    parameters = {
        "Secret": {"Type": "String", "NoEcho": True},
        "Several": {"Type": "CommaDelimitedList", "NoEcho": "true"},
    }

    def template(**more: object) -> str:
        return text({"One": parameter("", Value=value, Tags={"team": "search"}), **more}, Parameters=parameters)

    def given(secret: str) -> list[dict[str, str]]:
        return [
            {"ParameterKey": "Secret", "ParameterValue": secret},
            {"ParameterKey": "Several", "ParameterValue": "alpha1,beta2"},
        ]

    aws.create(template(), Parameters=given("hunter2"))
    client.create_change_set(
        StackName="demo", ChangeSetName="set", TemplateBody=template(), Parameters=given("hunter3")
    )
    found = client.describe_change_set(StackName="demo", ChangeSetName="set", IncludePropertyValues=True)
    (change,) = (one["ResourceChange"] for one in found["Changes"])
    (target,) = (one["Target"] for one in change["Details"])
    assert (target["BeforeValue"], target["AfterValue"]) == ("key-****-****", "key-****-****")
    execute(aws)
    # A rollback makes what was of values that the failed update did not have.
    wrong = {"Type": "AWS::SSM::Parameter", "DependsOn": "One", "Properties": {"Type": "Wrong", "Value": "x"}}
    aws.update(template(Two=wrong), Parameters=given("hunter4"))
    events = client.describe_stack_events(StackName="demo")["StackEvents"]
    shown = json.dumps([found, events], default=str)
    assert not [one for one in ("hunter", "alpha1", "beta2") if one in shown]
    assert json.loads(events[-3]["ResourceProperties"])["Tags"] == {"team": "search"}
    stored = aws.client("ssm").get_parameter(Name="/demo/value")["Parameter"]["Value"]
    assert stored == "key-hunter3-alpha1"
