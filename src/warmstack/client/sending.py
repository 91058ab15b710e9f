"""Sends requests to one target: canonical bytes out, retries where they are safe, typed answers back."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from warmstack.client.answer import CallInfo, Response
from warmstack.client.call_options import split_options
from warmstack.client.connections import Connection
from warmstack.client.failures import EndpointError
from warmstack.client.requests import chat_body
from warmstack.client.responses import read_response
from warmstack.client.retries import Retrier
from warmstack.client.streaming import Stream, StreamHooks
from warmstack.client.transcript import Message
from warmstack.client.transport import Answer, Call, Parts
from warmstack.payload import canonical

if TYPE_CHECKING:
    from warmstack.outputs import EndpointOutputs

T = TypeVar("T")
log = logging.getLogger("warmstack.client")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where requests go.

    Args:
        endpoint: The endpoint's name.
        component: The inference component's physical name; None where the variant hosts the model.
        base: The spec's name of the component, or of the one that an adapter belongs to.
        dialect: lmi, vllm or sglang, where it is known.
        outputs: What the stack publishes, where it is known.
    """

    endpoint: str
    component: str | None = None
    base: str | None = None
    dialect: str | None = None
    outputs: EndpointOutputs | None = field(default=None, repr=False)


def _no_replay(_: EndpointError) -> bool:
    return False


def _nothing(*_: object) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamCares:
    """What a session wants to be told of a stream.

    Args:
        session_id: Returns the session that each attempt goes into.
        replay: Told of a failure before anything reached the caller; returns whether to send once more.
        finished: Told of the whole answer.
        ended: Called when the stream is over.
    """

    session_id: Callable[[], str | None] = lambda: None
    replay: Callable[[EndpointError], bool] = _no_replay
    finished: Callable[[Response], object] = _nothing
    ended: Callable[[], object] = _nothing


class RequestSender:
    """Sends requests to one target. Threads may share it.

    Args:
        connection: The network, and when to try again.
        target: Where to.
        headers: What every request carries, by the names of :class:`Call`.
    """

    def __init__(self, connection: Connection, target: Target, headers: Mapping[str, str]) -> None:
        self.connection = connection
        self.target = target
        self._headers = dict(headers)

    def ask(self, body: Mapping[str, Any], *, session_id: str, headers: Mapping[str, str] | None = None) -> Answer:
        """Send a body that opens or closes a session.

        Args:
            body: The request.
            session_id: The session, or ``NEW_SESSION``.
            headers: As of the class, for this request.

        Raises:
            EndpointError: It failed.
        """
        return self.send(canonical(body), headers or {}, session_id)

    def send(self, data: bytes, headers: Mapping[str, str], session_id: str | None = None) -> Answer:
        """Send bytes, and return the whole answer.

        Raises:
            EndpointError: The request failed.
        """
        call = self._call(data, headers, session_id)
        return self._tried(lambda: self.connection.transport.invoke(call))[0]

    def respond(self, body: Mapping[str, Any], headers: Mapping[str, str], session_id: str | None = None) -> Response:
        """Send a chat or a completion, and return its answer.

        Raises:
            PayloadError: The body cannot be sent.
            EndpointError: The request failed.
        """
        clock = self.connection.surroundings.clock
        call = self._call(canonical(body), headers, session_id)
        began = clock()
        answer, retries = self._tried(lambda: self.connection.transport.invoke(call))
        info = CallInfo(
            request_id=answer.request_id,
            variant=answer.variant,
            session_id=session_id,
            seconds=clock() - began,
            retries=retries,
        )
        return replace(read_response(answer.body), call=info)

    def stream(self, body: Mapping[str, Any], headers: Mapping[str, str], cares: StreamCares | None = None) -> Stream:
        """Send a request whose answer comes in parts.

        Raises:
            PayloadError: The body cannot be sent.
            EndpointError: The request failed before the first part.
        """
        told = cares or StreamCares()
        data = canonical(body)

        def start() -> tuple[Parts, int]:
            call = self._call(data, headers, told.session_id())
            return self._tried(lambda: self.connection.transport.stream(call))

        return Stream(
            StreamHooks(
                open=start,
                replay=told.replay,
                finished=told.finished,
                ended=told.ended,
                clock=self.connection.surroundings.clock,
                longest_seconds=self.connection.timeouts.stream_seconds,
            ),
            session_id=told.session_id,
        )

    def chat(self, session_id: str | None, messages: Sequence[Message], options: Mapping[str, Any]) -> Response:
        """Send a chat in a session.

        Raises:
            EndpointError: The request failed.
        """
        headers, members = split_options(options)
        return self.respond(chat_body(messages, options=members), headers, session_id)

    def chat_stream(self, messages: Sequence[Message], options: Mapping[str, Any], cares: StreamCares) -> Stream:
        """Send a chat in a session, whose answer comes in parts.

        Raises:
            EndpointError: The request failed before the first part.
        """
        headers, members = split_options(options)
        return self.stream(chat_body(messages, options=members, stream=True), headers, cares)

    def _call(self, data: bytes, headers: Mapping[str, str], session_id: str | None) -> Call:
        return Call(
            endpoint=self.target.endpoint,
            component=self.target.component,
            body=data,
            session_id=session_id,
            **(self._headers | dict(headers)),
        )

    def _tried(self, send: Callable[[], T]) -> tuple[T, int]:
        around = self.connection.surroundings
        retrier = Retrier(
            policy=self.connection.retry,
            clock=around.clock,
            sleep=around.sleep,
            random=around.random,
            noticed=lambda failure, pause: log.warning("%s; sent again in %.2f s", failure, pause),
        )
        return retrier.run(send)
