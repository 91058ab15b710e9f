"""One call of the runtime API by boto3: bytes out, bytes in, and every failure as one of ours."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from warmstack.client.mapping import RAISED_BY_AWS_CLIENT, from_botocore

JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request.

    Args:
        endpoint: The endpoint's name.
        body: What the container gets.
        component: The inference component's name; None where the variant hosts the model.
        session_id: The session, or ``NEW_SESSION``.
        prefix_aware_id: PrefixAwareId.
        inference_id: InferenceId, for logs and data capture.
        custom_attributes: CustomAttributes.
        target_variant: TargetVariant.
    """

    endpoint: str
    body: bytes
    component: str | None = None
    session_id: str | None = None
    prefix_aware_id: str | None = None
    inference_id: str | None = None
    custom_attributes: str | None = None
    target_variant: str | None = None

    def parameters(self) -> dict[str, Any]:
        """Return the arguments of boto3's methods."""
        optional = {
            "InferenceComponentName": self.component,
            "SessionId": self.session_id,
            "PrefixAwareId": self.prefix_aware_id,
            "InferenceId": self.inference_id,
            "CustomAttributes": self.custom_attributes,
            "TargetVariant": self.target_variant,
        }
        given = {name: value for name, value in optional.items() if value is not None}
        return {"EndpointName": self.endpoint, "ContentType": JSON, "Accept": JSON, "Body": self.body, **given}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back.

    Args:
        body: The container's bytes.
        headers: Of the answer, names in lower case.
        request_id: The request's id at AWS.
        variant: The production variant that answered.
    """

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    request_id: str | None = None
    variant: str | None = None


class Parts(Protocol):
    """A stream of bytes that is open.

    Attributes:
        request_id: The request's id at AWS.
        variant: The production variant that answers.
    """

    request_id: str | None
    variant: str | None

    def __iter__(self) -> Iterator[bytes]:
        """Yield the parts as they come.

        Raises:
            EndpointError: The stream failed.
        """
        ...

    def close(self) -> None:
        """Close the connection, wherever the stream is; a second time does nothing."""
        ...


class Transport(Protocol):
    """What the client needs of the network."""

    def invoke(self, call: Call) -> Answer:
        """Send a request, and return the whole answer.

        Raises:
            EndpointError: It failed.
        """
        ...

    def stream(self, call: Call) -> Parts:
        """Send a request, and return its answer as a stream.

        Raises:
            EndpointError: It failed before the first part.
        """
        ...

    def close(self) -> None:
        """Close every connection."""
        ...


class Boto3Transport:
    """The runtime API by boto3.

    Args:
        plain: A client for InvokeEndpoint.
        streaming: One for streams, whose read time-out is longer.
    """

    def __init__(self, plain: Any, streaming: Any) -> None:
        self._plain = plain
        self._streaming = streaming
        self._process = os.getpid()

    def invoke(self, call: Call) -> Answer:
        """Send a request, and return the whole answer.

        Raises:
            EndpointError: It failed.
        """
        self._part_from_parent()
        try:
            answer = self._plain.invoke_endpoint(**call.parameters())
            with answer["Body"] as body:
                data = body.read()
        except RAISED_BY_AWS_CLIENT as error:
            raise from_botocore(error) from error
        about = answer["ResponseMetadata"]
        return Answer(
            body=data,
            headers={name.lower(): value for name, value in about["HTTPHeaders"].items()},
            request_id=about.get("RequestId"),
            variant=answer.get("InvokedProductionVariant"),
        )

    def stream(self, call: Call) -> Parts:
        """Send a request, and return its answer as a stream.

        Raises:
            EndpointError: It failed before the first part.
        """
        self._part_from_parent()
        try:
            answer = self._streaming.invoke_endpoint_with_response_stream(**call.parameters())
        except RAISED_BY_AWS_CLIENT as error:
            raise from_botocore(error) from error
        about = answer["ResponseMetadata"]
        return _EventParts(
            answer["Body"], request_id=about.get("RequestId"), variant=answer.get("InvokedProductionVariant")
        )

    def close(self) -> None:
        """Close every connection."""
        self._plain.close()
        self._streaming.close()

    def _part_from_parent(self) -> None:
        # Guard: after a fork both processes hold the same connections, and one could get the other's answer.
        if self._process != os.getpid():
            self._process = os.getpid()
            self.close()


class _EventParts:
    def __init__(self, events: Any, *, request_id: str | None, variant: str | None) -> None:
        self.request_id = request_id
        self.variant = variant
        self._events = events
        self._closed = False

    def __iter__(self) -> Iterator[bytes]:
        try:
            for event in self._events:
                # A kind of event that botocore does not know yet has no part.
                if part := event.get("PayloadPart"):
                    yield part["Bytes"]
        except RAISED_BY_AWS_CLIENT as error:
            if not self._closed:
                raise from_botocore(error) from error
        except (AttributeError, ValueError):
            # What http.client makes of a connection that another thread closes while it reads.
            if not self._closed:
                raise

    def close(self) -> None:
        self._closed = True
        # What is left unread must not keep the connection: closing it is also what tells the container to stop.
        with suppress(Exception):
            self._events.close()
