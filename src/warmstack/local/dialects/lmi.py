"""LMI's container in front of an engine: DJL Serving with its asynchronous vLLM handler.

Read in djl-serving d21927c4 (2026-06-24): ``RequestParser.java``, ``AsyncRequestManager.java``, ``async_utils.py``,
``lmi_vllm/vllm_async_service.py``. What of it is a defect is named in :mod:`warmstack.local.dialects.defects`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warmstack.assembly import ModelDefinition
from warmstack.local.container import (
    Container,
    ContainerGoneError,
    ContainerReply,
    ContainerRequest,
    MemoryReply,
    read_body,
)
from warmstack.local.dialects.defects import (
    ALL_DEFECTS,
    CODE_RUNS_FOUR_TIMES,
    FORMATTER_DROPS_HEADER,
    FORMATTER_HIDES_ERRORS,
    LAZY_ADAPTER,
    REASON_LOST,
    UNKNOWN_MODEL_500,
)
from warmstack.local.dialects.lmi_adapters import LmiAdapters
from warmstack.local.dialects.lmi_code import ModelCode, Response
from warmstack.local.dialects.lmi_inputs import InputsRequest, to_completion, whole_answer
from warmstack.local.dialects.lmi_model import model_code
from warmstack.local.dialects.lmi_output import StreamedLines, formatted_line
from warmstack.local.dialects.lmi_replies import (
    JSON,
    HandlerFailure,
    ServerFailure,
    UncaughtFailure,
    encoded,
    line,
)
from warmstack.local.dialects.lmi_sessions import LmiSessions, SessionReply
from warmstack.local.wire.headers import ADAPTER_IDENTIFIER, CUSTOM_ATTRIBUTES, SESSION_ID

_INVOKED = re.compile(r"/invocations|/v1/chat/completions|/predictions/[^/]+|/models/[^/]+/invoke")
_METRICS = "/metrics"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A request as the engine gets it, and what its answer needs."""

    path: str
    body: bytes
    output: Callable[..., Any] | None
    inputs: InputsRequest | None = None


class LmiDialect:
    """A container of LMI.

    Args:
        model: The model.
        engine: The engine.
        clock: Seconds since the epoch, for sessions.
        defects: Those that are reproduced.
        code: A folder with the model's own model.py, where its build context carries none.

    Raises:
        LocalError: LMI would not start, or something in it does not run here.
    """

    def __init__(
        self,
        model: ModelDefinition,
        engine: Container,
        *,
        clock: Callable[[], float] = time.time,
        defects: frozenset[str] = ALL_DEFECTS,
        code: Path | None = None,
    ) -> None:
        environment = model.environment
        self._engine = engine
        self._defects = defects
        self._overrides_handler = environment.get("ALLOW_REQUEST_HANDLER_OVERRIDE", "").lower() == "true"
        four_times = CODE_RUNS_FOUR_TIMES in defects
        self._code = model_code(model, code, four_times=four_times)
        self._sessions = LmiSessions(environment, clock=clock, defects=defects)
        self._adapters = LmiAdapters(
            engine,
            enabled=environment.get("OPTION_ENABLE_LORA", "").lower() == "true",
            lazy=LAZY_ADAPTER not in defects,
            four_times=four_times,
        )
        self._texts: dict[int, str] = {}

    async def send(self, request: ContainerRequest) -> ContainerReply:
        """Answer a request as the container does."""
        path = request.path.partition("?")[0]
        try:
            if path == "/ping":
                health = await self._engine.send(ContainerRequest(method="GET", path="/health"))
                await health.close()
                return MemoryReply(status=200 if health.status == 200 else 500, headers=JSON, source=b"{}")
            if path == _METRICS:
                return await self._engine.send(request)
            if _INVOKED.fullmatch(path):
                return await self._invoke(request)
            reply = await self._adapters.answer(request)
            if reply is not None:
                return reply
            message = "Requested resource is not found, please refer to API document."
            raise ServerFailure(404, message, "ResourceNotFoundException")
        except (HandlerFailure, ServerFailure, UncaughtFailure) as failure:
            return failure.reply()

    async def _invoke(self, request: ContainerRequest) -> ContainerReply:
        properties = self._properties(request)
        try:
            call = await self._prepare(properties, request.body)
        except _InputFormatterError as error:
            raise HandlerFailure(f"Custom formatter failed: {error}") from error
        except (HandlerFailure, UncaughtFailure, ContainerGoneError):
            raise
        except ServerFailure as error:
            raise HandlerFailure(f"Input parsing failed: {error.message}") from error
        except Exception as error:  # as the handler does: whatever a payload makes fail is the client's
            raise HandlerFailure(f"Input parsing failed: {error}") from error
        if isinstance(call, MemoryReply):
            return call
        inner = ContainerRequest(method="POST", path=call.path, headers=JSON, body=call.body)
        reply = await self._engine.send(inner)
        if reply.status != 200:
            return self._refused(await read_body(reply), call)
        if reply.headers.get("content-type", "").startswith("text/event-stream"):
            return StreamedLines(reply, call.output, call.inputs)
        return await self._whole(json.loads(await read_body(reply)), call)

    def _properties(self, request: ContainerRequest) -> dict[str, str]:
        """Return the headers, with the custom attributes among them."""
        properties = dict(request.headers)
        for token in properties.pop(CUSTOM_ATTRIBUTES, "").split(";"):
            key, separator, value = token.partition("=")
            if separator:
                properties[key.strip().lower()] = value.strip()
        if "handler" in properties and not self._overrides_handler:
            raise ServerFailure(400, "The handler can't be overridden in a request")
        return properties

    async def _prepare(self, properties: Mapping[str, str], raw: bytes) -> _Call | MemoryReply:
        session = properties.get(SESSION_ID)
        self._sessions.check(session)
        payload: Any = _decoded(raw, properties.get("content-type", ""))
        adapter = properties.get(ADAPTER_IDENTIFIER)
        if adapter is None and "adapters" in payload:
            adapter = payload.pop("adapters")
        own = self._adapters.code_of(adapter) if adapter else ModelCode()
        payload = _formatted(own.input or self._code.input, payload)
        output = own.output or self._code.output
        if "model" not in payload and not isinstance(payload, dict):
            payload["model"] = None
        if adapter:
            await self._adapters.require(adapter)
            payload["model"] = adapter
        if "prompt" in payload:
            return _Call(path="/v1/completions", body=encoded(payload), output=output)
        if "inputs" in payload:
            inputs = to_completion(payload)
            return _Call(path="/v1/completions", body=encoded(inputs.body), output=output, inputs=inputs)
        if "messages" in payload:
            return _Call(path="/v1/chat/completions", body=encoded(payload), output=output)
        if "requestType" in payload:
            return self._in_session(self._sessions.answer(payload["requestType"], session), output)
        raise ValueError("invalid payload. must contain prompt, inputs, or messages")

    def _in_session(self, reply: SessionReply, output: Callable[..., Any] | None) -> MemoryReply:
        if output is None:
            return MemoryReply(headers={**JSON, **reply.properties}, source=line(json.dumps(reply.data)))
        # A formatter gets session replies, too, in this form.
        source = formatted_line(output, {"data": reply.data, "properties": dict(reply.properties)})
        kept = {} if FORMATTER_DROPS_HEADER in self._defects else reply.properties
        return MemoryReply(headers={**JSON, **kept}, source=source)

    def _refused(self, answer: bytes, call: _Call) -> MemoryReply:
        document = _object(answer)
        error = document.get("error")
        if not isinstance(error, dict):
            raise UncaughtFailure
        kind, param = error.get("type"), error.get("param")
        if kind == "Bad Request" or param == "prompt":
            # vLLM's own check of the form, which the handler makes while it reads the request.
            raise HandlerFailure(f"Input parsing failed: {error.get('message')}")
        if kind != "NotFoundError":
            # vLLM raises these, and returns only the one for an unknown model. (vLLM since 0.17 or so.)
            raise UncaughtFailure if REASON_LOST in self._defects else _told(error)
        if call.output is not None and FORMATTER_HIDES_ERRORS in self._defects:
            return MemoryReply(headers=JSON, source=formatted_line(call.output, Response(document)))
        if UNKNOWN_MODEL_500 not in self._defects:
            raise _told(error)
        members = ", ".join(f"{name}={error.get(name)!r}" for name in ("message", "type", "param", "code"))
        raise HandlerFailure(f"error=ErrorInfo({members})", 500)

    async def _whole(self, document: dict[str, Any], call: _Call) -> MemoryReply:
        if call.output is not None:
            return MemoryReply(headers=JSON, source=formatted_line(call.output, Response(document)))
        if call.inputs is not None:
            return MemoryReply(headers=JSON, source=await whole_answer(document, call.inputs, self._text_of) + b"\n")
        return MemoryReply(headers=JSON, source=encoded(document) + b"\n")

    async def _text_of(self, token: int) -> str:
        if token not in self._texts:
            request = ContainerRequest(
                method="POST", path="/detokenize", headers=JSON, body=encoded({"tokens": [token]})
            )
            self._texts[token] = str(json.loads(await read_body(await self._engine.send(request)))["prompt"])
        return self._texts[token]


class _InputFormatterError(Exception):
    """An input formatter failed; LMI does not tell why."""


def _object(answer: bytes) -> dict[str, Any]:
    try:
        document = json.loads(answer)
    except ValueError:
        document = None
    return document if isinstance(document, dict) else {}


def _told(error: Mapping[str, Any]) -> HandlerFailure:
    return HandlerFailure(str(error.get("message")), int(error.get("code") or 500))


def _decoded(raw: bytes, media: str) -> Any:
    if not media or "application/json" in media:
        return json.loads(raw.decode()) if raw or media else {"inputs": ""}
    if "text/plain" in media:
        return {"inputs": [raw.decode()]}
    if media == "application/x-www-form-urlencoded":
        return {"inputs": raw.decode()}
    raise ValueError(f"content type {media} is not read by the local endpoint; send JSON or plain text")


def _formatted(function: Callable[..., Any] | None, payload: Any) -> Any:
    if function is None:
        return payload
    try:
        return function(payload, tokenizer=None)
    except Exception as error:  # a user's function may raise anything
        raise _InputFormatterError("Custom input formatter execution failed") from error
