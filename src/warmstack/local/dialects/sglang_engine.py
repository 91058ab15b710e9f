"""SGLang's own HTTP server, played by another engine: its paths, its adapters, its form of errors.

Read in sglang 0.5.23 (2026-11-30): ``http_server.py``, ``openai/protocol.py``, ``openai/serving_base.py``. It takes any
name of a model for its own; an adapter is named by ``lora_path``, or after a colon in ``model``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from warmstack.local.container import Container, ContainerReply, ContainerRequest, MemoryReply, read_body

JSON = {"content-type": "application/json"}
_GENERATING = {
    "/invocations": "/v1/chat/completions",
    "/v1/chat/completions": "/v1/chat/completions",
    "/v1/completions": "/v1/completions",
}
_HEALTH = ("/ping", "/health", "/health_generate")
_LORA = ("/load_lora_adapter", "/unload_lora_adapter")


class SglangEngine:
    """An engine that is asked as SGLang is. A stock image of SGLang is this, with chats alone on /invocations.

    Args:
        engine: The engine behind it.
    """

    def __init__(self, engine: Container) -> None:
        self._engine = engine
        self._served: str | None = None

    async def send(self, request: ContainerRequest) -> ContainerReply:
        """Answer a request.

        Raises:
            ContainerGoneError: The engine is gone.
        """
        path = request.path.partition("?")[0]
        if request.method == "GET" and path in _HEALTH:
            return await self._engine.send(ContainerRequest(method="GET", path="/health"))
        if request.method == "POST" and path in _LORA:
            return await self._change(path, request.body)
        if request.method == "POST" and path in _GENERATING:
            return await self._generate(request, _GENERATING[path])
        if request.method == "GET" and path in ("/v1/models", "/metrics"):
            return await self._engine.send(request)
        return MemoryReply(status=404, headers=JSON, source=b'{"detail":"Not Found"}')

    async def _generate(self, request: ContainerRequest, path: str) -> ContainerReply:
        body, adapter = await self._adapted(request.body)
        headers = {"content-type": request.headers.get("content-type", "")}
        inner = ContainerRequest(method="POST", path=path, headers=headers, body=body)
        reply = await self._engine.send(inner)
        if reply.status == 200:
            return reply
        error = _error(await read_body(reply))
        if reply.status == 404 and adapter is not None:
            error |= {"message": f"Got LoRA adapter that has never been loaded: {adapter}", "type": "BadRequest"}
            return _refusal(400, error)
        return _refusal(reply.status, error)

    async def _adapted(self, raw: bytes) -> tuple[bytes, str | None]:
        """Return a body that names an adapter in the other engine's way, and the adapter."""
        try:
            body = json.loads(raw)
        except (ValueError, RecursionError):
            return raw, None
        if not isinstance(body, dict):
            return raw, None
        adapter = _adapter(body, await self._base())
        adapted = {key: value for key, value in body.items() if key not in ("model", "lora_path")}
        if adapter is not None:
            adapted["model"] = adapter
        return json.dumps(adapted, ensure_ascii=False).encode("utf-8", "surrogatepass"), adapter

    async def _base(self) -> str:
        """Return the base model's name, which may have colons itself."""
        if self._served is None:
            reply = await self._engine.send(ContainerRequest(method="GET", path="/v1/models"))
            self._served = str(json.loads(await read_body(reply))["data"][0]["id"])
        return self._served

    async def _change(self, path: str, raw: bytes) -> MemoryReply:
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return _refusal(400, {"message": "the body must be a JSON object", "type": "BadRequest", "param": None})
        wanted = {"lora_name": body.get("lora_name"), "lora_path": body.get("lora_path"), "load_inplace": True}
        inner = ContainerRequest(method="POST", path=f"/v1{path}", headers=JSON, body=json.dumps(wanted).encode())
        reply = await self._engine.send(inner)
        answer = await read_body(reply)
        done = reply.status == 200
        message = None if done else str(_error(answer)["message"])
        if not done and path == _LORA[1]:
            message = f"LoRA with name {wanted['lora_name']} does not exist"
        document = {"success": done, "error_message": message}
        return MemoryReply(status=200 if done else 400, headers=JSON, source=json.dumps(document).encode())


def _adapter(body: Mapping[str, Any], base: str) -> str | None:
    """Return the adapter that a body names, in SGLang's order: after a colon in ``model``, then ``lora_path``."""
    model, named = body.get("model"), body.get("lora_path")
    if isinstance(model, str) and ":" in model and model != base:
        after = model[len(base) + 1 :] if model.startswith(f"{base}:") else model.partition(":")[2]
        if after.strip():
            return after.strip()
    if isinstance(named, list):
        named = next((one for one in named if one), None)
    return named if isinstance(named, str) and named else None


def _error(answer: bytes) -> dict[str, Any]:
    try:
        document = json.loads(answer)
    except ValueError:
        document = None
    error = document.get("error") if isinstance(document, dict) else None
    if not isinstance(error, dict):
        return {"message": answer.decode("utf-8", "replace"), "type": "BadRequest", "param": None}
    return {key: error.get(key) for key in ("message", "type", "param")}


def _refusal(status: int, error: Mapping[str, Any]) -> MemoryReply:
    """Return an error in SGLang's form: flat, without an object ``error``."""
    document = {"object": "error", **error, "code": status}
    source = json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return MemoryReply(status=status, headers=JSON, source=source)
