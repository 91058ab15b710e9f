"""A stream, cut anywhere → typed events. No I/O: whoever has the bytes feeds them."""

from __future__ import annotations

from collections.abc import Iterable

from warmstack.client.answer import Response
from warmstack.client.events import StreamEvent
from warmstack.client.failures import AnswerMalformed, EndpointError
from warmstack.client.json_values import read_json
from warmstack.client.responses import WAY_OUT
from warmstack.client.stream_documents import LARGEST_BYTES, StreamDocuments
from warmstack.client.streamed_answer import StreamedAnswer

_DONE = b"[DONE]"


class StreamParser:
    """Reads one stream of any server: server-sent events or JSON lines, chats, completions or ``inputs``.

    A chunk that is an error, or no chunk at all, ends it. The events before are given first: `failure` is set, and the
    next call raises it.

    Args:
        largest_bytes: The largest chunk; a longer one is malformed.
    """

    def __init__(self, *, largest_bytes: int = LARGEST_BYTES) -> None:
        self._documents = StreamDocuments(largest_bytes)
        self._answer = StreamedAnswer()
        self._done = False
        self.failure: EndpointError | None = None
        """What ended the stream; None while nothing has."""

    @property
    def finished(self) -> bool:
        """Whether the answer is whole: each choice has its end, or the server said that there is no more."""
        return self.failure is None and (self._done or self._answer.finished)

    def feed(self, data: bytes) -> list[StreamEvent]:
        """Return the events that some more bytes complete. What follows ``[DONE]`` is not looked at.

        Args:
            data: The next bytes, cut anywhere.

        Raises:
            AnswerMalformed: They are of no stream of ours.
            EndpointError: They hold an error: the failure that this error is.
        """
        self._raise_failure()
        if self._done:
            return []
        return self._events(self._documents.feed(data))

    def end(self) -> list[StreamEvent]:
        """Return the events that the stream's end completes; `finished` then says whether the answer is whole.

        A last line that was cut is dropped.

        Raises:
            EndpointError: The last line holds an error: the failure that this error is.
        """
        self._raise_failure()
        if self._done:
            return []
        events = self._events(self._documents.rest(), cut=True)
        if self._answer.finished:
            self._done = True
        return events

    def response(self) -> Response:
        """Return the answer, or what has arrived of it."""
        return self._answer.response()

    def _events(self, documents: Iterable[bytes], *, cut: bool = False) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        document = b""
        try:
            for document in documents:
                if not document.startswith(b"{"):
                    data = document.strip()
                    if data == _DONE:
                        events += self._answer.end()
                        self._done = True
                        break
                    if not data:
                        continue
                try:
                    chunk = read_json(document)
                except ValueError:
                    if cut:
                        break
                    raise
                events += self._answer.add(chunk)
        except EndpointError as error:
            self.failure = error
        except ValueError as error:
            text = f"the stream is none that a server sends: {error}. {WAY_OUT}"
            self.failure = AnswerMalformed(text, answer=document)
            self.failure.__cause__ = error
        if self.failure is not None and not events:
            raise self.failure
        return events

    def _raise_failure(self) -> None:
        if self.failure is not None:
            raise self.failure
