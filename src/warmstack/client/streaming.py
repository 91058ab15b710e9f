"""An answer that comes in parts: events for the caller, one replay before the first, and what arrived if it breaks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from threading import Lock
from types import TracebackType
from typing import Self

from warmstack.client.answer import CallInfo, Response
from warmstack.client.events import StreamEvent, TextDelta, Usage
from warmstack.client.failures import DeadlineExceeded, EndpointError, InvalidArgument, StreamInterrupted
from warmstack.client.stream_parser import StreamParser
from warmstack.client.transport import Parts


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamHooks:
    """What a stream asks of whoever started it.

    Args:
        open: Sends the request; returns the parts, and how often it was tried again.
        replay: Told of a failure that came before anything reached the caller; returns whether to open once more.
        finished: Told of the whole answer, once.
        ended: Called once when a stream that was opened is over, however it ended.
        clock: Seconds, of a clock that only goes forward.
        longest_seconds: How long a stream may last; SageMaker ends one after 8 minutes.
    """

    open: Callable[[], tuple[Parts, int]]
    replay: Callable[[EndpointError], bool]
    finished: Callable[[Response], object]
    ended: Callable[[], object]
    clock: Callable[[], float]
    longest_seconds: float


class Stream:
    """The events of an answer, as they come. Iterate over it once; leaving early closes the connection.

    Use it in a ``with`` statement, or let a ``for`` loop run: both close the connection at the end, and a connection
    that is closed early also stops the container. One that is forgotten is closed when it is collected as garbage.

    Args:
        hooks: What it asks of whoever started it.
        session_id: The session that it runs in.
    """

    def __init__(self, hooks: StreamHooks, *, session_id: Callable[[], str | None] = lambda: None) -> None:
        self._hooks = hooks
        self._session_id = session_id
        self._parser = StreamParser()
        self._pending: deque[StreamEvent] = deque()
        self._reader = Lock()
        self._delivered = self._done = self._kept = False
        self._over = True
        self._retries = self._replays = 0
        self._began = hooks.clock()
        self._first_event_at: float | None = None
        try:
            self._open()
        except EndpointError as failure:
            if not hooks.replay(failure):
                raise
            self._replays = 1
            self._open()
        self._over = False

    def __iter__(self) -> Iterator[StreamEvent]:
        """Yield the events.

        Raises:
            StreamInterrupted: The answer broke off after some of it had come; the error carries that part.
            InvalidArgument: Another loop is reading it.
            EndpointError: It failed before anything had come.
        """
        if not self._reader.acquire(blocking=False):
            raise InvalidArgument("this stream is being read by another loop; one loop reads it, in one thread")
        try:
            while (event := self._next()) is not None:
                yield event
        finally:
            self.close()
            self._reader.release()

    def text(self) -> Iterator[str]:
        """Yield the texts of the answer's first choice alone.

        Raises:
            EndpointError: As iterating does.
        """
        for event in self:
            if isinstance(event, TextDelta) and event.choice == 0:
                yield event.text

    def response(self) -> Response:
        """Return what has arrived so far; all of it once the stream has ended."""
        info = CallInfo(
            request_id=self._parts.request_id,
            variant=self._parts.variant,
            session_id=self._session_id(),
            ttft_seconds=None if self._first_event_at is None else self._first_event_at - self._began,
            seconds=self._hooks.clock() - self._began,
            retries=self._retries,
            replays=self._replays,
        )
        return replace(self._parser.response(), call=info)

    def close(self) -> None:
        """Close the connection; a second time does nothing."""
        if not self._over:
            self._over = True
            try:
                self._parts.close()
                # Left between the end of the answer and the end of the stream: only figures are missing.
                if self._parser.finished and all(isinstance(event, Usage) for event in self._pending):
                    self._keep()
            finally:
                self._hooks.ended()

    def __del__(self) -> None:
        # Guard: nobody else can close it any more, and a conversation would wait for ever for its turn to end.
        self.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the connection."""
        self.close()

    def _next(self) -> StreamEvent | None:
        while not self._pending:
            if self._done and not self._over:
                self._keep()
            if self._done or self._over:
                return None
            try:
                self._read()
            except EndpointError as failure:
                self._failed(failure)
        if not self._delivered:
            self._delivered = True
            self._first_event_at = self._hooks.clock()
        return self._pending.popleft()

    def _read(self) -> None:
        if self._hooks.clock() - self._began > self._hooks.longest_seconds:
            raise DeadlineExceeded(f"the stream has lasted longer than {self._hooks.longest_seconds:g} s; it was ended")
        if self._parser.failure is not None:
            # Now that the events before it are delivered: a server may keep the connection open for minutes.
            raise self._parser.failure
        part = next(self._source, None)
        if part is not None:
            self._pending.extend(self._parser.feed(part))
            return
        self._pending.extend(self._parser.end())
        if not self._parser.finished:
            raise StreamInterrupted("the stream ended before the answer did", response=self.response())
        self._done = True

    def _keep(self) -> None:
        if not self._kept:
            self._kept = True
            self._hooks.finished(self.response())

    def _open(self) -> None:
        self._parts, retries = self._hooks.open()
        self._retries += retries
        self._source = iter(self._parts)

    def _failed(self, failure: EndpointError) -> None:
        """Go on where a failure does not matter, or see to it."""
        if self._over:
            return  # another thread closed it
        if self._parser.finished:
            # The answer is whole; what broke could only have brought figures.
            self._done = True
        else:
            self._recover(failure)

    def _recover(self, failure: EndpointError) -> None:
        """Open the stream anew, or raise what the caller is to see."""
        if not self._delivered and not self._replays and self._hooks.replay(failure):
            self._parts.close()
            self._replays += 1
            self._parser = StreamParser()
            self._open()
            return
        if self._delivered and not isinstance(failure, StreamInterrupted):
            raise StreamInterrupted(
                f"the answer broke off after some of it had come: {failure}", response=self.response(), cause=failure
            ) from failure
        raise failure
