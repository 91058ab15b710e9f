"""SageMaker's control plane in memory: what is made gets its status, and nothing serves.

It stands where copies are not wanted: in tests, and to try what a deployment would do.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from warmstack.assembly.identities import partition_of
from warmstack.local.wire.errors import ApiError

MEDIA_TYPE = "application/x-amz-json-1.1"
KINDS = {
    "Model": "model",
    "EndpointConfig": "endpoint-config",
    "Endpoint": "endpoint",
    "InferenceComponent": "inference-component",
}
_SAID = {"Model": "model", "EndpointConfig": "endpoint configuration", "Endpoint": "endpoint",
         "InferenceComponent": "inference component"}  # fmt: skip
_WITH_STATUS = frozenset({"Endpoint", "InferenceComponent"})


@dataclass(slots=True, kw_only=True)
class Thing:
    """A model, configuration, endpoint or component."""

    kind: str
    name: str
    arn: str
    members: dict[str, Any]
    created: datetime
    changed: datetime
    status: str = "InService"
    passing: int = 0
    then: str = "InService"
    reason: str = ""
    wanted: dict[str, Any] = field(default_factory=dict)


class InMemorySageMaker:
    """SageMaker without copies.

    Args:
        account: The account.
        region: The Region.
        now: The time.
        polls: How many descriptions show a passing status before the lasting one.
    """

    def __init__(self, *, account: str, region: str, now: Callable[[], datetime], polls: int = 1) -> None:
        self._prefix = f"arn:{partition_of(region)[0]}:sagemaker:{region}:{account}"
        self._now = now
        self.polls = polls
        self.things: dict[tuple[str, str], Thing] = {}
        self.tags: dict[str, dict[str, str]] = {}
        self.calls: list[tuple[str, Mapping[str, Any]]] = []

    async def call(self, operation: str, members: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call an operation.

        Raises:
            ApiError: It is refused.
        """
        self.calls.append((operation, members))
        if operation in ("AddTags", "DeleteTags", "ListTags"):
            return self._tagged(operation, members)
        if operation in ("ListEndpoints", "ListInferenceComponents"):
            return self._listed(operation.removeprefix("List"))
        if operation == "UpdateInferenceComponentRuntimeConfig":
            runtime = members["DesiredRuntimeConfig"]
            changed = {"InferenceComponentName": members["InferenceComponentName"], "RuntimeConfig": runtime}
            return self._update("InferenceComponent", changed)
        for word, step in (
            ("Create", self._create), ("Describe", self._describe), ("Update", self._update), ("Delete", self._delete)
        ):  # fmt: skip
            kind = operation.removeprefix(word)
            if operation.startswith(word) and kind in KINDS:
                return step(kind, members)
        raise ApiError("UnknownOperationException", 400, f"SageMaker in memory has no {operation}")

    def fate(self, kind: str, name: str, members: Mapping[str, Any]) -> tuple[str, str]:  # noqa: ARG002  (for tests)
        """Return the status that a creation or update comes to, and why."""
        return "InService", ""

    def _create(self, kind: str, members: Mapping[str, Any]) -> Mapping[str, Any]:
        name = str(members[f"{kind}Name"])
        arn = f"{self._prefix}:{KINDS[kind]}/{name}"
        if (kind, name) in self.things:
            raise _refused(f'Cannot create already existing {_SAID[kind]} "{arn}".')
        self._check_references(members)
        now = self._now()
        made = Thing(kind=kind, name=name, arn=arn, members=dict(members), created=now, changed=now)
        if kind in _WITH_STATUS:
            made.status, made.passing = "Creating", self.polls
            made.then, made.reason = self.fate(kind, name, members)
        self.things[kind, name] = made
        self.tags[arn] = {one["Key"]: one["Value"] for one in members.get("Tags", [])}
        return {f"{kind}Arn": arn}

    def _describe(self, kind: str, members: Mapping[str, Any]) -> Mapping[str, Any]:
        found = self._get(kind, str(members[f"{kind}Name"]))
        if found.passing:
            found.passing -= 1
        elif found.status == "Deleting":
            del self.things[kind, found.name]
            return self._describe(kind, members)
        elif found.status != found.then:
            self._come_to_rest(found)
        times = {"CreationTime": found.created.timestamp(), "LastModifiedTime": found.changed.timestamp()}
        shown = {key: value for key, value in found.members.items() if key != "Tags"}
        status: dict[str, Any] = {}
        if kind in _WITH_STATUS:
            status = {f"{kind}Status": found.status}
            status |= {"FailureReason": found.reason} if found.reason and found.status != "Creating" else {}
            if "RuntimeConfig" in shown:
                count = shown["RuntimeConfig"].get("CopyCount", 1)
                shown["RuntimeConfig"] = {"DesiredCopyCount": count, "CurrentCopyCount": count}
        return {**shown, f"{kind}Arn": found.arn, **times, **status}

    def _come_to_rest(self, found: Thing) -> None:
        if found.status == "Updating" and found.then == "InService" and not found.reason:
            found.members |= found.wanted
        found.status = found.then

    def _update(self, kind: str, members: Mapping[str, Any]) -> Mapping[str, Any]:
        found = self._get(kind, str(members[f"{kind}Name"]))
        # An endpoint that did not come into service cannot be updated; a component can.
        if found.status not in (("InService",) if kind == "Endpoint" else ("InService", "Failed")):
            raise _refused(f'Cannot update {_SAID[kind]} "{found.arn}" in the status {found.status}.')
        self._check_references(members)
        found.status, found.passing, found.changed = "Updating", self.polls, self._now()
        found.wanted = {key: members[key] for key in ("EndpointConfigName", "RuntimeConfig", "Specification")
                        if key in members}  # fmt: skip
        found.then, found.reason = self.fate(kind, found.name, members)
        return {f"{kind}Arn": found.arn}

    def _delete(self, kind: str, members: Mapping[str, Any]) -> Mapping[str, Any]:
        found = self._get(kind, str(members[f"{kind}Name"]))
        if kind not in _WITH_STATUS:
            del self.things[kind, found.name]
            return {}
        if found.status not in ("InService", "Failed"):
            raise _refused(f'Cannot update in-progress {_SAID[kind]} "{found.arn}".')
        if users := self._users(found):
            raise _refused(f'Cannot delete {_SAID[kind]} "{found.arn}": {", ".join(users)} need it.')
        found.status = found.then = "Deleting"
        found.passing = self.polls
        return {}

    def _users(self, found: Thing) -> list[str]:
        if found.kind == "Endpoint":
            return [one.name for one in self._of("InferenceComponent") if one.members.get("EndpointName") == found.name]
        return [
            one.name
            for one in self._of("InferenceComponent")
            if one.members.get("Specification", {}).get("BaseInferenceComponentName") == found.name
        ]

    def _check_references(self, members: Mapping[str, Any]) -> None:
        specification = members.get("Specification", {})
        for kind, name in (
            ("EndpointConfig", members.get("EndpointConfigName") if "EndpointName" in members else None),
            ("Endpoint", members.get("EndpointName") if "InferenceComponentName" in members else None),
            ("InferenceComponent", specification.get("BaseInferenceComponentName")),
            ("Model", specification.get("ModelName")),
            *(("Model", one.get("ModelName")) for one in members.get("ProductionVariants", [])),
        ):
            if name is not None:
                self._get(kind, str(name))

    def _get(self, kind: str, name: str) -> Thing:
        found = self.things.get((kind, name))
        if found is None:
            raise _refused(f'Could not find {_SAID[kind]} "{self._prefix}:{KINDS[kind]}/{name}".')
        return found

    def _of(self, kind: str) -> list[Thing]:
        return [one for (other, _), one in self.things.items() if other == kind]

    def _tagged(self, operation: str, members: Mapping[str, Any]) -> Mapping[str, Any]:
        tags = self.tags.setdefault(str(members["ResourceArn"]), {})
        if operation == "AddTags":
            tags |= {one["Key"]: one["Value"] for one in members["Tags"]}
        elif operation == "DeleteTags":
            for key in members["TagKeys"]:
                tags.pop(key, None)
        return {} if operation == "DeleteTags" else {"Tags": [{"Key": key, "Value": tags[key]} for key in tags]}

    def _listed(self, plural: str) -> Mapping[str, Any]:
        kind = plural.removesuffix("s")
        return {
            plural: [
                {
                    f"{kind}Name": one.name,
                    f"{kind}Arn": one.arn,
                    f"{kind}Status": one.status,
                    "CreationTime": one.created.timestamp(),
                    "LastModifiedTime": one.changed.timestamp(),
                    **({"EndpointName": one.members["EndpointName"], "EndpointArn": "", "VariantName": ""}
                       if kind == "InferenceComponent" else {}),
                }
                for one in self._of(kind)
            ]
        }  # fmt: skip


class InMemoryApp:
    """SageMaker in memory, for clients.

    Args:
        sagemaker: What answers.
    """

    def __init__(self, sagemaker: InMemorySageMaker) -> None:
        self._sagemaker = sagemaker

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI calls it."""
        request = Request(scope, receive)
        target = request.headers.get("x-amz-target", "")
        try:
            if not target.startswith("SageMaker."):
                raise ApiError("ServiceUnavailable", 503, "this local AWS has no copies: nothing serves here")
            members = json.loads(await request.body() or b"{}")
            value, status = await self._sagemaker.call(target.removeprefix("SageMaker."), members), 200
        except ApiError as error:
            value, status = {"__type": error.kind, "message": error.message, "Message": error.message}, error.status
        await Response(json.dumps(value), status, media_type=MEDIA_TYPE)(scope, receive, send)


def _refused(message: str) -> ApiError:
    return ApiError("ValidationException", 400, message)
