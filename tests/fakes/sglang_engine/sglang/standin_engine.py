"""The endpoints of the stand-in: each answer says which adapter gave it and counts its tokens."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sglang.standin_http import BrokenConnectionError, Request, Response
from sglang.standin_loras import Lora, LoraError, Loras
from sglang.standin_options import Options

DONE = b"data: [DONE]\n\n"


def event(value: object) -> bytes:
    return b"data: " + json.dumps(value, separators=(",", ":")).encode() + b"\n\n"


def error(message: str, status: int = 400, kind: str = "BadRequest") -> Response:
    """SGLang's OpenAI error form: flat, without an `error` object."""
    return Response.of(
        {"object": "error", "message": message, "type": kind, "param": None, "code": status}, status=status
    )


@dataclass(slots=True, kw_only=True)
class Counters:
    """What a test asks about afterwards."""

    requests: list[dict[str, Any]] = field(default_factory=list)
    aborted: int = 0
    finished: int = 0
    running: int = 0
    tokens: int = 0


class Engine:
    """The state of one stand-in and its answers."""

    def __init__(self, *, options: Options, loras: Loras, model: str, served: str) -> None:
        self.options = options
        self.loras = loras
        self.counters = Counters()
        self._model = model
        self._served = served
        self._started = time.monotonic()
        self._routes = {
            ("GET", "/health"): self._health,
            ("GET", "/health_generate"): self._health,
            ("GET", "/metrics"): self._metrics,
            ("GET", "/server_info"): self._server_info,
            ("GET", "/v1/models"): self._models,
            ("POST", "/generate"): self._generate,
            ("POST", "/v1/completions"): self._completions,
            ("POST", "/v1/chat/completions"): self._chat,
            ("POST", "/load_lora_adapter"): self._load_lora,
            ("POST", "/unload_lora_adapter"): self._unload_lora,
            ("GET", "/standin/state"): self._state,
            ("POST", "/standin/control"): self._control,
        }

    async def handle(self, request: Request) -> Response:
        route = self._routes.get((request.method, request.path))
        if route is None:
            return Response.of({"detail": "Not Found"}, status=404)
        if not request.path.startswith("/standin/"):
            self._note(request)
        try:
            return await route(request)
        except LoraError as failure:
            return error(str(failure))
        except json.JSONDecodeError:
            return error("the body is not JSON")

    def _note(self, request: Request) -> None:
        entry = {"method": request.method, "path": request.path, "headers": request.headers}
        self.counters.requests.append(entry | {"body": request.body.decode("utf-8", "replace")})
        if self.options.log:
            with Path(self.options.log).open("a", encoding="utf-8") as log:
                log.write(json.dumps(self.counters.requests[-1]) + "\n")

    @property
    def _ready(self) -> bool:
        return time.monotonic() - self._started >= self.options.ready_seconds

    async def _health(self, _request: Request) -> Response:
        if not self._ready:
            return Response(status=503)
        tokens, waited = self.counters.tokens, 0.0
        while self.options.hang and tokens == self.counters.tokens and waited < 20:
            await asyncio.sleep(0.05)
            waited += 0.05
        return Response(status=503 if waited >= 20 else 200)

    async def _metrics(self, _request: Request) -> Response:
        text = f"# TYPE sglang:num_running_reqs gauge\nsglang:num_running_reqs {self.counters.running}\n"
        return Response(content_type="text/plain; version=0.0.4", body=text.encode())

    async def _server_info(self, _request: Request) -> Response:
        return Response.of({"model_path": self._model, "served_model_name": self._served, "version": "0.5.23"})

    async def _models(self, _request: Request) -> Response:
        base = {"id": self._served, "object": "model", "owned_by": "sglang", "root": self._served, "parent": None}
        adapters = [
            base | {"id": name, "root": path, "parent": self._served} for name, path in self.loras.names().items()
        ]
        return Response.of({"object": "list", "data": [base, *adapters]})

    async def _load_lora(self, request: Request) -> Response:
        body = json.loads(request.body)
        return await self._update_loras(
            self.loras.load(body["lora_name"], body["lora_path"], pinned=body.get("pinned", False))
        )

    async def _unload_lora(self, request: Request) -> Response:
        return await self._update_loras(self.loras.unload(json.loads(request.body)["lora_name"]))

    async def _update_loras(self, update: Any) -> Response:
        failure = None
        try:
            await update
        except LoraError as failed:
            failure = str(failed)
        answer = {"success": failure is None, "error_message": failure, "loaded_adapters": self.loras.names()}
        return Response.of(answer, status=200 if failure is None else 400)

    async def _state(self, _request: Request) -> Response:
        counters = self.counters
        state = {"aborted": counters.aborted, "finished": counters.finished, "running": counters.running}
        return Response.of(state | {"requests": counters.requests, "loads": self.loras.loads})

    async def _control(self, request: Request) -> Response:
        values = json.loads(request.body)
        if values.pop("forget_adapters", False):
            self.loras.forget()
        self.options.update(values)
        return Response.of({})

    # --- generation ---

    def _adapter_name(self, body: dict[str, Any]) -> str | None:
        """SGLang's order: an adapter in `model` after a colon, then `lora_path`."""
        model = body.get("model") or ""
        adapter = ""
        if ":" in model and model != self._served:
            served = model.startswith(f"{self._served}:")
            adapter = (model[len(self._served) + 1 :] if served else model.split(":", 1)[1]).strip()
        if adapter:
            return str(adapter)
        lora_path = body.get("lora_path")
        return next((one for one in lora_path if one), None) if isinstance(lora_path, list) else lora_path

    async def _tokens(self, request: Request, count: int, lora: Lora | None) -> AsyncGenerator[str]:
        """Make the tokens; count the request as aborted when its client goes away first."""
        self.counters.running += 1
        finished = False
        try:
            for index in range(count):
                await self._pause(request, index)
                if self.options.break_after == index:
                    raise BrokenConnectionError
                self.counters.tokens += 1
                yield f"<{lora.name if lora else 'base'}>" if index == 0 else f" {index}"
            finished = True
        finally:
            self.counters.running -= 1
            self.counters.finished += finished
            self.counters.aborted += not finished
            if lora:
                lora.users -= 1

    async def _pause(self, request: Request, index: int) -> None:
        """Wait for one token's time, or as long as the stand-in hangs or holds this token back."""
        await asyncio.sleep(self.options.token_seconds)
        while (self.options.hang or self.options.hold_after == index) and not request.gone.is_set():
            await asyncio.sleep(0.02)
        if request.gone.is_set():
            raise BrokenConnectionError

    async def _start(self, request: Request, body: dict[str, Any]) -> AsyncGenerator[str]:
        name = self._adapter_name(body)
        lora = await self.loras.acquire(name) if name else None
        wanted = body.get("max_tokens") or body.get("max_completion_tokens") or self.options.tokens
        return self._tokens(request, min(int(wanted), self.options.tokens), lora)

    async def _completions(self, request: Request) -> Response:
        return await self._openai(request, "text_completion")

    async def _chat(self, request: Request) -> Response:
        return await self._openai(request, "chat.completion")

    async def _openai(self, request: Request, kind: str) -> Response:
        body = request.json()
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return error("Unsupported Media Type: Only 'application/json' is allowed", kind="Bad Request")
        if not isinstance(body, dict) or ("messages" if kind == "chat.completion" else "prompt") not in body:
            return error("1 validation error: field required", kind="Bad Request")
        if not self._ready:
            return error("the engine is still loading", status=503)
        tokens = await self._start(request, body)
        head = {"id": "standin", "object": kind, "created": 0, "model": body.get("model", "default")}
        if body.get("stream"):
            return Response(content_type="text/event-stream; charset=utf-8", chunks=self._stream(head, tokens, body))
        texts = [text async for text in tokens]
        if self.options.garbage:
            return Response.of({"odd": True})
        prompts = len(body["prompt"]) if isinstance(body.get("prompt"), list) else 1
        choices = [
            {"index": index} | _choice(kind, "".join(texts), finish="length", streaming=False)
            for index in range(prompts)
        ]
        return Response.of(head | {"choices": choices, "usage": _usage(len(texts))})

    async def _stream(
        self, head: dict[str, Any], tokens: AsyncGenerator[str], body: dict[str, Any]
    ) -> AsyncGenerator[bytes]:
        kind, count = str(head["object"]), 0
        chunk_head = head | {"object": kind + (".chunk" if kind == "chat.completion" else "")}
        async with aclosing(tokens):
            async for text in tokens:
                count += 1
                yield event(chunk_head | {"choices": [{"index": 0} | _choice(kind, text, finish=None, streaming=True)]})
        yield event(chunk_head | {"choices": [{"index": 0} | _choice(kind, "", finish="length", streaming=True)]})
        if (body.get("stream_options") or {}).get("include_usage"):
            yield event(chunk_head | {"choices": [], "usage": _usage(count)})
        yield DONE

    async def _generate(self, request: Request) -> Response:
        body = request.json()
        if not isinstance(body, dict) or "text" not in body:
            return error("either text or input_ids must be given", kind="Bad Request")
        sampling = body.get("sampling_params") or {}
        tokens = await self._start(
            request, {"lora_path": body.get("lora_path"), "max_tokens": sampling.get("max_new_tokens")}
        )
        if body.get("stream"):
            return Response(content_type="text/event-stream", chunks=self._generate_stream(tokens))
        texts = [text async for text in tokens]
        return Response.of({"text": "".join(texts), "meta_info": {"completion_tokens": len(texts)}})

    async def _generate_stream(self, tokens: AsyncGenerator[str]) -> AsyncGenerator[bytes]:
        texts: list[str] = []
        async for text in tokens:
            texts.append(text)
            yield event({"text": "".join(texts), "meta_info": {"completion_tokens": len(texts)}})
        yield DONE


def _choice(kind: str, text: str, *, finish: str | None, streaming: bool) -> dict[str, Any]:
    if kind == "text_completion":
        return {"text": text, "logprobs": None, "finish_reason": finish}
    key = "delta" if streaming else "message"
    return {key: {"role": "assistant", "content": text}, "logprobs": None, "finish_reason": finish}


def _usage(count: int) -> dict[str, int]:
    return {"prompt_tokens": 3, "completion_tokens": count, "total_tokens": count + 3}
