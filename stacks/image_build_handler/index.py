"""A custom resource of CloudFormation: starts an image's build and answers when it has ended.

Runs in Lambda; boto3 is the runtime's own. A build takes longer than a function may run, so the function hands over
to a new run of itself before its time is up. Whatever happens, CloudFormation gets an answer: without one it would
wait for an hour.
"""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable
from typing import Any

Clients = Callable[[str], Any]

POLL_SECONDS = 15
# What a run needs to hand over or to answer.
RESERVE_MILLISECONDS = 60_000
# Runs of 15 minutes: more than a build may queue and take, and less than an hour.
MOST_RUNS = 5
START_ATTEMPTS = 6
MOST_MISSES = 8
MOST_CHARACTERS = 900


def handler(
    event: dict[str, Any],
    context: Any,
    *,
    clients: Clients | None = None,
    sleep: Callable[[float], None] = time.sleep,
    answer: Callable[[dict[str, Any], str, str], None] | None = None,
) -> None:
    """Serve one event; ``clients``, ``sleep`` and ``answer`` are parameters for tests."""
    answer = answer or _answer
    try:
        clients = clients or _clients()
        if _is_done(event, context, clients, sleep):
            answer(event, "SUCCESS", "")
        else:
            _hand_over(event, context, clients)
    except Exception as error:
        answer(event, "FAILED", str(error)[:MOST_CHARACTERS])


def _is_done(
    event: dict[str, Any], context: Any, clients: Callable[[str], Any], sleep: Callable[[float], None]
) -> bool:
    """Return whether the image is there, or False when this run's time is up; raise when it will never be."""
    properties = event["ResourceProperties"]
    if event["RequestType"] == "Delete":
        return True
    if "BuildId" not in event:
        # A rollback returns to an image that was built before.
        if _exists(clients("ecr"), properties["Repository"], properties["Tag"]):
            return True
        event["BuildId"] = _start(clients("codebuild"), properties["Project"], sleep)
    codebuild = clients("codebuild")
    misses = 0
    while True:
        try:
            found = codebuild.batch_get_builds(ids=[event["BuildId"]])["builds"]
            misses = 0
        except Exception:
            # One look that fails does not say that the build did.
            misses += 1
            if misses == MOST_MISSES:
                raise
            sleep(POLL_SECONDS)
            continue
        if not found:
            raise RuntimeError(f"image build {event['BuildId']} is gone; deploy again")
        if found[0]["buildStatus"] == "SUCCEEDED":
            return True
        if found[0]["buildStatus"] != "IN_PROGRESS":
            raise RuntimeError(_reason(found[0]))
        if context.get_remaining_time_in_millis() < RESERVE_MILLISECONDS:
            return False
        sleep(POLL_SECONDS)


def _start(codebuild: Any, project: str, sleep: Callable[[float], None]) -> str:
    """Start a build; a permission that was given a moment ago may not be known everywhere yet, so ask again."""
    for attempt in range(START_ATTEMPTS):
        try:
            return str(codebuild.start_build(projectName=project)["build"]["id"])
        except Exception as error:
            if "AccessDenied" not in str(error) or attempt == START_ATTEMPTS - 1:
                raise
            sleep(POLL_SECONDS)
    raise AssertionError  # the last attempt returned or raised


def _hand_over(event: dict[str, Any], context: Any, clients: Clients) -> None:
    event["Runs"] = event.get("Runs", 1) + 1
    if event["Runs"] > MOST_RUNS:
        raise RuntimeError(f"image build {event['BuildId']} did not end in time; look at it in CodeBuild")
    clients("lambda").invoke(
        FunctionName=context.function_name, InvocationType="Event", Payload=json.dumps(event).encode()
    )


def _reason(build: dict[str, Any]) -> str:
    """Return why a build failed: the phase, its error, and the place of the log."""
    failed = [one for one in build.get("phases", []) if one.get("phaseStatus") not in (None, "SUCCEEDED")]
    where = f" in phase {failed[0]['phaseType']}" if failed else ""
    messages = [one["message"] for phase in failed for one in phase.get("contexts", []) if one.get("message")]
    what = f": {messages[0]}" if messages else ""
    link = build.get("logs", {}).get("deepLink")
    log = f" (log: {link})" if link else ""
    return f"image build {build['id']} {build['buildStatus']}{where}{what}{log}"


def _exists(ecr: Any, repository: str, tag: str) -> bool:
    try:
        ecr.describe_images(repositoryName=repository, imageIds=[{"imageTag": tag}])
    except ecr.exceptions.ImageNotFoundException:
        return False
    return True


def _answer(event: dict[str, Any], status: str, reason: str) -> None:
    body = {
        "Status": status,
        "Reason": reason,
        # The id stays what it was: a new one would make CloudFormation delete the old resource after an update.
        "PhysicalResourceId": event.get("PhysicalResourceId") or event["LogicalResourceId"],
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": event["LogicalResourceId"],
    }
    data = json.dumps(body).encode()
    request = urllib.request.Request(event["ResponseURL"], data=data, method="PUT", headers={"Content-Type": ""})
    for attempt in range(5):
        try:
            with urllib.request.urlopen(request, timeout=20):
                return
        except OSError:
            if attempt == 4:
                raise
            time.sleep(2**attempt)


def _clients() -> Clients:
    import boto3

    client: Clients = boto3.client
    return client
