"""The OpenAI path of an endpoint: its address, and OpenAI's own client for it.

Source: developer guide, realtime-endpoints-openai-compatible. Chat completions are all that is routed; the prefix that
PREFIX_AWARE routes by is the text of the messages there, and sessions are not documented.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from warmstack.client.connections import Connection
from warmstack.client.failures import NotConfigured
from warmstack.client.mapping import RAISED_BY_AWS_CLIENT, from_botocore
from warmstack.client.token import TokenSource

if TYPE_CHECKING:
    from openai import OpenAI


def openai_base_url(runtime_url: str, endpoint: str, component: str | None = None) -> str:
    """Return the ``base_url`` of OpenAI clients for an endpoint.

    Args:
        runtime_url: The runtime's address, such as ``https://runtime.sagemaker.us-west-2.amazonaws.com``.
        endpoint: The endpoint's name.
        component: The physical name of an inference component, an adapter's too.
    """
    part = f"/inference-components/{quote(component, safe='')}" if component else ""
    return f"{runtime_url.rstrip('/')}/endpoints/{quote(endpoint, safe='')}{part}/openai/v1"


def token_source(connection: Connection) -> TokenSource:
    """Return what gives a bearer token each time that it is called.

    Args:
        connection: Credentials and Region.

    Raises:
        NotConfigured: There is no Region, or no boto3 session.
        EndpointError: There are no credentials, or they cannot be renewed.
    """
    if connection.session is None:
        raise NotConfigured("the OpenAI path needs a boto3 session: make the client without a transport of its own")
    region = connection.known_region()
    try:
        credentials = connection.session.get_credentials()
    except RAISED_BY_AWS_CLIENT as error:
        raise from_botocore(error) from error
    source = TokenSource(credentials, region, clock=connection.surroundings.wall)
    source()  # so that missing credentials are told here, and not by the first request
    return source


def openai_client(connection: Connection, endpoint: str, component: str | None = None, **options: Any) -> OpenAI:
    """Return OpenAI's client for an endpoint. Its token is made anew before it expires, and retries are safe ones.

    An adapter's component chooses the copies; on this path vLLM takes the adapter itself from ``model``.

    Args:
        connection: Credentials, Region, retries and time-outs.
        endpoint: The endpoint's name.
        component: The physical name of an inference component, an adapter's too.
        options: Of ``openai.OpenAI``, instead of what is set here. ``max_retries`` adds its own retries, which also
            repeat what timed out.

    Raises:
        NotConfigured: The package openai is not installed, or there is no Region.
        EndpointError: There are no credentials, or they cannot be renewed.
    """
    try:
        from openai import OpenAI

        from warmstack.client.openai_transport import SafeHttpClient, usual_timeout
    except ImportError as error:
        raise NotConfigured(
            f"the OpenAI path needs {error.name}, which is not installed: pip install 'warmstack[openai]'"
        ) from error
    settings: dict[str, Any] = {
        "api_key": token_source(connection),
        "base_url": openai_base_url(connection.known_url(), endpoint, component),
        "max_retries": 0,
        "timeout": usual_timeout(connection),
    }
    if "http_client" not in options:
        settings["http_client"] = SafeHttpClient(connection)
    return OpenAI(**settings | options)
