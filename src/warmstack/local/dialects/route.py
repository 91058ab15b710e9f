"""``route=`` in the custom attributes: images on Amazon Linux 2023 send /invocations to any path of the server.

Their middleware runs outside of everything else, so such a request meets neither sessions nor adapters of the
standards. (aws/deep-learning-containers, ``sagemaker_serve.py``, read 2026-11-30; the images on Ubuntu have none.)
"""

from __future__ import annotations

import re
from dataclasses import replace

from warmstack.assembly import ModelDefinition
from warmstack.local.container import Container, ContainerReply, ContainerRequest
from warmstack.local.wire.headers import CUSTOM_ATTRIBUTES

_ROUTE = re.compile(r"route=(/[^\s,]+)")
_IMAGE = re.compile(r"(?:^|[/=\s])vllm:server-")
_LARGEST_BYTES = 1_000_000


class Routed:
    """A container whose /invocations goes where a request's custom attributes say.

    Args:
        container: The container.
    """

    def __init__(self, container: Container) -> None:
        self._container = container

    async def send(self, request: ContainerRequest) -> ContainerReply:
        """Answer a request."""
        if request.path.partition("?")[0] == "/invocations":
            route = _ROUTE.search(request.headers.get(CUSTOM_ATTRIBUTES, ""))
            if route is not None:
                request = replace(request, path=route[1])
        return await self._container.send(request)


def is_routed(model: ModelDefinition) -> bool:
    """Return whether a model's image is one with this middleware, or is built from one."""
    if _IMAGE.search(model.image):
        return True
    try:
        dockerfile = (model.staged / "Dockerfile").read_bytes()[:_LARGEST_BYTES] if model.staged else b""
    except OSError:
        return False
    return _IMAGE.search(dockerfile.decode("utf-8", "replace")) is not None
