"""The operations of SageMaker's control plane that clients of an endpoint use: describe, list, and scale a component.

They speak JSON 1.1: ``POST /`` with ``X-Amz-Target: SageMaker.Operation``. Members: botocore 1.44.8, sagemaker.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from warmstack.local.api.control_lists import page
from warmstack.local.api.documents import Documents
from warmstack.local.api.replies import read_request
from warmstack.local.api.services import Services
from warmstack.local.hosting.constraints import check_members
from warmstack.local.hosting.records import refused, required_text
from warmstack.local.platform.copies import CopyState
from warmstack.local.platform.endpoints import Component, Endpoint
from warmstack.local.wire.errors import ApiError

MEDIA_TYPE = "application/x-amz-json-1.1"
_PREFIX = "SageMaker."
LARGEST_REQUEST_BYTES = 1 << 20
Members = Mapping[str, Any]


class ControlPlane:
    """Answers the control plane's operations.

    Args:
        services: What it works with.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._documents = Documents(services)
        hosting = services.hosting
        self._operations: Mapping[str, Callable[[Members], Awaitable[Members]]] = {
            **({} if hosting is None else hosting.operations),
            "DescribeEndpoint": self._describe_endpoint,
            "DescribeEndpointConfig": self._describe_config,
            "DescribeInferenceComponent": self._describe_component,
            "ListEndpoints": self._list_endpoints,
            "ListInferenceComponents": self._list_components,
            "UpdateInferenceComponentRuntimeConfig": self._update_runtime_config,
        }

    async def answer(self, request: Request) -> Response:
        """Answer one operation."""
        target = request.headers.get("x-amz-target", "")
        try:
            if not request.headers.get("authorization", "").startswith("AWS4-HMAC-SHA256 "):
                raise ApiError("MissingAuthenticationTokenException", 403, "Missing Authentication Token")
            if target.removeprefix(_PREFIX) not in self._operations or not target.startswith(_PREFIX):
                raise self._unknown(target)
            members = _members(await read_request(request, LARGEST_REQUEST_BYTES))
            return _json(await self.call(target.removeprefix(_PREFIX), members), 200)
        except ApiError as error:
            return _json({"__type": error.kind, "message": error.message, "Message": error.message}, error.status)

    async def call(self, operation: str, members: Members) -> Members:
        """Carry out one operation.

        Args:
            operation: Its name, such as ``DescribeEndpoint``.
            members: Its input, as botocore's.

        Raises:
            ApiError: It is refused, or not served here.
        """
        found = self._operations.get(operation)
        if found is None:
            raise self._unknown(operation)
        if self._services.hosting is not None:
            check_members(operation, members)
        return await found(members)

    def _unknown(self, target: str) -> ApiError:
        known = ", ".join(self._operations)
        shown = target[:100] or "a request without X-Amz-Target"
        return ApiError(
            "UnknownOperationException", 400, f"The local endpoint does not serve {shown}. It serves {known}."
        )

    async def _describe_endpoint(self, members: Members) -> Members:
        return self._documents.endpoint(self._endpoint(members))

    async def _describe_config(self, members: Members) -> Members:
        name = required_text(members, "EndpointConfigName")
        created = self._services.hosting and self._services.hosting.described_config(name)
        if created:
            return created
        for endpoint in self._services.platform.endpoints.values():
            if endpoint.definition.config_name == name:
                return self._documents.config(endpoint)
        raise _not_found("endpoint configuration", self._documents.arn("endpoint-config", name))

    async def _describe_component(self, members: Members) -> Members:
        return self._documents.component(*self._component(members))

    async def _list_endpoints(self, members: Members) -> Members:
        entries = [self._documents.endpoint_summary(one) for one in self._services.platform.endpoints.values()]
        return page(entries, members, key="Endpoints", name="EndpointName", status="EndpointStatus")

    async def _list_components(self, members: Members) -> Members:
        entries = [
            self._documents.component_summary(endpoint, component)
            for endpoint, component in self._components()
            if members.get("EndpointNameEquals") in (None, endpoint.name)
            and members.get("VariantNameEquals") in (None, self._documents.variant_name(endpoint, component))
        ]
        return page(
            entries,
            members,
            key="InferenceComponents",
            name="InferenceComponentName",
            status="InferenceComponentStatus",
        )

    async def _update_runtime_config(self, members: Members) -> Members:
        endpoint, component = self._component(members)
        wanted = members.get("DesiredRuntimeConfig")
        count = wanted.get("CopyCount") if isinstance(wanted, dict) else None
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise refused("DesiredRuntimeConfig.CopyCount must be a whole number, 0 or above")
        if component.definition.base is not None:
            raise refused(f"{component.name} is an adapter: it runs on the copies of {component.hosts}")
        if component.progress.status != "InService":
            way_out = "; update its specification, or delete it" if component.progress.status == "Failed" else ""
            raise refused(
                f"Cannot update inference component {component.name} while it is {component.progress.status}{way_out}"
            )
        if any(copy.state is CopyState.STARTING for copy in endpoint.copies_of(component.name)):
            raise refused(
                f"Cannot update inference component {component.name} while its copies are starting or stopping"
            )
        left = self._services.platform.left_for(endpoint, component)
        if count > left.copies:
            raise ApiError(
                "ResourceLimitExceeded",
                400,
                f"{component.name} can have {left.copies} copies on this machine: {left.why}",
            )
        await self._services.platform.scale(endpoint, component, count)
        return {"InferenceComponentArn": self._documents.arn("inference-component", component.name)}

    def _endpoint(self, members: Members) -> Endpoint:
        name = required_text(members, "EndpointName")
        found = self._services.platform.endpoints.get(name)
        if found is None:
            raise _not_found("endpoint", self._documents.arn("endpoint", name))
        return found

    def _components(self) -> Iterable[tuple[Endpoint, Component]]:
        for endpoint in self._services.platform.endpoints.values():
            for component in endpoint.components.values():
                yield endpoint, component

    def _component(self, members: Members) -> tuple[Endpoint, Component]:
        name = required_text(members, "InferenceComponentName")
        for endpoint, component in self._components():
            if component.name == name:
                return endpoint, component
        raise _not_found("inference component", self._documents.arn("inference-component", name))


def _members(raw: bytes) -> Members:
    try:
        value = json.loads(raw or b"{}")
    except (ValueError, RecursionError) as error:
        raise ApiError("SerializationException", 400, f"the body is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise ApiError("SerializationException", 400, "the body must be a JSON object")
    return value


def _not_found(what: str, arn: str) -> ApiError:
    return refused(f'Could not find {what} "{arn}".')


def _json(value: Members, status: int) -> Response:
    headers = {"x-amzn-RequestId": str(uuid.uuid4())}
    # Guard: a name in the request may hold half of a surrogate pair, for which UTF-8 has no bytes; escapes have.
    return Response(json.dumps(value), status, headers, MEDIA_TYPE)
