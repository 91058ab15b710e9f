"""Requests that come from somewhere else are refused: pages in a browser can reach the loopback, too."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from warmstack.local.api.replies import json_response


class TrustedHosts:
    """Refuses requests whose ``Host`` is not one of ours: a name that some page has made to mean this machine.

    Args:
        app: What answers the others.
        hosts: The names, without ports. Empty: any, for a server that listens for other machines.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI calls it."""
        if scope["type"] == "http" and self._hosts:
            host = Headers(scope=scope).get("host", "")
            name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
            if name.lower() not in self._hosts:
                message = f"Host is {host[:100]!r}; the local endpoint answers to {', '.join(sorted(self._hosts))}"
                response = json_response({"Message": message}, 403)
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)
