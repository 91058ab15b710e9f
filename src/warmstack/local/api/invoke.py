"""InvokeEndpoint and InvokeEndpointWithResponseStream."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from warmstack.local.api.replies import error_response, read_answer, read_request
from warmstack.local.api.resolve import component_of, endpoint_of, variant_of
from warmstack.local.api.services import Services
from warmstack.local.container import ContainerGoneError
from warmstack.local.platform.dispatch import Call, Flight, container_headers
from warmstack.local.platform.journal import Exchange
from warmstack.local.wire import errors, event_stream
from warmstack.local.wire.errors import ApiError, Whereabouts
from warmstack.local.wire.headers import (
    CLOSED_SESSION_ID,
    CUSTOM_ATTRIBUTES,
    INFERENCE_COMPONENT,
    INVOKE_HEADERS,
    NEW_SESSION_ID,
    PREFIX_AWARE_ID,
    SESSION_ID,
    STREAM_HEADERS,
    TARGET_VARIANT,
    check,
)
from warmstack.routing import RouteKey, RoutingRules, RoutingStrategy, body_prefix, route_key


class Invocations:
    """Answers the two operations.

    Args:
        services: What it works with.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    async def invoke(self, request: Request) -> Response:
        """Answer InvokeEndpoint."""
        return await self._answered(request, "InvokeEndpoint")

    async def invoke_with_response_stream(self, request: Request) -> Response:
        """Answer InvokeEndpointWithResponseStream."""
        return await self._answered(request, "InvokeEndpointWithResponseStream")

    async def invoke_async(self, _request: Request) -> Response:
        """Say that InvokeEndpointAsync is not served."""
        message = "InvokeEndpointAsync is not served by the local endpoint; use InvokeEndpoint or its streaming form."
        return error_response(errors.validation_error(message), str(uuid.uuid4()))

    async def _answered(self, request: Request, operation: str) -> Response:
        services, name = self._services, str(request.path_params["endpoint"])
        headers = {key.lower(): value for key, value in request.headers.items()}
        request_id = str(uuid.uuid4())
        entry = services.journal.begin(
            at=services.now().timestamp(),
            endpoint=name,
            component=headers.get(INFERENCE_COMPONENT),
            operation=operation,
        )
        try:
            if not headers.get("authorization", "").startswith("AWS4-HMAC-SHA256 "):
                raise ApiError("MissingAuthenticationTokenException", 403, "Missing Authentication Token")
            call = await self._call(request, name, headers, streamed=operation != "InvokeEndpoint")
            where = services.where(name)
            if operation == "InvokeEndpoint":
                response = await self._whole(call, entry, where)
            else:
                response = await self._streamed(call, entry, where)
        except ApiError as error:
            entry.failed(error.original_message or error.message)
            response = error_response(error, request_id)
        entry.status = response.status_code
        response.headers["x-amzn-RequestId"] = request_id
        return response

    async def _call(self, request: Request, name: str, headers: Mapping[str, str], *, streamed: bool) -> Call:
        services = self._services
        problem = check(name, headers, STREAM_HEADERS if streamed else INVOKE_HEADERS)
        if problem is not None:
            raise problem
        endpoint = endpoint_of(services, name)
        component = component_of(services, endpoint, headers.get(INFERENCE_COMPONENT))
        session = headers.get(SESSION_ID)
        variant = variant_of(services, endpoint, component, target=headers.get(TARGET_VARIANT), session=session)
        body = await read_request(request, services.limits.request_bytes)
        prefix_id = headers.get(PREFIX_AWARE_ID)

        def key_of(rules: RoutingRules) -> RouteKey | None:
            if rules.strategy is not RoutingStrategy.PREFIX_AWARE or rules.prefix_length is None:
                return None
            return route_key(body_prefix(body, rules.prefix_length), prefix_id, short_bodies=rules.choices.short_bodies)

        api = "InvokeEndpointWithResponseStream" if streamed else "InvokeEndpoint"
        return Call(
            endpoint=endpoint,
            component=component,
            variant=variant,
            session=session,
            key_of=key_of,
            path="/invocations",
            headers=container_headers(headers, api=api, streamed=streamed),
            body=body,
        )

    async def _whole(self, call: Call, entry: Exchange, where: Whereabouts) -> Response:
        limits = self._services.limits
        flight: Flight | None = None
        try:
            async with asyncio.timeout(limits.response_seconds):
                flight = await self._services.dispatcher.send(call, entry, where)
                body = await read_answer(flight, where, limits.response_bytes)
        except TimeoutError as error:
            raise where.process_error(errors.TIMED_OUT) from error
        finally:
            if flight is not None:
                await flight.close()
        headers = _result_headers(call, flight)
        headers["content-type"] = flight.headers.get("content-type", "application/octet-stream")
        return Response(body, headers=headers)

    async def _streamed(self, call: Call, entry: Exchange, where: Whereabouts) -> Response:
        limits = self._services.limits
        deadline = asyncio.get_running_loop().time() + limits.stream_seconds
        flight: Flight | None = None
        try:
            async with asyncio.timeout_at(deadline):
                flight = await self._services.dispatcher.send(call, entry, where)
                if not 200 <= flight.status < 300:
                    await read_answer(flight, where, limits.response_bytes)
        except TimeoutError as error:
            if flight is not None:
                await flight.close()
            raise where.process_error(errors.TIMED_OUT) from error
        except BaseException:
            if flight is not None:
                await flight.close()
            raise
        headers = _result_headers(call, flight)
        # Guard: sessions are neither opened nor closed on a stream; the operation has no members for it.
        for name in (CLOSED_SESSION_ID, NEW_SESSION_ID):
            headers.pop(name, None)
        headers["X-Amzn-SageMaker-Content-Type"] = flight.headers.get("content-type", "application/octet-stream")
        return StreamingResponse(self._frames(flight, deadline), headers=headers, media_type=event_stream.CONTENT_TYPE)

    async def _frames(self, flight: Flight, deadline: float) -> AsyncIterator[bytes]:
        try:
            async with asyncio.timeout_at(deadline):
                async for piece in flight.pieces():
                    for part in self._services.cutting(piece):
                        yield event_stream.payload_part(part)
        except TimeoutError:
            yield event_stream.model_stream_error(errors.STREAM_TIMED_OUT, event_stream.MODEL_INVOCATION_TIME_EXCEEDED)
        except ContainerGoneError:
            yield event_stream.model_stream_error(errors.PROCESS_EXITED, event_stream.STREAM_BROKEN)
        finally:
            await flight.close()


def _result_headers(call: Call, flight: Flight) -> dict[str, str]:
    headers = {"x-Amzn-Invoked-Production-Variant": call.variant.definition.name}
    for name in (CUSTOM_ATTRIBUTES, CLOSED_SESSION_ID):
        with suppress(KeyError):
            headers[name] = flight.headers[name]
    return headers | flight.session_headers
