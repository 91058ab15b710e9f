"""Sessions of SageMaker that survive: opened, renewed, lost and opened anew, with the conversation kept here."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from threading import Lock
from types import TracebackType
from typing import Any, Self
from weakref import ref

from warmstack.client.answer import Response
from warmstack.client.failures import (
    AnswerMalformed,
    EndpointError,
    InvalidArgument,
    ModelExited,
    ModelRefused,
    SessionBusy,
    SessionClosed,
    SessionLost,
    SessionsNotEnabled,
)
from warmstack.client.json_values import shown
from warmstack.client.sending import RequestSender, StreamCares
from warmstack.client.session_life import CLOSE_BODY, NEW_SESSION, OPEN_BODY, SessionLife, read_new_session
from warmstack.client.streaming import Stream
from warmstack.client.timeouts import is_seconds
from warmstack.client.transcript import Message, Said, Transcript
from warmstack.client.transport import Answer

log = logging.getLogger("warmstack.client")
CLOSED = "the conversation is closed; start another one: client.session()"


class SessionMode(StrEnum):
    """Whether conversations use sessions of SageMaker."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"

    @classmethod
    def named(cls, name: str) -> SessionMode:
        """Return the mode of a name.

        Raises:
            InvalidArgument: There is none.
        """
        try:
            return cls(name)
        except ValueError as error:
            raise InvalidArgument(f"sessions is {name!r}; it must be one of {', '.join(cls)}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStats:
    """What happened to a conversation's sessions.

    Args:
        turns: Turns that were answered whole.
        opened: Sessions that were opened.
        renewed: Those of them that took the place of one that was about to expire.
        replayed: Turns that were sent again because their session was lost.
    """

    turns: int = 0
    opened: int = 0
    renewed: int = 0
    replayed: int = 0


class Session:
    """A conversation on a session of SageMaker, whose turns all go to the instance that holds its KV cache.

    Use it in a ``with`` statement: the session is opened at its start and closed at its end, after an exception too.
    The conversation is kept here, and each turn sends all of it; so a session that expires or is lost is opened anew,
    and the turn is sent again, once. A turn that fails leaves the conversation as it was before it: say it again.

    One conversation is for one thread at a time. Where the deployment has no sessions, the same calls go out without
    one, and PREFIX_AWARE routing finds the instance by the first bytes, which stay equal from turn to turn.

    Args:
        sender: Sends the requests.
        mode: Whether to open sessions.
        ttl: The longest life of a session before it is renewed, in seconds; None for the server's.
        messages: What the conversation starts from, such as a system message.
        options: What each turn sends besides: ``tools``, ``max_tokens``, …; a turn's own win.

    Raises:
        InvalidArgument: ``ttl`` is no number of seconds above 0.
    """

    def __init__(
        self,
        sender: RequestSender,
        *,
        mode: SessionMode,
        ttl: float | None,
        messages: Iterable[Mapping[str, Any]],
        options: Mapping[str, Any],
    ) -> None:
        if ttl is not None and not is_seconds(ttl, above_zero=True):
            raise InvalidArgument(
                f"ttl is {shown(ttl)}; it must be a number of seconds above 0, or None for the server's own"
            )
        self._sender = sender
        self._around = sender.connection.surroundings
        self._mode = mode
        self._ttl = ttl
        self._options = dict(options)
        self._lock = Lock()
        self._life: SessionLife | None = None
        self._stream: ref[Stream] | None = None
        self._entered = self._closed = False
        self.transcript = Transcript(messages)
        self.stats = SessionStats()

    @property
    def id(self) -> str | None:
        """The id of the session; None where the deployment has none, and before the first opening."""
        return self._life.id if self._life else None

    def __enter__(self) -> Self:
        """Open a session.

        Raises:
            EndpointError: None could be opened, for another reason than that the deployment has none.
        """
        self.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the session, and after an exception a stream that is not over: nobody reads it any more."""
        try:
            if kind is not None and self._stream is not None and (stream := self._stream()) is not None:
                # Guard: the traceback keeps it, and the container would compute on.
                stream.close()
        finally:
            self.close()

    def open(self) -> None:
        """Open a session, if none is open yet; where there is no ``with`` statement, call :meth:`close` at the end.

        Raises:
            EndpointError: None could be opened, for another reason than that the deployment has none.
        """
        if self._closed:
            raise SessionClosed(CLOSED)
        if not self._entered:
            self._entered = True
            try:
                self._open()
            except BaseException:
                self._entered = False
                raise

    def close(self) -> None:
        """Close the session; a second time does nothing. A failure is logged: the server ends the session by itself."""
        self._closed = True
        life, self._life = self._life, None
        if life is not None:
            self._close(life)

    def chat(self, said: Said, **options: Any) -> Response:
        """Take a turn, and return the answer.

        Args:
            said: A user's text, a message, or several messages (the results of tools, for example).
            options: As of ``EndpointClient.chat``, for this turn.

        Raises:
            SessionBusy: Another turn is not over.
            EndpointError: The turn failed; it is not part of the conversation.
        """
        sent = self.transcript.with_turn(said)
        with self._turn():
            self._renew_if_due()
            replays = 0
            try:
                response = self._sender.chat(self.id, sent, self._options | options)
            except (SessionLost, ModelExited) as failure:
                if not self._reopen(failure):
                    raise
                replays = 1
                response = self._sender.chat(self.id, sent, self._options | options)
            if response.call is not None:
                response = replace(response, call=replace(response.call, replays=replays))
            self._keep(sent, response)
            return response

    def stream(self, said: Said, **options: Any) -> Stream:
        """Take a turn whose answer comes in parts. The turn is over when the stream is closed or read to its end.

        The answer becomes part of the conversation when it has come whole. After an answer that broke off
        (``StreamInterrupted``) or that was left early, the conversation is as it was before the turn.

        Args:
            said: As of :meth:`chat`.
            options: As of :meth:`chat`.

        Raises:
            SessionBusy: Another turn is not over.
            EndpointError: The turn failed before the first part.
        """
        sent = self.transcript.with_turn(said)
        end = self._begin()
        try:
            self._renew_if_due()
            stream = self._sender.chat_stream(
                sent,
                self._options | options,
                StreamCares(
                    session_id=lambda: self.id,
                    replay=self._reopen,
                    finished=lambda response: self._keep(sent, response),
                    ended=end,
                ),
            )
            self._stream = ref(stream)
            return stream
        except BaseException:
            end()
            raise

    def reset(self) -> None:
        """Forget the turns so far. The session stays: its instance still holds the start of the conversation.

        Raises:
            SessionBusy: A turn is not over.
        """
        with self._turn():
            self.transcript.reset()

    def _begin(self) -> Callable[[], None]:
        """Begin a turn; return what ends it, once."""
        if self._closed:
            raise SessionClosed(CLOSED)
        if not self._lock.acquire(blocking=False):
            raise SessionBusy(
                "another turn of this conversation is not over: read its stream to the end or close it; for "
                "conversations side by side, start one session() each"
            )
        end = _Once(self._lock.release)
        try:
            self.open()
        except BaseException:
            end()
            raise
        return end

    @contextmanager
    def _turn(self) -> Iterator[None]:
        end = self._begin()
        try:
            yield
        finally:
            end()

    def _keep(self, sent: list[Message], response: Response) -> None:
        self.transcript.keep(sent, response.message())
        self.stats = replace(self.stats, turns=self.stats.turns + 1)

    def _open(self) -> None:
        if self._mode is SessionMode.OFF:
            return
        # Requests that open sessions are all alike: to PREFIX_AWARE they would be one prefix, and one instance.
        headers = {"prefix_aware_id": self._around.new_id()}
        try:
            answer = self._ask_for_one(headers)
            life = read_new_session(answer.headers, now=self._around.clock(), wall=self._around.wall(), ttl=self._ttl)
        except (SessionsNotEnabled, ModelRefused, AnswerMalformed) as refusal:
            # A server that knows no sessions does not say so in one way: it may only miss the messages.
            if self._mode is SessionMode.ON:
                raise
            level = logging.INFO if isinstance(refusal, SessionsNotEnabled) else logging.WARNING
            log.log(level, "no session: %s; requests go without one", refusal)
            self._mode, self._life = SessionMode.OFF, None
            return
        self._life = life
        self.stats = replace(self.stats, opened=self.stats.opened + 1)
        if self._closed:
            # Closed by another thread meanwhile: nobody else would close this one.
            self.close()

    def _ask_for_one(self, headers: Mapping[str, str]) -> Answer:
        try:
            return self._sender.ask(OPEN_BODY, session_id=NEW_SESSION, headers=headers)
        except ModelExited:
            # The copy is gone, and a session that it may have opened with it: to ask another one does no harm.
            return self._sender.ask(OPEN_BODY, session_id=NEW_SESSION, headers=headers)

    def _renew_if_due(self) -> None:
        old = self._life
        if old is None or not old.is_due(self._around.clock()):
            return
        try:
            self._open()
        except EndpointError as failure:
            # A fifth of its life is left; should it end before, the turn is sent again.
            log.warning("session %s could not be renewed before its end: %s", old.id, failure)
            return
        # Refused where it was granted before, the conversation goes on without one.
        if self._life is not None:
            self.stats = replace(self.stats, renewed=self.stats.renewed + 1)
        self._close(old)

    def _reopen(self, failure: EndpointError) -> bool:
        """Open a new session if a failure says that the old one is lost; return whether to send the turn again."""
        if not isinstance(failure, SessionLost | ModelExited) or self._life is None or self._closed:
            return False
        log.warning("session %s is lost (%s); the turn is sent again in a new one", self._life.id, failure)
        lost = self._life
        self._open()
        if isinstance(failure, ModelExited):
            # Only one copy of the instance may have died: then the session is still known there.
            self._close(lost)
        self.stats = replace(self.stats, replayed=self.stats.replayed + 1)
        return True

    def _close(self, life: SessionLife) -> None:
        try:
            self._sender.ask(CLOSE_BODY, session_id=life.id)
        except SessionLost:
            log.debug("session %s was already over", life.id)
        except EndpointError as failure:
            log.warning("session %s was not closed, and ends by itself: %s", life.id, failure)


class _Once:
    """A call that is made once, however often it is asked for."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call: Callable[[], object] | None = call

    def __call__(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call()
