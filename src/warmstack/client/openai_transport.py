"""How OpenAI's client sends: again where that is safe, and with a time-out that a stream can meet.

Its own retries repeat a request that timed out, which a copy may still be computing, and each 500 and 424 of a
container. Here the client's rules hold for both paths. Imported only where the package openai is installed.
"""

from __future__ import annotations

import re
import sys
from typing import Any

import openai

from warmstack.client.connections import Connection, is_loopback
from warmstack.client.error_documents import read_error
from warmstack.client.failures import EndpointError, NotConnected
from warmstack.client.json_values import read_json
from warmstack.client.mapping import map_service_error

# openai 2 is built on httpx, openai 3 on httpx2; their names are the same.
_roots = (base.__module__.partition(".")[0] for base in openai.DefaultHttpxClient.__mro__)
_network: Any = sys.modules[next(root for root in _roots if root.startswith("httpx"))]
_NOT_CONNECTED = (_network.ConnectError, _network.ConnectTimeout)
_STREAMS = re.compile(rb'"stream"\s*:\s*true')


class SafeHttpClient(openai.DefaultHttpxClient):
    """The HTTP client of an OpenAI client.

    Args:
        connection: Whose retries, time-outs and clock.
    """

    def __init__(self, connection: Connection) -> None:
        # Guard: a proxy of the environment does not know the loopback of this machine.
        url = connection.runtime_url
        super().__init__(trust_env=url is None or not is_loopback(url))
        self._connection = connection

    def send(self, request: Any, **options: Any) -> Any:
        """Send a request, and again while that is safe.

        Args:
            request: It.
            options: As of ``httpx.Client.send``.
        """
        self._give_time(request)
        around, policy = self._connection.surroundings, self._connection.retry
        began, tried = around.clock(), 0
        while True:
            tried += 1
            response, problem = None, None
            try:
                response = super().send(request, **options)
                failure = _failure_of(response)
            except _NOT_CONNECTED as error:
                problem, failure = error, NotConnected(f"there is no connection: {error}")
            if failure is not None:
                elapsed = around.clock() - began
                pause = policy.pause_seconds(failure, tried=tried, elapsed=elapsed, chance=around.random())
                if pause is not None:
                    if response is not None:
                        response.close()
                    around.sleep(pause)
                    continue
            if problem is not None:
                raise problem
            return response

    def _give_time(self, request: Any) -> None:
        """Let a stream wait longer for its bytes, unless the caller chose a time-out."""
        waits = self._connection.timeouts
        timeout = request.extensions.get("timeout") or {}
        # A quote within a text is escaped, so that no text looks like this member.
        if timeout.get("read") == waits.read_seconds and _STREAMS.search(request.read()):
            request.extensions = {**request.extensions, "timeout": {**timeout, "read": waits.stream_seconds}}


def usual_timeout(connection: Connection) -> Any:
    """Return the time-outs of a request that is not streamed.

    Args:
        connection: Whose.
    """
    waits = connection.timeouts
    return openai.Timeout(waits.read_seconds, connect=waits.connect_seconds)


def _failure_of(response: Any) -> EndpointError | None:
    """Return the failure that an answer is; its body is then read, which OpenAI's client does anyway."""
    if response.status_code < 400:
        return None
    try:
        error = read_error(read_json(response.read()))
    except ValueError:
        error = None
    code, message = (error.code, error.message) if error is not None else (None, "")
    return map_service_error(code, response.status_code, message)
