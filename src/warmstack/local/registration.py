"""How SageMaker registers an adapter with a container, and takes it away again: POST and DELETE /adapters."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from urllib.parse import urlencode

from warmstack.local.container import Container, ContainerGoneError, ContainerRequest, read_body
from warmstack.local.errors import LocalError

UNLOAD_SECONDS = 10.0
"""How long a container may take to unload an adapter. What SageMaker waits is not documented."""


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


async def unload(container: Container, name: str) -> bool:
    """Unload an adapter from a container: one that does not know it, or is gone, has none of it.

    Args:
        container: The copy.
        name: The adapter component's name.

    Returns:
        Whether it answered, or is gone; one that hangs keeps the adapter until it ends.
    """
    try:
        async with asyncio.timeout(UNLOAD_SECONDS):
            reply = await container.send(ContainerRequest(method="DELETE", path=f"/adapters/{name}"))
            await read_body(reply)
    except TimeoutError:
        return False
    except ContainerGoneError:
        pass
    return True
