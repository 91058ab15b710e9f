"""boto3's clients for questions to AWS: they may be asked again, so botocore's own retries are on."""

from __future__ import annotations

from typing import Any

from warmstack.client.connections import open_client
from warmstack.client.mapping import RAISED_BY_AWS_CLIENT, from_botocore
from warmstack.operate.errors import OperateError

ATTEMPTS = 6
CONNECT_SECONDS = 5
READ_SECONDS = 30


def make_client(session: Any, service: str, *, region: str | None, endpoint_url: str | None = None) -> Any:
    """Return boto3's client of a service.

    Args:
        session: boto3's session.
        service: The service.
        region: The Region; None for the session's.
        endpoint_url: The address; None for AWS's, or that of the environment.

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
        return open_client(session, service, config, region=region, url=endpoint_url)
    except ValueError as error:
        raise OperateError(f"the address {endpoint_url!r} is none: {error}; write one such as https://…") from error
    except RAISED_BY_AWS_CLIENT as error:
        raise from_botocore(error) from error
