"""Ports for tests: one that a process can serve on later, and one that nobody serves on."""

from __future__ import annotations

import itertools
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

HOST = "127.0.0.1"
# Below 32768, where Linux begins to give out ports to those that ask for any; each worker of xdist has its own.
_numbers = itertools.count(20000 + 1000 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")))


@contextmanager
def kept_port() -> Iterator[int]:
    """Keep a port for a server that says which one it takes; nobody listens on it until that one does.

    On Linux a socket stays bound to it: other runs of the tests find it taken, and a server, which says
    SO_REUSEADDR as every server in Python does, does not. Elsewhere it would, and the port is only looked for.
    """
    with socket.socket() as holder:
        number = _bind_to_the_next(holder)
        if sys.platform == "linux":
            # Guard: after the bind, which has to fail where another holds the port in this way.
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        else:
            holder.close()
        yield number


@contextmanager
def refusing_port() -> Iterator[int]:
    """Keep a port that refuses connections: a socket is bound to it, and does not listen."""
    with socket.socket() as holder:
        holder.bind((HOST, 0))
        yield int(holder.getsockname()[1])


def _bind_to_the_next(holder: socket.socket) -> int:
    while True:
        number = next(_numbers)
        try:
            holder.bind((HOST, number))
        except OSError:
            continue
        return number
