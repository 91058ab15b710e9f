"""Builds in the account: the project, its role, and the function that waits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from stacks.image_build_handler import index
from stacks.image_builder import BUILD_SPEC
from tests.infrastructure.intrinsics import resolve
from tests.infrastructure.synthesis import Synthesized, path_of, synthesized

HOUR_MINUTES = 60


@pytest.fixture
def built() -> Synthesized:
    return synthesized(path_of("built-components"))


def _projects(stack: Synthesized) -> list[dict[str, Any]]:
    return [one["Properties"] for one in stack.of_type("CodeBuild::Project").values()]


def _variables(project: dict[str, Any], stack: Synthesized) -> dict[str, str]:
    return {
        one["Name"]: resolve(one["Value"], stack.template) for one in project["Environment"]["EnvironmentVariables"]
    }


def test_there_is_a_project_for_each_server_and_version(built: Synthesized) -> None:
    bases = sorted(_variables(one, built)["BASE_IMAGE"].partition("/")[2] for one in _projects(built))
    assert bases == ["djl-inference:0.38.0-lmi29.0.0-cu130", "sglang:0.5.20-gpu-py312-cu130-ubuntu24.04-sagemaker"]


def test_values_are_variables_and_the_commands_are_constant(built: Synthesized) -> None:
    for project in _projects(built):
        assert project["Source"]["BuildSpec"] == BUILD_SPEC
    used = set(re.findall(r"\$\{?([A-Z_]+)", BUILD_SPEC))
    assert used - {"AWS_REGION"} == set(_variables(_projects(built)[0], built))
    # Every value is read in double quotes, where the shell neither splits it nor runs it.
    assert BUILD_SPEC.count("$") == len(re.findall(r'"[^"$]*\$[A-Z_]+[^"$]*"', BUILD_SPEC))
    assert not re.search(r"\beval\b|\bsh -c\b|`|\$\(", BUILD_SPEC)
    phases = yaml.safe_load(BUILD_SPEC)["phases"]
    assert list(phases) == ["pre_build", "build"]


def test_the_build_has_room_and_ends_before_cloudformation_gives_up(built: Synthesized) -> None:
    for project in _projects(built):
        assert project["Environment"]["ComputeType"] in ("BUILD_GENERAL1_MEDIUM", "BUILD_GENERAL1_LARGE")
        longest = project["TimeoutInMinutes"] + project["QueuedTimeoutInMinutes"]
        run_minutes = built.only("Lambda::Function")["Timeout"] / 60
        assert longest < run_minutes * (index.MOST_RUNS - 1)
        assert longest < HOUR_MINUTES


def test_a_project_may_pull_its_base_and_push_to_one_repository(built: Synthesized) -> None:
    (repository,) = built.of_type("ECR::Repository")
    own = resolve({"Fn::GetAtt": [repository, "Arn"]}, built.template)
    for project in _projects(built):
        role = built.template["Resources"][project["ServiceRole"]["Fn::GetAtt"][0]]["Properties"]
        (policy,) = role["Policies"]
        allowed: dict[str, set[str]] = {}
        for one in policy["PolicyDocument"]["Statement"]:
            actions = one["Action"] if isinstance(one["Action"], list) else [one["Action"]]
            for action in actions:
                if action.startswith("ecr:"):
                    allowed.setdefault(action, set()).add(resolve(one["Resource"], built.template))
        base = _variables(project, built)["BASE_IMAGE"]
        account, name = base.split(".")[0], base.partition("/")[2].partition(":")[0]
        assert allowed["ecr:BatchGetImage"] == {own, f"arn:aws:ecr:us-west-2:{account}:repository/{name}"}
        assert allowed["ecr:PutImage"] == {own}
        assert allowed["ecr:GetAuthorizationToken"] == {"*"}


def test_the_registry_of_the_base_is_logged_in_to(built: Synthesized) -> None:
    for project in _projects(built):
        variables = _variables(project, built)
        assert variables["BASE_LOGIN"] == "true"
        assert variables["BASE_REGISTRY"] == variables["BASE_IMAGE"].partition("/")[0]
        assert variables["BASE_REGION"] == "us-west-2"
        assert variables["IMAGE_URI"].startswith(f"{variables['IMAGE_REGISTRY']}/")


def test_no_role_has_a_managed_policy(built: Synthesized) -> None:
    assert [one for one in built.of_type("IAM::Role").values() if "ManagedPolicyArns" in one["Properties"]] == []


class Fake:
    """AWS as the handler sees it: builds that go on for some looks, and images."""

    class ImageNotFoundException(Exception):  # noqa: N818  (boto3's name)
        pass

    def __init__(self, statuses: list[str], *, exists: bool = False, denied: int = 0) -> None:
        self.statuses = statuses
        self.there = exists
        self.denied = denied
        self.started: list[str] = []
        self.invoked: list[dict[str, Any]] = []
        self.answers: list[tuple[str, str]] = []
        self.slept: list[float] = []
        self.exceptions = self
        self.milliseconds = 900_000

    def client(self, _name: str) -> Fake:
        return self

    def describe_images(self, **_: Any) -> None:
        if not self.there:
            raise self.ImageNotFoundException

    def start_build(self, *, projectName: str) -> Any:  # noqa: N803  (boto3's name)
        if self.denied:
            self.denied -= 1
            raise RuntimeError("An error occurred (AccessDeniedException) when calling the StartBuild operation")
        self.started.append(projectName)
        return {"build": {"id": f"{projectName}:1"}}

    def batch_get_builds(self, *, ids: list[str]) -> Any:
        status = self.statuses.pop(0)
        if status == "THROTTLED":
            raise RuntimeError("An error occurred (ThrottlingException)")
        if status == "GONE":
            return {"builds": []}
        failed = {
            "phaseType": "BUILD",
            "phaseStatus": "FAILED",
            "contexts": [{"message": "exit status 1: no such tag"}],
        }
        phases = [{"phaseType": "QUEUED", "phaseStatus": "SUCCEEDED"}, failed] if status == "FAILED" else []
        build = {"id": ids[0], "buildStatus": status, "phases": phases, "logs": {"deepLink": "log-link"}}
        return {"builds": [build]}

    def invoke(self, **keys: Any) -> None:
        self.invoked.append({**keys, "Payload": json.loads(keys["Payload"])})

    def get_remaining_time_in_millis(self) -> int:
        self.milliseconds -= 15_000
        return self.milliseconds

    function_name = "waiter"

    def run(self, event: dict[str, Any]) -> None:
        def answer(_event: dict[str, Any], status: str, reason: str) -> None:
            self.answers.append((status, reason))

        index.handler(event, self, clients=self.client, sleep=self.slept.append, answer=answer)


def _event(kind: str = "Create", **more: Any) -> dict[str, Any]:
    properties = {"Project": "builder", "Repository": "images", "Tag": "abc"}
    return {"RequestType": kind, "ResourceProperties": properties, "LogicalResourceId": "Ready", **more}


def test_a_build_that_succeeds_is_success() -> None:
    aws = Fake(["IN_PROGRESS", "IN_PROGRESS", "SUCCEEDED"])
    aws.run(_event())
    assert aws.started == ["builder"]
    assert aws.slept == [index.POLL_SECONDS] * 2
    assert aws.answers == [("SUCCESS", "")]


def test_a_look_that_fails_is_not_the_end() -> None:
    aws = Fake(["THROTTLED", "IN_PROGRESS", "THROTTLED", "THROTTLED", "SUCCEEDED"])
    aws.run(_event())
    assert aws.answers == [("SUCCESS", "")]
    never = Fake(["THROTTLED"] * index.MOST_MISSES)
    never.run(_event())
    assert never.answers == [("FAILED", "An error occurred (ThrottlingException)")]


def test_images_are_built_one_after_the_other(built: Synthesized) -> None:
    ready = [key for key, one in built.template["Resources"].items() if one["Type"] == "Custom::WarmstackImage"]
    waits = [set(built.template["Resources"][key].get("DependsOn", [])) & set(ready) for key in ready]
    assert sorted(len(one) for one in waits) == [0, 1]


def test_a_failed_build_is_the_reason() -> None:
    aws = Fake(["FAILED"])
    aws.run(_event())
    assert aws.answers == [
        ("FAILED", "image build builder:1 FAILED in phase BUILD: exit status 1: no such tag (log: log-link)")
    ]


def test_an_image_that_is_there_is_not_built_again() -> None:
    aws = Fake([], exists=True)
    aws.run(_event("Update"))
    assert aws.started == []
    assert aws.answers == [("SUCCESS", "")]


def test_a_deletion_needs_nothing() -> None:
    aws = Fake([])
    aws.run(_event("Delete"))
    assert (aws.started, aws.answers) == ([], [("SUCCESS", "")])


def test_a_long_build_is_handed_over_and_found_again() -> None:
    aws = Fake(["IN_PROGRESS"] * 200)
    aws.run(_event())
    (handed,) = aws.invoked
    assert aws.answers == []
    assert (handed["FunctionName"], handed["InvocationType"]) == ("waiter", "Event")
    again = Fake(["SUCCEEDED"])
    again.run(handed["Payload"])
    assert again.started == []
    assert again.answers == [("SUCCESS", "")]


def test_it_does_not_go_on_for_ever() -> None:
    event = _event()
    for _ in range(index.MOST_RUNS - 1):
        aws = Fake(["IN_PROGRESS"] * 200)
        aws.run(event)
        event = aws.invoked[0]["Payload"]
    last = Fake(["IN_PROGRESS"] * 200)
    last.run(event)
    assert last.invoked == []
    assert last.answers[0][0] == "FAILED"
    assert "did not end in time" in last.answers[0][1]


def test_a_permission_that_has_not_arrived_is_waited_for() -> None:
    aws = Fake(["SUCCEEDED"], denied=2)
    aws.run(_event())
    assert aws.answers == [("SUCCESS", "")]
    never = Fake([], denied=100)
    never.run(_event())
    assert never.answers[0][0] == "FAILED"
    assert "AccessDenied" in never.answers[0][1]


def test_whatever_goes_wrong_is_an_answer() -> None:
    gone = Fake(["GONE"])
    gone.run(_event())
    assert gone.answers == [("FAILED", "image build builder:1 is gone; deploy again")]
    odd = Fake([])
    odd.run({"RequestType": "Create", "ResourceProperties": {}})
    assert odd.answers[0][0] == "FAILED"


def test_the_answer_is_put_where_cloudformation_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []

    class Reply:
        def __enter__(self) -> None:
            return None

        def __exit__(self, *_: object) -> None:
            return None

    def urlopen(request: Any, timeout: float) -> Reply:
        sent.append((request.full_url, request.get_method(), json.loads(request.data)))
        if len(sent) == 1:
            raise OSError("reset")
        return Reply()

    monkeypatch.setattr(index.urllib.request, "urlopen", urlopen)
    monkeypatch.setattr(index.time, "sleep", lambda _: None)
    clients: Callable[[str], Any] = Fake([], exists=True).client
    event = _event(ResponseURL="https://example.com/x", StackId="s", RequestId="r")
    index.handler(event, None, clients=clients)
    assert len(sent) == 2
    assert sent[1] == (
        "https://example.com/x",
        "PUT",
        {
            "Status": "SUCCESS",
            "Reason": "",
            "PhysicalResourceId": "Ready",
            "StackId": "s",
            "RequestId": "r",
            "LogicalResourceId": "Ready",
        },
    )
