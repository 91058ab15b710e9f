"""boto3's clients as this package needs them: its own retries off, time-outs set, pools large enough for threads."""

from __future__ import annotations

import os
import random
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from warmstack.client.failures import InvalidArgument, NotConfigured
from warmstack.client.mapping import RAISED_BY_AWS_CLIENT, from_botocore
from warmstack.client.retries import RetryPolicy
from warmstack.client.timeouts import Timeouts
from warmstack.client.transport import Boto3Transport, Transport

POOL = 64
RUNTIME = "sagemaker-runtime"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the client takes from the machine that it runs on; tests give their own.

    Args:
        clock: Seconds, of a clock that only goes forward.
        wall: The time of day, with its zone.
        sleep: Waits some seconds.
        random: A number from 0 to 1.
        new_id: Makes identifiers.
    """

    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], datetime] = lambda: datetime.now(UTC)
    sleep: Callable[[float], object] = time.sleep
    random: Callable[[], float] = random.random
    new_id: Callable[[], str] = lambda: uuid.uuid4().hex


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """The network, as clients share it.

    Args:
        transport: Sends requests.
        retry: How often a request is sent again where that is safe.
        timeouts: How long to wait.
        surroundings: Clock, sleep and chance.
        session: boto3's session; None with a transport of one's own.
        region: The Region, instead of the session's.
        runtime_url: The runtime's address; None with a transport of one's own.
        services_url: The address of other services, such as CloudFormation, instead of the Region's.
    """

    transport: Transport
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    timeouts: Timeouts = field(default_factory=Timeouts)
    surroundings: Surroundings = field(default_factory=Surroundings)
    session: Any = None
    region: str | None = None
    runtime_url: str | None = None
    services_url: str | None = None

    def known_region(self) -> str:
        """Return the Region.

        Raises:
            NotConfigured: There is none.
        """
        region = self.region or (self.session.region_name if self.session is not None else None)
        if not region:
            raise NotConfigured("there is no Region; give region=, or set AWS_REGION")
        return str(region)

    def known_url(self) -> str:
        """Return the runtime's address.

        Raises:
            NotConfigured: It is a transport's own.
        """
        if self.runtime_url is None:
            raise NotConfigured("the runtime's address is not known: make the client without a transport of its own")
        return self.runtime_url

    def service(self, name: str) -> Any:
        """Return boto3's client of a service other than the runtime.

        Raises:
            EndpointError: boto3 made none.
        """
        return _client(
            self.session,
            name,
            region=self.region,
            read=self.timeouts.read_seconds,
            timeouts=self.timeouts,
            url=self.services_url,
        )

    def close(self) -> None:
        """Close every connection."""
        self.transport.close()


def connect(
    *,
    boto3_session: Any | None = None,
    region: str | None = None,
    endpoint_url: str | None = None,
    services_url: str | None = None,
    retry: RetryPolicy | None = None,
    timeouts: Timeouts | None = None,
    surroundings: Surroundings | None = None,
) -> Connection:
    """Return connections to the runtime; clients of several endpoints can share them.

    Args:
        boto3_session: Credentials and Region; those of the environment by default.
        region: The Region, instead of the session's.
        endpoint_url: The runtime's address, instead of the Region's; ``warmstack local up`` prints one.
        services_url: The address of CloudFormation, instead of the Region's; a local AWS has it.
        retry: How often a request is sent again where that is safe.
        timeouts: How long to wait.
        surroundings: Clock, sleep and chance.

    Raises:
        NotConfigured: boto3 is not installed, or has no Region.
        EndpointError: boto3 made no client.
    """
    for what, value in (("region", region), ("endpoint_url", endpoint_url)):
        if value is not None and type(value) is not str:
            raise InvalidArgument(f"{what} is of type {type(value).__name__}; it must be text")
    waits = timeouts or Timeouts()
    session = boto3_session if boto3_session is not None else _session(region)

    def client(read: float) -> Any:
        return _client(session, RUNTIME, region=region, url=endpoint_url, read=read, timeouts=waits)

    plain = client(waits.read_seconds)
    return Connection(
        transport=Boto3Transport(plain, client(waits.stream_seconds)),
        retry=retry or RetryPolicy(),
        timeouts=waits,
        surroundings=surroundings or Surroundings(),
        session=session,
        region=region,
        # As botocore resolved it: by the Region and its partition, the environment or the configuration.
        runtime_url=plain.meta.endpoint_url,
        services_url=services_url,
    )


def is_loopback(url: str) -> bool:
    """Return whether an address is of this machine alone."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def open_client(session: Any, name: str, config: Any, *, region: str | None, url: str | None) -> Any:
    """Return boto3's client of a service, which reaches an address of this machine without a proxy.

    Args:
        session: boto3's session.
        name: The service.
        config: botocore's configuration.
        region: The Region; None for the session's.
        url: The address; None for AWS's, or that of the environment.
    """
    from botocore.config import Config

    client = session.client(name, region_name=region, endpoint_url=url, config=config)
    if getproxies() and is_loopback(client.meta.endpoint_url):
        # Guard: the environment's proxy is another machine, and this address would be that machine's own.
        client.close()
        direct = config.merge(Config(proxies={}))
        client = session.client(name, region_name=region, endpoint_url=url, config=direct)
    return client


def _session(region: str | None) -> Any:
    try:
        import boto3
    except ImportError as error:
        raise NotConfigured(
            f"the client needs {error.name}, which is not installed: pip install 'warmstack[aws]', or in a clone "
            "make setup"
        ) from error
    try:
        session = boto3.Session(region_name=region)
        other = os.environ.get("AWS_REGION")
        # boto3 reads AWS_DEFAULT_REGION alone; where it finds no Region, the other variable counts.
        return boto3.Session(region_name=other) if other and not session.region_name else session
    except RAISED_BY_AWS_CLIENT as error:
        raise from_botocore(error) from error


def _client(
    session: Any, name: str, *, region: str | None, read: float, timeouts: Timeouts, url: str | None = None
) -> Any:
    try:
        from botocore.config import Config

        config = Config(
            connect_timeout=timeouts.connect_seconds,
            read_timeout=read,
            max_pool_connections=POOL,
            # botocore would also repeat a request that timed out, which the container may still be computing.
            retries={"total_max_attempts": 1},
            user_agent_extra="warmstack",
        )
        return open_client(session, name, config, region=region, url=url)
    except RAISED_BY_AWS_CLIENT as error:
        # Before ValueError: an unknown Region is one, too.
        raise from_botocore(error) from error
    except ValueError as error:
        given = f"endpoint_url is {url!r}" if url is not None else "the address in the environment or the configuration"
        raise NotConfigured(f"{given}: {error}; it must be an address such as https://…") from error
