"""The paths of our own: what there is to see, faults, and the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from warmstack.errors import WarmstackError
from warmstack.local.api.replies import json_response, read_request
from warmstack.local.api.services import Services
from warmstack.local.api.status import About, status_document
from warmstack.local.platform.fault_orders import FaultOrder, inflict
from warmstack.local.wire.errors import ApiError

PAGE = Path(__file__).parent / "page"
_MEDIA = {".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript"}
_PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:"
    ),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}
OWN_HEADER = "x-warmstack"
"""Whoever changes something has to send it. A page of another site cannot, without asking, which is never answered."""


class Sight:
    """Answers our own paths.

    Args:
        services: What it works with.
        about: What the status says of the process.
        stop: Has the process end.
    """

    def __init__(self, services: Services, about: About, stop: Callable[[], None]) -> None:
        self._services = services
        self._about = about
        self._stop = stop

    def routes(self, root: str) -> list[Route]:
        """Return the routes under a path."""
        return [
            Route(root, lambda _: RedirectResponse(f"{root}/")),
            Route(f"{root}/status", self._status),
            Route(f"{root}/faults", self._fault, methods=["POST"]),
            Route(f"{root}/stop", self._end, methods=["POST"]),
            *(Route(f"{root}/{name}", _file(file)) for name, file in _FILES.items()),
        ]

    async def _status(self, _request: Request) -> Response:
        return json_response(await status_document(self._services, self._about))

    async def _fault(self, request: Request) -> Response:
        if OWN_HEADER not in request.headers:
            return _refused()
        try:
            return json_response({"done": await inflict(self._services.platform, await _order(request))})
        except (WarmstackError, ApiError) as error:
            return json_response({"error": str(error)}, 400)

    async def _end(self, request: Request) -> Response:
        if OWN_HEADER not in request.headers:
            return _refused()
        self._stop()
        return json_response({"done": "stopping", "pid": self._about.pid})


_FILES = {"": "status.html", "status.css": "status.css", "status.js": "status.js"}


def _file(name: str) -> Callable[[Request], Response]:
    def answer(_request: Request) -> Response:
        path = PAGE / name
        return Response(path.read_bytes(), headers=_PAGE_HEADERS, media_type=_MEDIA[path.suffix])

    return answer


async def _order(request: Request) -> FaultOrder:
    try:
        value: Any = json.loads(await read_request(request, 1 << 16))
        return FaultOrder(**value)
    except (ValueError, TypeError, RecursionError) as error:
        raise ApiError("ValidationError", 400, f"the body is no order of a fault: {error}") from error


def _refused() -> Response:
    return json_response({"error": f"send the header {OWN_HEADER}: 1"}, 403)
