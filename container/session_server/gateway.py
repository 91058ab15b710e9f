"""One request, from its body to its reply: session, formatter, form, adapter, engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from pydantic_core import from_json

from session_server.adapter_references import AdapterChoice, choose_adapters
from session_server.adapters import NOT_LOADED, AdapterRegistry
from session_server.engine_client import EngineAnswer, EngineClient
from session_server.errors import BadRequestError, RequestError
from session_server.finite import check_finite
from session_server.formatting import FormatterPair, Formatters, choose_pair
from session_server.forms import Form, find_form, missing_form
from session_server.inputs_form import CONTENT_TYPE, InputsRequest, from_completion, to_completion
from session_server.media import check_media
from session_server.replies import (
    Reply,
    StreamReply,
    formatted_json,
    formatted_reply,
    json_reply,
    line_error,
    sse_error,
)
from session_server.session_protocol import (
    EXTERNAL_ID,
    OWN_KEYS,
    ActionKind,
    SessionAction,
    closed_headers,
    opened_headers,
    session_action,
)
from session_server.sessions import Session, SessionTable
from session_server.streams import formatted_events, inputs_lines

SESSIONS_OFF = (
    "sessions are off here, and this request has a session header or a requestType. Switch them on with "
    "SAGEMAKER_ENABLE_STATEFUL_SESSIONS=true in the container's environment, or send the request without"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A request whose body is read.

    Args:
        raw: The body.
        session: The value of X-Amzn-SageMaker-Session-Id.
        adapter: The value of X-Amzn-SageMaker-Adapter-Identifier.
        only: The one form that the request's path takes; None for /invocations.
    """

    raw: bytes
    session: str | None = None
    adapter: str | None = None
    only: Form | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A request as the engine gets it, and what its answer needs."""

    path: str
    data: bytes
    adapters: tuple[str, ...]
    pair: FormatterPair
    inputs: InputsRequest | None = None


class Gateway:
    """Answers requests.

    Args:
        engine: Calls the engine.
        adapters: The registered adapters.
        sessions: The open sessions; None when sessions are off.
        formatters: The base's formatters, if it has some.
    """

    def __init__(
        self,
        *,
        engine: EngineClient,
        adapters: AdapterRegistry,
        sessions: SessionTable | None,
        formatters: Formatters | None = None,
    ) -> None:
        self._engine = engine
        self._adapters = adapters
        self._sessions = sessions
        self._formatters = formatters

    async def answer(self, request: Incoming) -> Reply | StreamReply:
        """Answer a request.

        Raises:
            RequestError: It cannot be answered; the error says why and what to do.
        """
        body = _parse(request)
        action = self._action(request, body)
        if action.kind is ActionKind.NONE or self._sessions is None:
            return await self._infer(self._prepare(request, body))
        payload = {key: value for key, value in body.items() if key not in OWN_KEYS}
        if len(payload) == len(body):
            payload = body
        return await self._in_session(self._sessions, action, request, body, payload)

    def _action(self, request: Incoming, body: Mapping[str, Any]) -> SessionAction:
        if self._sessions is None:
            if request.session is not None or any(key in body for key in OWN_KEYS):
                raise BadRequestError(SESSIONS_OFF, code="sessions_disabled")
            return SessionAction(kind=ActionKind.NONE)
        return session_action(request.session, body)

    async def _in_session(
        self,
        sessions: SessionTable,
        action: SessionAction,
        request: Incoming,
        body: dict[str, Any],
        payload: dict[str, Any],
    ) -> Reply | StreamReply:
        if action.kind is ActionKind.CLOSE:
            return _close(sessions, str(action.session_id), payload)
        if action.kind is ActionKind.USE:
            session = sessions.use(str(action.session_id))
            if not self._is_inference(action, request, payload):
                return _session_reply(session, "open")
            return await self._infer(self._prepare(request, body, payload))
        # What cannot be answered must not leave a session behind whose id nobody learns.
        call = self._prepare(request, body, payload) if self._is_inference(action, request, payload) else None
        session = sessions.open(action.session_id)
        if call is None:
            return _session_reply(session, "created", opened_headers(session))
        try:
            reply = await self._infer(call)
        except BaseException:
            sessions.discard(session.id)
            raise
        if reply.status >= HTTPStatus.BAD_REQUEST:
            sessions.discard(session.id)
            return reply
        return replace(reply, headers={**reply.headers, **opened_headers(session)})

    def _is_inference(self, action: SessionAction, request: Incoming, payload: dict[str, Any]) -> bool:
        """Tell a request that only opens or asks for a session; other keys than the forms' do not make an inference."""
        if find_form(payload):
            return True
        # An input formatter may make a form of any keys; without one, only the forms' own keys do.
        if payload and self._pair(choose_adapters(payload, request.adapter, self._adapters.known)).input:
            return True
        return action.kind is ActionKind.USE and not action.by_body

    def _prepare(self, request: Incoming, body: dict[str, Any], payload: dict[str, Any] | None = None) -> _Call:
        payload = body if payload is None else payload
        known = self._adapters.known
        choice = choose_adapters(payload, request.adapter, known)
        pair = self._pair(choice)
        if pair.input:
            # The formatter may name another adapter, so what it returns is held to the same rule.
            choice = choose_adapters(pair.format_input({**payload}), request.adapter, known)
        form = find_form(choice.body, request.only)
        if form is None:
            raise missing_form(request.only)
        if form is Form.CHAT:
            check_media(choice.body)
        inputs = to_completion(choice.body) if form is Form.INPUTS else None
        engine_body = inputs.body if inputs else choice.body
        return _Call(
            path=form.engine_path,
            # What nothing changed goes on byte for byte.
            data=request.raw if engine_body is body else formatted_json(engine_body),
            adapters=choice.names,
            pair=pair,
            inputs=inputs,
        )

    def _pair(self, choice: AdapterChoice) -> FormatterPair:
        adapter = self._adapters.get(choice.names[0]).formatters if len(choice.names) == 1 else None
        return choose_pair(self._formatters, adapter)

    async def _infer(self, call: _Call) -> Reply | StreamReply:
        answer = await self._send(call)
        try:
            if call.adapters and answer.status == HTTPStatus.BAD_REQUEST:
                reply = await _whole(answer, call)
                if not NOT_LOADED.search(reply.body.decode("utf-8", "replace")):
                    return reply
                # What the engine has evicted or lost is loaded again, once.
                self._adapters.mark_lost(call.adapters)
                answer = await self._send(call)
            if answer.is_stream:
                return _stream(answer, call)
            return await _whole(answer, call)
        except BaseException:
            answer.close()
            raise

    async def _send(self, call: _Call) -> EngineAnswer:
        for name in call.adapters:
            await self._adapters.ensure_loaded(name)
        return await self._engine.send("POST", call.path, call.data)


def _parse(request: Incoming) -> dict[str, Any]:
    if not request.raw.strip() and request.session is not None:
        return {}
    try:
        body = from_json(request.raw, allow_inf_nan=False)
    except ValueError as error:
        raise BadRequestError(f"the body is not JSON: {error}", code="invalid_json") from error
    if not isinstance(body, dict):
        raise BadRequestError('the body is JSON, but no object; send {"messages": ...}', code="invalid_json")
    check_finite(body)
    return body


def _close(sessions: SessionTable, session_id: str, payload: Mapping[str, Any]) -> Reply:
    if form := find_form(payload):
        raise BadRequestError(
            f"the request closes a session and has {form.value}; send the inference first, then close"
        )
    sessions.close(session_id)
    return json_reply({"result": f"Session {session_id} closed", EXTERNAL_ID: session_id}, closed_headers(session_id))


def _session_reply(session: Session, state: str, headers: Mapping[str, str] | None = None) -> Reply:
    document = {"result": f"Session {session.id} {state}", EXTERNAL_ID: session.id, "expires": session.expires}
    return json_reply(document, headers)


async def _whole(answer: EngineAnswer, call: _Call) -> Reply:
    body = await answer.read()
    answer.close()
    if answer.status != HTTPStatus.OK or not (call.inputs or call.pair.output):
        return Reply(body=body, status=answer.status, content_type=answer.content_type)
    try:
        value = from_json(body)
        results = from_completion(value, call.inputs) if call.inputs else value
    except (ValueError, KeyError, TypeError) as error:
        raise RequestError(
            "the engine's answer has an unknown form", status=HTTPStatus.BAD_GATEWAY, code="engine_answer"
        ) from error
    if isinstance(results, list):
        return formatted_reply([call.pair.format_output(one) for one in results])
    return formatted_reply(call.pair.format_output(results))


def _stream(answer: EngineAnswer, call: _Call) -> StreamReply:
    if call.inputs and answer.status == HTTPStatus.OK:
        return StreamReply(
            chunks=inputs_lines(answer.chunks(), call.inputs, call.pair),
            close=answer.close,
            error=line_error,
            content_type=CONTENT_TYPE,
        )
    chunks = answer.chunks()
    if call.pair.output and answer.status == HTTPStatus.OK:
        chunks = formatted_events(chunks, call.pair)
    return StreamReply(
        chunks=chunks, close=answer.close, error=sse_error, status=answer.status, content_type=answer.content_type
    )
