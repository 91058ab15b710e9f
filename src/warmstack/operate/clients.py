"""boto3's clients for questions to AWS: they may be asked again, so botocore's own retries are on."""

from __future__ import annotations

from typing import Any

from warmstack.client.connections import is_loopback, open_client
from warmstack.client.mapping import RAISED_BY_AWS_CLIENT, from_botocore
from warmstack.operate.errors import OperateError

ATTEMPTS = 6
CONNECT_SECONDS = 5
READ_SECONDS = 30
LOCAL_CONNECT_SECONDS = 2
LOCAL_READ_SECONDS = 15
"""An address of this machine answers soon or not at all: nothing there is asked twice."""


def make_client(
    session: Any,
    service: str,
    *,
    region: str | None,
    endpoint_url: str | None = None,
    longest_seconds: float = LOCAL_READ_SECONDS,
) -> Any:
    """Return boto3's client of a service.

    Args:
        session: boto3's session.
        service: The service.
        region: The Region; None for the session's.
        endpoint_url: The address; None for AWS's, or that of the environment.
        longest_seconds: How long one answer of this machine is waited for, within bounds.

    Raises:
        OperateError: The address is none.
        EndpointError: boto3 made no client: no Region, no such profile.
    """
    from botocore.config import Config

    config = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        # SageMaker takes five descriptions a second from an account.
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
        user_agent_extra="warmstack",
    )
    try:
        client = open_client(session, service, config, region=region, url=endpoint_url)
        if not is_loopback(client.meta.endpoint_url):
            return client
        client.close()
        here = Config(
            connect_timeout=LOCAL_CONNECT_SECONDS,
            read_timeout=max(1, min(longest_seconds, LOCAL_READ_SECONDS)),
            retries={"total_max_attempts": 1},
        )
        return open_client(session, service, config.merge(here), region=region, url=endpoint_url)
    except ValueError as error:
        given = "in the environment or the configuration" if endpoint_url is None else repr(endpoint_url)
        raise OperateError(f"the address {given} is none: {error}; write one such as https://…") from error
    except RAISED_BY_AWS_CLIENT as error:
        raise from_botocore(error) from error
