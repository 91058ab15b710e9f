"""Stand-ins for what surrounds the bridges: LMI's way to call model.py, and an ASGI server with its application."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import shutil
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

CODE = Path(__file__).parents[3] / "container" / "formatters"
DONE = "data: [DONE]\n\n"
Application = Callable[..., Awaitable[None]]


def event(chunk: Any) -> str:
    return f"data: {json.dumps(chunk)}\n\n"


class Reply:
    """An object of vLLM's: it can dump itself as JSON."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def model_dump_json(self) -> str:
        return json.dumps(self._document)


class FakeLmi:
    """Finds and calls formatters as DJL Serving does (lmi20 to lmi27)."""

    def __init__(self) -> None:
        self._found: dict[str | None, dict[str, Callable[..., Any]]] = {None: {}}

    def register(self, folder: Path, adapter: str | None = None, *, runtime: bool = True) -> None:
        """Load model.py from a folder, once for each of the marks it looks for."""
        shutil.copyfile(CODE / "lmi_model.py", folder / "model.py")
        if runtime:
            shutil.copyfile(CODE / "warmstack_formatters.py", folder / "warmstack_formatters.py")
        name = f"ns_{adapter.replace('-', '_').replace('.', '_')}" if adapter else "model_0a1b2c3d"
        found = {}
        for mark in ("is_input_formatter", "is_output_formatter", "is_prediction_handler", "is_init_handler"):
            spec = importlib.util.spec_from_file_location(name, folder / "model.py")
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            spec.loader.exec_module(module)
            for attribute in dir(module):
                one = getattr(module, attribute)
                if callable(one) and getattr(one, mark, False):
                    found[mark] = one
                    break
        sys.modules.pop(name)
        self._found[adapter] = found

    def formatter(self, mark: str, adapter: str | None) -> Callable[..., Any] | None:
        return self._found.get(adapter, {}).get(mark) or self._found[None].get(mark)

    def answer(
        self, payload: dict[str, Any], engine: Callable[[dict[str, Any]], Any], adapter: str | None = None
    ) -> tuple[int, str]:
        """Return the status and the body; an engine returns an object, or a list of events."""
        before = self.formatter("is_input_formatter", adapter)
        after = self.formatter("is_output_formatter", adapter)
        if before is not None:
            try:
                payload = before(payload, tokenizer=object())
            except Exception:
                return 424, "Custom formatter failed: Custom input formatter execution failed"
        try:
            if "model" not in payload:
                payload["model"] = adapter or "lmi"
        except Exception as error:
            return 424, f"Input parsing failed: {error}"
        response = engine(payload)
        if isinstance(response, list):
            parts = [after(one) if after else one.removeprefix("data: ").strip() for one in response]
            return 200, "".join(self._data(one) for one in [*parts, ""])
        formatted = after(response) if after else response
        if hasattr(formatted, "model_dump_json"):
            formatted = formatted.model_dump_json()
        return 200, self._data(formatted)

    def _data(self, data: Any) -> str:
        # LMI puts a line break behind everything, and its front end leaves out what is empty.
        text = json.dumps(data, ensure_ascii=False) if isinstance(data, dict) else data
        return str(text + "\n")


class Answer:
    """What an ASGI application sent."""

    def __init__(self, messages: Sequence[dict[str, Any]]) -> None:
        self.messages = messages
        start = messages[0]
        assert start["type"] == "http.response.start"
        assert [one["type"] for one in messages[1:]] == ["http.response.body"] * (len(messages) - 1)
        assert [one.get("more_body", False) for one in messages[1:]] == [True] * (len(messages) - 2) + [False]
        self.status: int = start["status"]
        self.headers = {key.lower().decode(): value.decode() for key, value in start["headers"]}
        self.body = b"".join(one.get("body", b"") for one in messages[1:])

    @property
    def json(self) -> Any:
        assert int(self.headers["content-length"]) == len(self.body)
        return json.loads(self.body)


def ask(
    app: Application,
    body: bytes | dict[str, Any],
    path: str = "/invocations",
    *,
    method: str = "POST",
    adapter: str | None = None,
    query: str = "",
    kind: str = "application/json",
    cuts: int = 1,
) -> Answer:
    """Send one request, its body in as many parts as there are cuts."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = [(b"Content-Type", kind.encode()), (b"content-length", str(len(data)).encode())]
    if adapter is not None:
        headers.append((b"x-amzn-sagemaker-adapter-identifier", adapter.encode()))
    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": headers}
    size = max(1, -(-len(data) // cuts))
    parts = [data[at : at + size] for at in range(0, len(data), size)] or [b""]
    waiting = [
        {"type": "http.request", "body": part, "more_body": at + 1 < len(parts)} for at, part in enumerate(parts)
    ]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))  # type: ignore[arg-type]
    return Answer(sent)


class Engine:
    """An application in the place of vLLM: it keeps the payloads, and answers with an object, events or an error."""

    def __init__(
        self, answer: Callable[[dict[str, Any]], Any], *, parts: Callable[[bytes], list[bytes]] | None = None
    ) -> None:
        self._answer, self._parts = answer, parts or (lambda whole: [whole])
        self.payloads: list[Any] = []
        self.scopes: list[Any] = []
        self.stopped = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        assert int(dict(scope["headers"])[b"content-length"]) == len(body)
        self.scopes.append(scope)
        try:
            payload = json.loads(body)
        except ValueError:
            payload = body
        self.payloads.append(payload)
        answer = self._answer(payload)
        status = answer.pop("status", 200) if isinstance(answer, dict) else 200
        stream = isinstance(answer, list)
        data = "".join(answer).encode() if stream else json.dumps(answer).encode()
        headers = [(b"content-type", b"text/event-stream; charset=utf-8" if stream else b"application/json")]
        headers += [] if stream else [(b"content-length", str(len(data)).encode())]
        try:
            await send({"type": "http.response.start", "status": status, "headers": headers})
            for part in self._parts(data):
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        except OSError:
            self.stopped = True
            raise RuntimeError("the client has gone") from None
