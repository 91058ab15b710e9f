"""Which path does what."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from warmstack.local.api.control_plane import ControlPlane
from warmstack.local.api.invoke import Invocations
from warmstack.local.api.openai_path import OpenAiPath
from warmstack.local.api.replies import json_response
from warmstack.local.api.services import Services
from warmstack.local.api.sight import Sight
from warmstack.local.api.trusted import TrustedHosts

OWN = "/_warmstack"
"""The paths that SageMaker does not have: status, faults and the end."""


def make_app(services: Services, sight: Sight, hosts: frozenset[str]) -> ASGIApp:
    """Return the ASGI application.

    Args:
        services: What the handlers work with.
        sight: The status page, and what can be done from outside.
        hosts: The names under which it may be asked.
    """
    invocations, openai, control = Invocations(services), OpenAiPath(services), ControlPlane(services)
    openai_path = "/endpoints/{endpoint}/openai/v1"
    component_path = "/endpoints/{endpoint}/inference-components/{component}/openai/v1"
    routes = [
        Route("/endpoints/{endpoint}/invocations", invocations.invoke, methods=["POST"]),
        Route(
            "/endpoints/{endpoint}/invocations-response-stream",
            invocations.invoke_with_response_stream,
            methods=["POST"],
        ),
        Route("/endpoints/{endpoint}/async-invocations", invocations.invoke_async, methods=["POST"]),
        Route(f"{openai_path}/chat/completions", openai.chat_completions, methods=["POST"]),
        Route(f"{component_path}/chat/completions", openai.chat_completions, methods=["POST"]),
        Route(f"{openai_path}/{{rest:path}}", openai.not_routed, methods=["GET", "POST"]),
        Route(f"{component_path}/{{rest:path}}", openai.not_routed, methods=["GET", "POST"]),
        Route("/", control.answer, methods=["POST"]),
        *sight.routes(OWN),
    ]
    app = Starlette(routes=routes, exception_handlers={404: _unknown, 405: _unknown, 500: _failed})
    app.router.redirect_slashes = False  # SageMaker's paths have no second form
    return TrustedHosts(app, hosts)


async def _unknown(request: Request, _error: Exception) -> Response:
    message = f"{request.method} {request.url.path}: no operation of SageMaker's runtime has this path."
    body = {"Message": message, "status_page": f"{OWN}/"}
    return json_response(body, 404, {"x-amzn-ErrorType": "UnknownOperationException"})


async def _failed(_request: Request, error: Exception) -> Response:
    body = {"Message": f"The local endpoint failed: {type(error).__name__}. Its log has the traceback."}
    return json_response(body, 500, {"x-amzn-ErrorType": "InternalFailure"})
