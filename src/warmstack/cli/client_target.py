"""From the options of a command to the client of an endpoint."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warmstack.cli.client_output import LogLines
from warmstack.cli.local_services import ANSWER_SECONDS, services_at
from warmstack.client import ComponentRequired, EndpointClient, InvalidArgument, NotConnected
from warmstack.client.service_texts import WORDS

LOCAL_REGION = "us-west-2"
LOCAL_KEY = "local"
LOOPBACK = "127.0.0.1"
_LOCAL_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class TargetOrder:
    """Which endpoint, and how it is reached.

    Args:
        target: An endpoint's name, or a file of outputs.
        stack: A deployed stack, or one of the file's.
        component: A component.
        adapter: An adapter of it.
        region: The Region.
        profile: A profile of the AWS configuration.
        endpoint_url: The runtime's address.
        port: That of a local endpoint; None for AWS.
    """

    target: str | None
    stack: str | None
    component: str | None
    adapter: str | None
    region: str | None
    profile: str | None
    endpoint_url: str | None
    port: int | None

    def running_client(self, *, sessions: str | None = None, prefix_aware_id: str | None = None) -> EndpointClient:
        """Return the client, of a local endpoint only if one runs; what it logs is shown.

        Args:
            sessions: As of :meth:`client`.
            prefix_aware_id: As of :meth:`client`.

        Raises:
            EndpointError: As of :meth:`client`, or no local endpoint runs.
        """
        log = logging.getLogger("warmstack.client")
        if not log.handlers:
            log.addHandler(LogLines())
        client = self.client(sessions=sessions, prefix_aware_id=prefix_aware_id)
        if self.port is not None:
            try:
                socket.create_connection((LOOPBACK, self.port), timeout=_LOCAL_SECONDS).close()
            except OSError as error:
                raise NotConnected(
                    f"no local endpoint answers on port {self.port}; start one: warmstack local up FILE --port "
                    f"{self.port}"
                ) from error
        return client

    def client(self, *, sessions: str | None = None, prefix_aware_id: str | None = None) -> EndpointClient:
        """Return the client.

        Args:
            sessions: As of :class:`EndpointClient`; None for what the stack publishes.
            prefix_aware_id: As of :class:`EndpointClient`.

        Raises:
            EndpointError: The options name no endpoint, or AWS's client could not be made.
        """
        options: dict[str, Any] = {"prefix_aware_id": prefix_aware_id, **self.connection_options()}
        if self.target is not None and not self._is_file():
            if self.stack is not None or self.adapter is not None:
                raise InvalidArgument(
                    f"{self.target!r} is an endpoint's name, and --stack and --adapter need the outputs of a stack: "
                    "give a file of cdk deploy --outputs-file as TARGET, or --stack alone"
                )
            return EndpointClient(self.target, component=self.component, sessions=sessions or "auto", **options)
        source = Path(self.target) if self.target is not None else self.stack
        if source is None:
            raise InvalidArgument(
                "no endpoint is named: give its name, a file of cdk deploy --outputs-file, or --stack with the name of "
                "a deployed stack"
            )
        if self.port is not None and self.target is None:
            local = services_at(f"http://{LOOPBACK}:{self.port}")
            if local.kind == "endpoint":
                raise InvalidArgument(
                    f"--stack is {self.stack!r}, and {local.lacks('stacks')}; give the endpoint's name as TARGET, or "
                    "deploy the stack to `warmstack local aws up`"
                )
        return EndpointClient.from_outputs(
            source,
            stack=self.stack if self.target is not None else None,
            component=self.component,
            adapter=self.adapter,
            sessions=sessions,
            **options,
        )

    def _is_file(self) -> bool:
        return self.target is not None and (self.target.endswith(".json") or Path(self.target).is_file())

    def connection_options(self, patience: float = ANSWER_SECONDS) -> dict[str, Any]:
        """Return what :func:`warmstack.client.connect` takes.

        Args:
            patience: How long a local endpoint is waited for, in seconds.

        Raises:
            EndpointError: The options contradict each other, or there is no such profile.
        """
        if self.port is None:
            session = aws_session(profile_name=self.profile, region_name=self.region) if self.profile else None
            return {"boto3_session": session, "region": self.region, "endpoint_url": self.endpoint_url}
        refuse_besides_local(self.endpoint_url, self.profile)
        region = (
            self.region
            or services_at(f"http://{LOOPBACK}:{self.port}", seconds=patience).region
            or os.environ.get("AWS_REGION")
        )
        region = region or os.environ.get("AWS_DEFAULT_REGION") or LOCAL_REGION
        session = local_session(region)
        return {
            "boto3_session": session,
            "region": region,
            "endpoint_url": f"http://{LOOPBACK}:{self.port}",
            # A local AWS has CloudFormation too; AWS's own must not be asked for what --local means.
            "services_url": f"http://{LOOPBACK}:{self.port}",
        }


@contextmanager
def saying_options(client: EndpointClient) -> Iterator[None]:
    """Say in the words of the command line that a component has to be named, with the names that the stack publishes.

    Args:
        client: The client that is asked.
    """
    try:
        yield
    except ComponentRequired as failure:
        published = client.target.outputs.components if client.target.outputs is not None else {}
        there = f" It has {', '.join(sorted(published))}." if published else ""
        way_out = WORDS[ComponentRequired][1]
        failure.args = (str(failure).replace(way_out, f"Name one of them: --component NAME.{there}"),)
        raise


def refuse_empty(given: Mapping[str, str | None]) -> None:
    """Refuse what is given and says nothing: a shell makes it of a variable that is not set.

    Args:
        given: What was given by its name on the command line; None for what was not.

    Raises:
        InvalidArgument: One of them is empty.
    """
    empty = next((name for name, value in given.items() if value is not None and not value.strip()), None)
    if empty is not None:
        raise InvalidArgument(f"{empty} is empty; give it a value or leave it out, and look at the shell's variables")


def refuse_besides_local(endpoint_url: str | None, profile: str | None) -> None:
    """Refuse options that --local excludes.

    Raises:
        InvalidArgument: One of them is given.
    """
    if endpoint_url is not None or profile is not None:
        raise InvalidArgument("--local is an address without credentials; leave --endpoint-url and --profile out")


def local_session(region: str) -> Any:
    """Return boto3's session for what runs on this machine: nothing that configures AWS's own clients matters to it."""
    import boto3

    from warmstack.local.own_session import own_session

    # It wants requests signed, with any key: one of the environment must not go out in a mistake.
    return boto3.Session(
        aws_access_key_id=LOCAL_KEY,
        aws_secret_access_key=LOCAL_KEY,
        region_name=region,
        botocore_session=own_session(),
    )


def aws_session(**options: Any) -> Any:
    """Return boto3's session.

    Raises:
        EndpointError: There is no such profile.
    """
    import boto3

    from warmstack.client.mapping import RAISED_BY_AWS_CLIENT, from_botocore

    try:
        session = boto3.Session(**options)
        region = os.environ.get("AWS_REGION")
        # boto3 reads AWS_DEFAULT_REGION alone; where it finds no Region, the other variable counts.
        return boto3.Session(**options | {"region_name": region}) if region and not session.region_name else session
    except RAISED_BY_AWS_CLIENT as error:
        raise from_botocore(error) from error
