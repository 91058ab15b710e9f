"""The template of a deployed stack, by CloudFormation: what the endpoint was last deployed to be."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from warmstack.operate.asking import ask, ask_all, reading
from warmstack.operate.errors import OperateError
from warmstack.operate.verification.expected import Expected, of_assembly

_CONFIG = "AWS::SageMaker::EndpointConfig"
_SAGEMAKER = "AWS::SageMaker::"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployedStack:
    """A stack as CloudFormation describes it.

    Args:
        name: Its name.
        status: Its status.
        outputs: Its outputs.
        parameters: The values of its parameters.
    """

    name: str
    status: str
    outputs: Mapping[str, str]
    parameters: Mapping[str, str]


def describe_stack(cloudformation: Any, name: str) -> DeployedStack:
    """Return a stack.

    Args:
        cloudformation: boto3's client.
        name: The stack's name.

    Raises:
        RefusedError: It could not be asked for, or there is none.
    """
    action = "cloudformation:DescribeStacks"
    answer = ask(action, cloudformation.describe_stacks, StackName=name)
    with reading(action):
        found = answer["Stacks"][0]
        return DeployedStack(
            name=found["StackName"],
            status=found["StackStatus"],
            outputs={one["OutputKey"]: one["OutputValue"] for one in found.get("Outputs") or ()},
            parameters={
                one["ParameterKey"]: one.get("ResolvedValue") or one.get("ParameterValue") or ""
                for one in found.get("Parameters") or ()
            },
        )


def work_on(stack: DeployedStack) -> str:
    """Return what is being done to a stack, or nothing: what it only still deletes does not count."""
    moving = stack.status.endswith("_IN_PROGRESS") and "CLEANUP" not in stack.status and "REVIEW" not in stack.status
    return f"stack {stack.name} is {stack.status}" if moving else ""


def of_stack(
    cloudformation: Any, stack: DeployedStack, *, endpoint: str, account: str | None, region: str | None
) -> Expected:
    """Return an endpoint as the template of a deployed stack defines it, with the names that it was given.

    Args:
        cloudformation: boto3's client.
        stack: The stack.
        endpoint: The endpoint's name.
        account: The account.
        region: The Region.

    Raises:
        RefusedError: CloudFormation could not be asked.
        OperateError: The template does not define that endpoint.
    """
    action = "cloudformation:GetTemplate"
    answer = ask(action, cloudformation.get_template, StackName=stack.name)
    with reading(action):
        body = answer["TemplateBody"]
        text = body if isinstance(body, str) else json.dumps(body)
    deployed: dict[str, str] = {}
    physical: dict[str, str] = {}
    configurations: set[str] = set()
    for one in ask_all(
        "cloudformation:ListStackResources",
        cloudformation,
        "list_stack_resources",
        "StackResourceSummaries",
        StackName=stack.name,
    ):
        if not one.get("PhysicalResourceId"):
            continue
        # What the template names by a function has the name that CloudFormation gave it, such as an image's repository.
        physical[one["LogicalResourceId"]] = one["PhysicalResourceId"]
        if one["ResourceType"].startswith(_SAGEMAKER):
            name = one["PhysicalResourceId"].rsplit("/", 1)[-1]
            deployed[one["LogicalResourceId"]] = name
            if one["ResourceType"] == _CONFIG:
                configurations.add(name)
    with tempfile.TemporaryDirectory() as folder:
        # The reader names the stack by its file.
        path = Path(folder) / f"{re.sub(r'[^A-Za-z0-9-]', '-', stack.name)}.template.yaml"
        path.write_text(text, encoding="utf-8")
        try:
            found = of_assembly(
                path,
                endpoint=endpoint,
                stack=None,
                account=account,
                region=region,
                parameters=stack.parameters,
                deployed=physical,
            )
        except OperateError as error:
            raise OperateError(str(error).replace(str(path), f"the template of stack {stack.name}")) from error
    return replace(
        found,
        source=f"stack {stack.name}",
        deployed=deployed,
        configurations=frozenset(configurations),
        stack_status=stack.status,
    )
