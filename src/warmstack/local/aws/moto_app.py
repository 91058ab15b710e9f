"""moto in this process: its WSGI application, asked from ASGI without a port of its own."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any
from urllib.parse import unquote

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from warmstack.local.errors import LocalError

Environ = dict[str, Any]
WsgiApp = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]
IN_MEMORY_BYTES = 8 << 20
"""Larger bodies are kept in a file until moto has read them: assets are uploaded in one piece."""
THREADS = 4
# Guard: moto takes the account from the access key, and every key that a client may have is some account's.
ACCOUNT_HEADER = "x-moto-account-id"


def load_moto() -> WsgiApp:
    """Return moto's application.

    Raises:
        LocalError: moto is not installed.
    """
    try:
        from moto.core.config import default_user_config
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    except ImportError as error:
        raise LocalError(
            f"the local AWS needs {error.name}, which is not installed: pip install 'warmstack[local,local-aws]', or "
            "in a clone make setup"
        ) from error
    # The bootstrap stack's roles have policies of AWS's own, which moto leaves out unless it is told.
    default_user_config["iam"] = {"load_aws_managed_policies": True}
    application: WsgiApp = DomainDispatcherApplication(create_backend_app)
    return application


class MotoBridge:
    """Answers ASGI requests with a WSGI application, in threads.

    Args:
        application: The WSGI application.
        account: The account whose services answer.
    """

    def __init__(self, application: WsgiApp, account: str) -> None:
        self._application = application
        self._account = account
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="moto")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        with tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES) as body:
            size = await _read(receive, body)
            if size is None:
                return  # nobody waits for an answer
            if (said := _length(scope)) not in (None, size):
                await _incomplete(said, size)(scope, receive, send)
                return
            environ = _environ(scope, body, size)
            environ[f"HTTP_{ACCOUNT_HEADER.upper().replace('-', '_')}"] = self._account
            loop = asyncio.get_running_loop()
            try:
                asked = loop.run_in_executor(self._threads, ask_wsgi, self._application, environ)
                status, headers, pieces = await asked
            except Exception as error:
                if not isinstance(error, NotImplementedError):
                    traceback.print_exception(error)
                # Guard: clients try a 500 again for half a minute; what moto cannot do it cannot do the next time.
                await not_served(f"moto failed: {type(error).__name__}: {error}")(scope, receive, send)
                return
        raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": b"".join(pieces)})

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def not_served(what: str) -> Response:
    """Return the answer to a request that nobody serves: one that clients do not send again."""
    body = {"__type": "UnknownOperationException", "message": what, "Message": what}
    # JSON, as most services speak it; clients of the others show the status.
    return JSONResponse(body, 501, {"x-amzn-ErrorType": "UnknownOperationException"})


async def _read(receive: Receive, body: IO[bytes]) -> int | None:
    """Read a body; return its size in bytes, or None where the client went away before its end."""
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            # Guard: what has arrived by now would be stored as a whole object.
            return None
        size += body.write(message.get("body", b""))
        if not message.get("more_body", False):
            break
    body.seek(0)
    return size


def _length(scope: Scope) -> int | None:
    given = Headers(scope=scope).get("content-length", "")
    return int(given) if given.isdecimal() else None


def _incomplete(said: int | None, size: int) -> Response:
    text = f"the request says that its body has {said} bytes, and {size} have arrived: send it again"
    return Response(
        f"<Error><Code>IncompleteBody</Code><Message>{text}</Message></Error>", 400, media_type="application/xml"
    )


def _environ(scope: Scope, body: IO[bytes], size: int) -> Environ:
    server = scope.get("server") or ("localhost", 80)
    environ: Environ = basics(scope["method"], scope["query_string"].decode("latin-1"), body, size)
    # WSGI wants the bytes of a path as Latin-1, with the escapes resolved.
    environ["PATH_INFO"] = unquote(scope["raw_path"].split(b"?", 1)[0].decode("latin-1"), "latin-1")
    environ["RAW_URI"] = environ["REQUEST_URI"] = scope["raw_path"].decode("latin-1")
    environ |= {"SERVER_NAME": str(server[0]), "SERVER_PORT": str(server[1])}
    for name, value in scope["headers"]:
        add_header(environ, name.decode("latin-1"), value.decode("latin-1"))
    environ["CONTENT_LENGTH"] = str(size)
    return environ


def basics(method: str, query: str, body: IO[bytes], size: int) -> Environ:
    """Return what every request has in WSGI."""
    return {
        "REQUEST_METHOD": method,
        "QUERY_STRING": query,
        "SCRIPT_NAME": "",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "CONTENT_LENGTH": str(size),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": body,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }


def add_header(environ: Environ, name: str, value: str) -> None:
    """Add a header to a request."""
    upper = name.upper().replace("-", "_")
    if upper == "TRANSFER_ENCODING":
        return  # the body is whole by now
    key = upper if upper in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{upper}"
    environ[key] = f"{environ[key]},{value}" if key in environ and key != "CONTENT_LENGTH" else value


def ask_wsgi(application: WsgiApp, environ: Environ) -> tuple[int, list[tuple[str, str]], list[bytes]]:
    """Ask a WSGI application; return the status, the headers and the body."""
    started: list[tuple[str, list[tuple[str, str]]]] = []

    def start(status: str, headers: list[tuple[str, str]], _error: Any = None) -> Callable[[bytes], None]:
        started.append((status, headers))
        return lambda _piece: None

    answer = application(environ, start)
    try:
        pieces = list(answer)
    finally:
        close = getattr(answer, "close", None)
        if close is not None:
            close()
    status, headers = started[-1]
    return int(status.split(" ", 1)[0]), headers, pieces
