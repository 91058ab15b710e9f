"""The OpenAI-compatible path of endpoints and components: bearer tokens in, the container's own answers out.

Source: developer guide, realtime-endpoints-openai-compatible, and public tests against the live service (2026-08-27).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from warmstack.local.api.replies import openai_error, read_answer, read_request
from warmstack.local.api.resolve import component_of, endpoint_of, variant_of
from warmstack.local.api.services import Services
from warmstack.local.platform.dispatch import Call, Flight
from warmstack.local.platform.journal import Exchange
from warmstack.local.wire import errors
from warmstack.local.wire.bearer import token_problem
from warmstack.local.wire.errors import ApiError, validation_error
from warmstack.local.wire.headers import ENDPOINT_NAME, INFERENCE_COMPONENT
from warmstack.routing import RouteKey, RoutingRules, RoutingStrategy, messages_prefix, route_key

OPERATION = "OpenAI chat completions"


class OpenAiPath:
    """Answers chat completions.

    Args:
        services: What it works with.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    async def chat_completions(self, request: Request) -> Response:
        """Answer ``POST …/openai/v1/chat/completions``."""
        services, name = self._services, str(request.path_params["endpoint"])
        component = request.path_params.get("component")
        entry = services.journal.begin(
            at=services.now().timestamp(), endpoint=name, component=component, operation=OPERATION
        )
        problem = token_problem(request.headers.get("authorization"), region=services.region, now=services.now())
        if problem is not None:
            # The status is known from the live service; the text is this page's own.
            entry.failed(problem)
            response = openai_error(403, problem, kind="invalid_request_error", code="access_denied")
        else:
            try:
                response = await self._answer(request, name, component, entry)
            except ApiError as error:
                entry.failed(error.original_message or error.message)
                response = _error(error)
        entry.status = response.status_code
        return response

    async def not_routed(self, request: Request) -> Response:
        """Say that only chat completions are routed."""
        message = f"{request.url.path} is not routed; the OpenAI path of an endpoint serves chat/completions only."
        return openai_error(404, message, kind="invalid_request_error", code="not_found")

    async def _answer(self, request: Request, name: str, component_name: str | None, entry: Exchange) -> Response:
        services = self._services
        if INFERENCE_COMPONENT in request.headers:
            raise validation_error(
                "The header X-Amzn-SageMaker-Inference-Component is not allowed on this path; name the component in it."
            )
        if problems := ENDPOINT_NAME.problems(name):
            raise validation_error(problems[0])
        endpoint = endpoint_of(services, name)
        component = component_of(services, endpoint, component_name)
        variant = variant_of(services, endpoint, component, target=None, session=None)
        body = await read_request(request, services.limits.request_bytes)

        def key_of(rules: RoutingRules) -> RouteKey | None:
            if rules.strategy is not RoutingStrategy.PREFIX_AWARE or rules.prefix_length is None:
                return None
            value: object = None
            with suppress(ValueError, RecursionError):
                value = json.loads(body)
            messages = value.get("messages") if isinstance(value, dict) else None
            prefix = messages_prefix(messages, rules.prefix_length, text_parts=rules.choices.text_parts)
            return route_key(prefix, None, short_bodies=rules.choices.short_bodies)

        headers = {key: request.headers[key] for key in ("content-type", "accept") if key in request.headers}
        call = Call(
            endpoint=endpoint,
            component=component,
            variant=variant,
            session=None,
            key_of=key_of,
            path="/v1/chat/completions",
            headers=headers,
            body=body,
        )
        return await self._send(call, entry)

    async def _send(self, call: Call, entry: Exchange) -> Response:
        services = self._services
        where = services.where(call.endpoint.name)
        loop = asyncio.get_running_loop()
        began = loop.time()
        flight: Flight | None = None
        handed_on = False
        try:
            async with asyncio.timeout_at(began + services.limits.response_seconds) as timeout:
                flight = await services.dispatcher.send(call, entry, where)
                media = flight.headers.get("content-type", "application/json")
                if 200 <= flight.status < 300 and media.startswith(("text/event-stream", "application/jsonlines")):
                    timeout.reschedule(None)
                    handed_on = True
                    deadline = began + services.limits.stream_seconds
                    return StreamingResponse(_passed_on(flight, deadline), flight.status, media_type=media)
                body = await read_answer(flight, where, services.limits.response_bytes)
        except TimeoutError as error:
            raise where.process_error(errors.TIMED_OUT) from error
        finally:
            if flight is not None and not handed_on:
                await flight.close()
        return Response(body, flight.status, media_type=media)


async def _passed_on(flight: Flight, deadline: float) -> AsyncIterator[bytes]:
    """Yield server-sent events as they are. What a client sees of a stream that breaks is not documented: it ends."""
    try:
        async with asyncio.timeout_at(deadline):
            async for piece in flight.pieces():
                yield piece
    finally:
        await flight.close()


def _error(error: ApiError) -> Response:
    if error.kind == "ModelError":
        # The container's own status, and not 424; without one that tells of an error, the gateway's.
        given = error.original_status or 0
        status = given if given >= 400 else 500
        return openai_error(status, error.message, kind="server_error", code="model_error")
    if error.status >= 500:
        return openai_error(error.status, error.message, kind="server_error", code="service_unavailable")
    return openai_error(error.status, error.message, kind="invalid_request_error", code="validation_error")
