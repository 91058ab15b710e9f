"""moto in this process, asked by botocore: requests go to its WSGI application instead of the network."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote, urlsplit

from warmstack.local.aws.errors import RefusedError
from warmstack.local.aws.moto_app import ACCOUNT_HEADER, WsgiApp, add_header, ask_wsgi, basics
from warmstack.local.own_session import own_session


class MotoCalls:
    """Calls services by botocore, whose requests go to a WSGI application instead of the network.

    Args:
        application: The WSGI application.
        account: The account whose services answer.
    """

    def __init__(self, application: WsgiApp, account: str) -> None:
        self._application = application
        self._account = account
        self._clients: dict[tuple[str, str], Any] = {}
        # One thread: what handlers ask for happens in the order in which they ask.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="aws-calls")

    async def call(self, service: str, operation: str, members: Mapping[str, Any], *, region: str) -> Mapping[str, Any]:
        """Call an operation, such as ``iam`` ``CreateRole``.

        Raises:
            RefusedError: The service refuses, or the members are not what it takes.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._call, service, operation, dict(members), region)

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _call(self, service: str, operation: str, members: dict[str, Any], region: str) -> Mapping[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError

        client = self._client(service, region)
        try:
            answer: Mapping[str, Any] = client._make_api_call(operation, members)
            return answer
        except ClientError as error:
            found = error.response["Error"]
            raise RefusedError(str(found.get("Code", "")), str(found.get("Message", error))) from error
        except BotoCoreError as error:
            raise RefusedError(type(error).__name__, str(error)) from error

    def _client(self, service: str, region: str) -> Any:
        if (service, region) not in self._clients:
            from botocore.config import Config

            # Guard: the environment points at this very server; nothing of it must be read here.
            session = own_session()
            session.set_credentials("local", "local")
            client = session.create_client(
                service,
                region_name=region,
                config=Config(ignore_configured_endpoint_urls=True, retries={"total_max_attempts": 1}),
            )
            client.meta.events.register("before-send", self._answer)
            self._clients[service, region] = client
        return self._clients[service, region]

    def _answer(self, request: Any, **_: Any) -> Any:
        from botocore.awsrequest import AWSResponse

        split = urlsplit(request.url)
        body = request.body or b""
        data: bytes = body.encode() if isinstance(body, str) else body if isinstance(body, bytes) else body.read()
        environ = basics(request.method, split.query, io.BytesIO(data), len(data))
        environ |= {"PATH_INFO": unquote(split.path, "latin-1") or "/", "RAW_URI": split.path or "/",
                    "SERVER_NAME": split.hostname or "", "SERVER_PORT": str(split.port or 80)}  # fmt: skip
        for name, value in request.headers.items():
            add_header(environ, name, value if isinstance(value, str) else value.decode("latin-1"))
        environ["HTTP_HOST"] = split.netloc
        environ["CONTENT_LENGTH"] = str(len(data))
        add_header(environ, ACCOUNT_HEADER, self._account)
        status, headers, pieces = ask_wsgi(self._application, environ)
        return AWSResponse(request.url, status, _Headers(headers), _Raw(b"".join(pieces)))


class _Headers(dict[str, str]):
    """Headers that are found under any case."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        super().__init__((name.lower(), value) for name, value in pairs)

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(name.lower(), default)

    def __getitem__(self, name: str) -> str:
        return super().__getitem__(name.lower())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and super().__contains__(name.lower())


class _Raw(io.BytesIO):
    """A body as botocore reads one."""

    def stream(self, amount: int = 1 << 16, **_: Any) -> Iterable[bytes]:
        """Yield the body in pieces."""
        while piece := self.read(amount):
            yield piece
