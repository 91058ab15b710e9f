"""The client of an endpoint: chats, completions, streams and sessions, in bytes that keep the cache warm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from warmstack.client.answer import Response
from warmstack.client.call_options import check_names, split_options
from warmstack.client.connections import Connection, connect
from warmstack.client.failures import InvalidArgument, NotConfigured
from warmstack.client.requests import chat_body, completion_body
from warmstack.client.sending import RequestSender, Target
from warmstack.client.session import Session, SessionMode
from warmstack.client.streaming import Stream
from warmstack.client.transcript import Said, messages_of
from warmstack.client.transport import Answer
from warmstack.payload import canonical

if TYPE_CHECKING:
    from openai import OpenAI

    from warmstack.client.token import TokenSource


class EndpointClient:
    """A client of one endpoint, or of one of its components or adapters. Threads may share it.

    Args:
        endpoint: The endpoint's name, or a :class:`Target`.
        component: An inference component's physical name; :meth:`from_outputs` knows them by the spec's names.
        prefix_aware_id: Sent with every request (PrefixAwareId): applications that share a prefix but not their
            instances each take one. ``warmstack.payload.shard`` spreads one application over several.
        sessions: ``auto`` (sessions where the deployment has them), ``on`` (an error where it has none) or ``off``.
        connection: Connections to share with another client; else they are made of ``options``.
        options: As of :func:`warmstack.client.connect`: ``boto3_session``, ``region``, ``endpoint_url``, ``retry``,
            ``timeouts``.

    Raises:
        EndpointError: boto3 is missing or has no Region, or a value breaks its rule.
    """

    def __init__(
        self,
        endpoint: str | Target,
        *,
        component: str | None = None,
        prefix_aware_id: str | None = None,
        sessions: str = "auto",
        connection: Connection | None = None,
        **options: Any,
    ) -> None:
        self.target = endpoint if isinstance(endpoint, Target) else Target(endpoint=endpoint, component=component)
        check_names(endpoint=self.target.endpoint or "", component=self.target.component)
        self._headers = split_options({"prefix_aware_id": prefix_aware_id})[0]
        self._mode = SessionMode.named(sessions)
        self._connection = connection or connect(**options)
        self._sender = RequestSender(self._connection, self.target, self._headers)

    @classmethod
    def from_outputs(
        cls,
        source: str | Path,
        *,
        stack: str | None = None,
        component: str | None = None,
        adapter: str | None = None,
        sessions: str | None = None,
        prefix_aware_id: str | None = None,
        connection: Connection | None = None,
        **options: Any,
    ) -> Self:
        """Return the client of a deployed stack.

        Args:
            source: A file of ``cdk deploy --outputs-file``, or the name of a deployed stack, which is asked for.
            stack: Which of the file's stacks; the only one by default.
            component: A component by its name in the spec; the only one by default.
            adapter: An adapter of that component by its name in the spec.
            sessions: As of the class; by default what the stack publishes.
            prefix_aware_id: As of the class.
            connection: As of the class.
            options: As of the class.

        Raises:
            NotConfigured: There is no such file, stack, component or adapter.
            EndpointError: CloudFormation refused, or could not be reached.
        """
        from warmstack.client.address import read_outputs

        def ask() -> Any:
            nonlocal connection
            connection = connection or connect(**options)
            return connection.service("cloudformation")

        # A file is read before there are connections: what is wrong with it must not hide behind a missing Region.
        outputs = read_outputs(source, stack=stack, cloudformation=ask)
        made = connection or connect(**options)
        target = Target(endpoint=outputs.endpoint_name, dialect=outputs.dialect, outputs=outputs)
        mode = sessions or ("off" if outputs.session_seconds == 0 else "auto")
        client = cls(target, prefix_aware_id=prefix_aware_id, sessions=mode, connection=made)
        if component is None and len(outputs.components) == 1:
            component = next(iter(outputs.components))
        if component is not None:
            client = client.component(component)
        return client if adapter is None else client.adapter(adapter)

    def component(self, name: str) -> Self:
        """Return the client of an inference component; both share their connections.

        Args:
            name: Its name in the spec, or its physical name.

        Raises:
            NotConfigured: The stack publishes no such component.
        """
        if self.target.outputs is None:
            return self._at(replace(self.target, component=name))
        from warmstack.client.address import pick_component

        one = pick_component(self.target.outputs, name)
        return self._at(replace(self.target, component=one.physical_name, base=one.name, dialect=one.dialect))

    def adapter(self, name: str) -> Self:
        """Return the client of an adapter of this component; both share their connections.

        Args:
            name: Its name in the spec. Whether it exists is not asked: a request to one that does not fails with
                ``ComponentNotFound``.

        Raises:
            NotConfigured: This is not the client of a component whose name in the spec is known.
        """
        if self.target.base is None:
            raise NotConfigured(
                f"adapter {name!r} is found by the spec's name of its component: EndpointClient.from_outputs(…, "
                "component='…', adapter='…'); or give EndpointClient(…, component=…) the adapter's physical name"
            )
        from warmstack.outputs import adapter_physical_name

        physical = adapter_physical_name(self.target.endpoint, self.target.base, name)
        return self._at(replace(self.target, component=physical))

    def chat(
        self,
        messages: Said,
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
        **options: Any,
    ) -> Response:
        """Send a chat, and return the whole answer.

        Args:
            messages: The conversation in OpenAI's form; a text is one message of the user.
            tools: Tools in OpenAI's form.
            max_tokens: The most tokens of the answer.
            temperature: 0 for the likeliest tokens.
            options: Other members of the body (``top_p``, ``response_format``, ``chat_template_kwargs``, …), and
                ``prefix_aware_id``, ``inference_id``, ``custom_attributes`` and ``target_variant`` of the request.

        Raises:
            PayloadError: The body cannot be sent.
            EndpointError: The request failed; ``retryable`` says whether it may work later.
        """
        options |= {"tools": tools, "max_tokens": max_tokens, "temperature": temperature}
        return self._sender.chat(None, messages_of(messages), options)

    def complete(
        self, prompt: str, *, max_tokens: int | None = None, temperature: float | None = None, **options: Any
    ) -> Response:
        """Send a text to be continued, and return the whole continuation.

        Args:
            prompt: The text.
            max_tokens: As of :meth:`chat`.
            temperature: As of :meth:`chat`.
            options: As of :meth:`chat`.

        Raises:
            PayloadError: The body cannot be sent.
            EndpointError: The request failed.
        """
        headers, members = split_options(options | {"max_tokens": max_tokens, "temperature": temperature})
        return self._sender.respond(completion_body(prompt, options=members), headers)

    def stream(
        self,
        messages: Said | None = None,
        *,
        prompt: str | None = None,
        tools: Sequence[Mapping[str, Any]] | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
        **options: Any,
    ) -> Stream:
        """Send a chat or a prompt, and return the events of its answer as they come.

        Args:
            messages: As of :meth:`chat`.
            prompt: Instead of messages: as of :meth:`complete`.
            tools: As of :meth:`chat`.
            max_tokens: As of :meth:`chat`.
            temperature: As of :meth:`chat`.
            options: As of :meth:`chat`.

        Raises:
            PayloadError: The body cannot be sent.
            EndpointError: The request failed before the first part.
        """
        options |= {"tools": tools, "max_tokens": max_tokens, "temperature": temperature}
        headers, members = split_options(options)
        if messages is not None and prompt is None:
            return self._sender.stream(chat_body(messages_of(messages), options=members, stream=True), headers)
        if messages is None and prompt is not None:
            return self._sender.stream(completion_body(prompt, options=members, stream=True), headers)
        raise InvalidArgument("a stream takes messages or prompt=, and one of them only")

    def session(
        self,
        *,
        ttl: float | None = None,
        system: str | None = None,
        messages: Iterable[Mapping[str, Any]] = (),
        **options: Any,
    ) -> Session:
        """Return a conversation, to be used in a ``with`` statement, which opens its session and closes it.

        Args:
            ttl: The longest life of a session before it is renewed, in seconds; the server's own by default.
            system: A system message that the conversation starts from.
            messages: Further messages that it starts from.
            options: What each turn sends besides, as of :meth:`chat`.

        Raises:
            InvalidArgument: ``ttl`` is no number of seconds above 0, or a message is none.
        """
        first = [] if system is None else [{"role": "system", "content": system}]
        return Session(
            self._sender, mode=self._mode, ttl=ttl, messages=[*first, *messages_of(messages)], options=options
        )

    def invoke(
        self, body: Mapping[str, Any] | bytes, *, session_id: str | None = None, **options: str | None
    ) -> Answer:
        """Send any body, and return what comes back as bytes.

        Args:
            body: A mapping is sent in its canonical bytes, bytes as they are.
            session_id: A session, or ``NEW_SESSION``.
            options: ``prefix_aware_id``, ``inference_id``, ``custom_attributes``, ``target_variant``.

        Raises:
            PayloadError: The body cannot be sent.
            EndpointError: The request failed.
        """
        headers, others = split_options(options)
        if others:
            raise InvalidArgument(f"invoke has no option {next(iter(others))!r}; members of a request go into its body")
        check_names(session_id=session_id)
        return self._sender.send(body if isinstance(body, bytes) else canonical(body), headers, session_id)

    @property
    def region(self) -> str:
        """The Region.

        Raises:
            NotConfigured: There is none.
        """
        return self._connection.known_region()

    @property
    def runtime_url(self) -> str:
        """The runtime's address, as botocore resolved it.

        Raises:
            NotConfigured: The client has a transport of its own.
        """
        return self._connection.known_url()

    def openai_base_url(self) -> str:
        """Return the ``base_url`` that OpenAI's clients, and those built on them, need for this endpoint.

        Raises:
            NotConfigured: The client has a transport of its own.
        """
        from warmstack.client.openai_path import openai_base_url

        return openai_base_url(self.runtime_url, self.target.endpoint, self.target.component)

    def token_source(self) -> TokenSource:
        """Return what gives a bearer token of the OpenAI path each time that it is called, for ``api_key=``.

        Raises:
            EndpointError: There are no credentials.
        """
        from warmstack.client.openai_path import token_source

        return token_source(self._connection)

    def openai(self, **options: Any) -> OpenAI:
        """Return OpenAI's client for this endpoint's OpenAI path; its token is made anew before it expires.

        Args:
            options: Of ``openai.OpenAI``, such as ``max_retries``.

        Raises:
            NotConfigured: The package openai is not installed, or there are no credentials.
        """
        from warmstack.client.openai_path import openai_client

        return openai_client(self._connection, self.target.endpoint, self.target.component, **options)

    def close(self) -> None:
        """Close every connection, those of the clients that share them too."""
        self._connection.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close every connection."""
        self.close()

    def _at(self, target: Target) -> Self:
        return type(self)(
            target,
            prefix_aware_id=self._headers.get("prefix_aware_id"),
            sessions=self._mode.value,
            connection=self._connection,
        )
