"""How SageMaker registers an adapter with a container: POST /adapters."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlencode

from warmstack.local.container import Container, ContainerRequest, read_body
from warmstack.local.errors import LocalError


async def register_adapter(container: Container, name: str, folder: Path) -> None:
    """Register an adapter.

    Args:
        container: The copy.
        name: The adapter component's name.
        folder: Its files.

    Raises:
        LocalError: The container refused it.
    """
    members = {"name": name, "src": str(folder), "preload": True, "pin": False}
    # In both places: LMI reads the query, the others a JSON body. What the platform itself sends is not documented.
    query = urlencode({key: str(value).lower() if isinstance(value, bool) else value for key, value in members.items()})
    request = ContainerRequest(
        method="POST",
        path=f"/adapters?{query}",
        headers={"content-type": "application/json"},
        body=json.dumps(members).encode(),
    )
    reply = await container.send(request)
    answer = (await read_body(reply)).decode("utf-8", "replace")
    if not 200 <= reply.status < 300:
        raise LocalError(f"adapter {name} was not registered: the container answered {reply.status}: {answer[:500]}")
