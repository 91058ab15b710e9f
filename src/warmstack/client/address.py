"""Where requests go: an endpoint, and the components and adapters that it has, by the names of the spec."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from warmstack.client.failures import AnswerMalformed, NotConfigured
from warmstack.client.mapping import RAISED_BY_AWS_CLIENT, from_botocore
from warmstack.errors import WarmstackError
from warmstack.outputs import ComponentOutput, EndpointOutputs

SUFFIX = ".json"


def read_outputs(source: str | Path, *, stack: str | None, cloudformation: Callable[[], Any]) -> EndpointOutputs:
    """Return the outputs of a stack.

    Args:
        source: A file of ``cdk deploy --outputs-file``, or the name of a deployed stack.
        stack: Which of the file's stacks; None for the only one.
        cloudformation: Makes boto3's client of CloudFormation, should it be needed.

    Raises:
        NotConfigured: There are no such outputs.
        EndpointError: CloudFormation could not be asked.
    """
    if is_file(source):
        name, found = _of_file(Path(source), stack)
    else:
        name, found = str(source), _of_stack(cloudformation(), str(source))
    try:
        return EndpointOutputs.from_outputs(found)
    except WarmstackError as error:
        raise NotConfigured(f"{name}: {error}") from error


def is_file(source: str | Path) -> bool:
    """Return whether a source of outputs is meant as a file, and not as the name of a stack."""
    return isinstance(source, Path) or source.endswith(SUFFIX) or "/" in source


def pick_component(outputs: EndpointOutputs, wanted: str) -> ComponentOutput:
    """Return a component of an endpoint.

    Args:
        outputs: What the stack publishes.
        wanted: The component's name in the spec; its physical name is taken too.

    Raises:
        NotConfigured: There is none.
    """
    for one in outputs.components.values():
        if wanted in (one.name, one.physical_name):
            return one
    near = get_close_matches(wanted, outputs.components, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(sorted(outputs.components)) or 'none'}"
    raise NotConfigured(f"endpoint {outputs.endpoint_name} publishes no component {wanted!r}; {hint}")


def _of_stack(client: Any, name: str) -> Mapping[str, str]:
    try:
        (stack,) = client.describe_stacks(StackName=name)["Stacks"]
        return {one["OutputKey"]: one["OutputValue"] for one in stack.get("Outputs", [])}
    except RAISED_BY_AWS_CLIENT as error:
        raise from_botocore(error) from error
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        # Guard: botocore takes a page of HTML with status 200 for an answer, or fails with these in it.
        raise AnswerMalformed(
            f"what answers for CloudFormation is not CloudFormation: stack {name!r} could not be asked for; look at "
            "the address, which AWS_ENDPOINT_URL or a configuration file may name, and at proxies",
            message=f"{type(error).__name__}: {error}",
        ) from error


def _of_file(path: Path, stack: str | None) -> tuple[str, Mapping[str, str]]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise NotConfigured(
            f"{path} cannot be read ({error.strerror}); write it with cdk deploy --outputs-file {path.name}, or "
            "name a deployed stack; on the command line, --stack NAME"
        ) from error
    except (ValueError, RecursionError) as error:
        raise NotConfigured(f"{path} is no JSON file of cdk deploy --outputs-file: {error}") from error
    stacks = _stacks(value)
    if not stacks:
        raise NotConfigured(f"{path} holds no outputs of a stack; cdk deploy --outputs-file writes such a file")
    if stack is None:
        if len(stacks) > 1:
            raise NotConfigured(
                f"{path} holds several stacks ({', '.join(sorted(stacks))}); name one: stack=, or --stack"
            )
        stack = next(iter(stacks))
    if stack not in stacks:
        raise NotConfigured(f"{path} has no stack {stack!r}; it has {', '.join(sorted(stacks))}")
    return f"{path}, stack {stack}", stacks[stack]


def _stacks(value: object) -> dict[str, Mapping[str, str]]:
    if not isinstance(value, dict):
        return {}
    return {
        name: {key: text for key, text in found.items() if isinstance(text, str)}
        for name, found in value.items()
        if isinstance(found, dict)
    }
