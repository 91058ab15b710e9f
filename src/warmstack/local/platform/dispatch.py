"""A request's way: which copy it goes to, what the container is sent, and what is kept of its answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from random import Random

from warmstack.local.container import ContainerGoneError, ContainerReply, ContainerRequest
from warmstack.local.platform.copies import Copy
from warmstack.local.platform.endpoints import Component, Endpoint, Variant
from warmstack.local.platform.journal import Exchange
from warmstack.local.platform.session_replies import closed_session, opened_session
from warmstack.local.wire import errors
from warmstack.local.wire.errors import Whereabouts, service_unavailable, validation_error
from warmstack.local.wire.headers import (
    ADAPTER_IDENTIFIER,
    CUSTOM_ATTRIBUTES,
    FORWARDED_API,
    INFERENCE_ID,
    NEW_SESSION,
    NEW_SESSION_ID,
    PREFIX_AWARE_ID,
    SESSION_ID,
    STREAM_ACCEPT,
    TARGET_CONTAINER,
    TARGET_MODEL,
)
from warmstack.routing import (
    Decision,
    Pin,
    PrefixCache,
    RouteKey,
    RoutingRequest,
    RoutingRules,
    RoutingStrategy,
    SessionReply,
    SessionState,
    chained_block_ids,
    choose,
)

KV_BLOCK_BYTES = 256
"""KV_AWARE compares what copies were sent in blocks of this size: SageMaker's own way is not documented."""
KV_BLOCKS = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request whose form has been checked.

    Args:
        endpoint: Where to.
        component: The component that it names.
        variant: The variant that it names.
        session: The session that it names, or ``NEW_SESSION``.
        key_of: Makes the routing key, given the variant's rules; None for a request without one.
        path: The container's path.
        headers: What the container gets, by their names in lower case.
        body: The body.
    """

    endpoint: Endpoint
    component: Component | None
    variant: Variant
    session: str | None
    key_of: Callable[[RoutingRules], RouteKey | None]
    path: str
    headers: Mapping[str, str]
    body: bytes


class Dispatcher:
    """Sends requests to copies.

    Args:
        random: Decides between equals.
        clock: Seconds since the epoch, for sessions.
        timer: Seconds that never go back, for durations.
    """

    def __init__(
        self,
        *,
        random: Random,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._random = random
        self._clock = clock
        self._timer = timer

    async def send(self, call: Call, entry: Exchange, where: Whereabouts) -> Flight:
        """Choose a copy and send it the request; return when the head of the answer has come.

        Args:
            call: The request.
            entry: Is told where it went and why.
            where: What errors say of the endpoint.

        Raises:
            ApiError: No copy can take it, or the one that did gave no answer.
        """
        began = self._timer()
        call = _current(call)
        copy, decision = self._choose(call)
        entry.copy, entry.reason, entry.detail = copy.name, decision.reason.value, decision.detail
        entry.in_session = call.session is not None
        entry.request_bytes = len(call.body)
        headers = dict(call.headers)
        if call.component is not None and call.component.definition.base is not None:
            headers[ADAPTER_IDENTIFIER] = call.component.name
        in_session = call.session is not None and call.session != NEW_SESSION
        copy.enter(in_session=in_session)
        flight = Flight(copy, entry, in_session=in_session, began=began, timer=self._timer, where=where)
        try:
            assert copy.container is not None
            request = ContainerRequest(method="POST", path=call.path, headers=headers, body=call.body)
            flight.reply = await copy.container.send(request)
        except ContainerGoneError as error:
            await flight.close()
            raise where.process_error(errors.PROCESS_EXITED) from error
        except BaseException:
            await flight.close()
            raise
        self._note_session(call.endpoint, copy, flight)
        return flight

    def _choose(self, call: Call) -> tuple[Copy, Decision]:
        endpoint, variant = call.endpoint, call.variant
        if endpoint.outage.meets():
            raise service_unavailable(f"Endpoint {endpoint.name} is not available (a fault that was asked for).")
        copies = {copy.name: copy for copy in endpoint.serving(call.component, variant)}
        if not copies or (call.component is not None and call.component.refuses):
            if call.component is not None:
                raise validation_error(errors.NO_CAPACITY)
            # Own words: what SageMaker answers while a variant has no instance that serves is not documented.
            raise service_unavailable(f"No instance of variant {variant.definition.name} is in service.")
        pin = self._pin(call)
        if pin is not None and all(copy.instance.name != pin.instance for copy in copies.values()):
            if variant.rules.choices.lost_session is SessionReply.REFUSED:
                raise validation_error(f"Session {call.session} is on an instance that is not in service.")
            pin = None
        blocks: tuple[int, ...] = ()
        kv_aware = variant.rules.strategy is RoutingStrategy.KV_AWARE
        if kv_aware:
            seed = call.component.name.encode() if call.component else b""
            blocks = chained_block_ids(call.body, KV_BLOCK_BYTES, seed=seed)

        def longest(name: str, wanted: object) -> int:
            kept = copies[name].sent_blocks
            return kept.peek(blocks) if kept is not None and wanted else 0

        request = RoutingRequest(key=call.key_of(variant.rules), pin=pin, blocks=blocks)
        candidates = [copy.candidate() for copy in copies.values()]
        decision = choose(request, candidates, variant.rules, self._random, longest_match=longest if kv_aware else None)
        copy = copies[decision.copy]
        if kv_aware:
            if copy.sent_blocks is None:
                copy.sent_blocks = PrefixCache(KV_BLOCKS)
            copy.sent_blocks.insert(blocks)
        return copy, decision

    def _pin(self, call: Call) -> Pin | None:
        """Return where the request's session is; what is not documented goes by the choices."""
        if call.session is None or call.session == NEW_SESSION:
            return None
        found = call.endpoint.sessions.instance_of(call.session, now_seconds=self._clock())
        choices = call.variant.rules.choices
        reply = {
            SessionState.LIVE: SessionReply.ROUTED,
            SessionState.EXPIRED: choices.expired_session,
            SessionState.LOST: choices.lost_session,
            SessionState.UNKNOWN: choices.unknown_session,
        }[found.state]
        if reply is SessionReply.REFUSED:
            raise validation_error(f"Session {call.session} is {found.state.value}.")
        if found.session is None or found.state is SessionState.LOST:
            return None
        # An expired one, too: what becomes of it is for its own container to say.
        return Pin(instance=found.session.instance, copy=found.session.copy)

    def _note_session(self, endpoint: Endpoint, copy: Copy, flight: Flight) -> None:
        opened = opened_session(flight.headers)
        if opened is not None:
            endpoint.sessions.open(
                opened.session, instance=copy.instance.name, copy=copy.name, expires_at_seconds=opened.expires_at
            )
            flight.session_headers[NEW_SESSION_ID] = opened.header
        closed = closed_session(flight.headers)
        if closed is not None:
            endpoint.sessions.close(closed)


def _current(call: Call) -> Call:
    """Return a call to what takes requests now: while its body came, an update may have replaced its endpoint."""
    endpoint = call.endpoint.current
    if endpoint is call.endpoint:
        return call
    variant = endpoint.variants.get(call.variant.definition.name) or next(iter(endpoint.variants.values()))
    return replace(call, endpoint=endpoint, variant=variant)


class Flight:
    """A request on its copy, until `close`.

    Args:
        copy: The copy.
        entry: What the journal remembers of it.
        in_session: Whether it belongs to a session.
        began: When it came, by `timer`.
        timer: Seconds that never go back.
        where: What errors say of the endpoint.
    """

    def __init__(
        self,
        copy: Copy,
        entry: Exchange,
        *,
        in_session: bool,
        began: float,
        timer: Callable[[], float],
        where: Whereabouts,
    ) -> None:
        self.copy = copy
        self.reply: ContainerReply | None = None
        self.session_headers: dict[str, str] = {}
        self._entry = entry
        self._in_session = in_session
        self._began = began
        self._timer = timer
        self._where = where
        self._closed = False

    @property
    def status(self) -> int:
        """The container's status."""
        assert self.reply is not None
        return self.reply.status

    @property
    def headers(self) -> Mapping[str, str]:
        """The container's headers."""
        assert self.reply is not None
        return self.reply.headers

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes.

        Raises:
            ContainerGoneError: The connection broke.
        """
        assert self.reply is not None
        async for piece in self.reply.pieces():
            if self._entry.first_byte_seconds is None:
                self._entry.first_byte_seconds = self._timer() - self._began
            yield piece

    async def close(self) -> None:
        """Let go of the copy: whatever still runs for this request is aborted. Any number of times."""
        if self._closed:
            return
        self._closed = True
        self.copy.leave(in_session=self._in_session)
        self._entry.seconds = self._timer() - self._began
        if self.reply is not None:
            # Guard: a client that goes away cancels this task; the copy has to hear of it all the same.
            await asyncio.shield(self.reply.close())


def container_headers(headers: Mapping[str, str], *, api: str, streamed: bool) -> dict[str, str]:
    """Return the headers that a container gets: SageMaker strips all but those of the API.

    Args:
        headers: The request's, by their names in lower case.
        api: The operation, for ``X-Amzn-SageMaker-Forwarded-Api`` (seen in LMI's input_parser.py).
        streamed: Whether ``Accept`` came under the name of the streaming operation.
    """
    passed = {name: headers[name] for name in _PASSED if name in headers}
    accept = headers.get(STREAM_ACCEPT if streamed else "accept")
    if accept:
        passed["accept"] = accept
    passed[FORWARDED_API] = api
    return passed


_PASSED = (
    "content-type",
    SESSION_ID,
    CUSTOM_ATTRIBUTES,
    INFERENCE_ID,
    TARGET_MODEL,
    TARGET_CONTAINER,
    PREFIX_AWARE_ID,
)
