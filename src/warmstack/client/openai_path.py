"""The OpenAI path of an endpoint: its address, and OpenAI's own client for it.

Source: developer guide, realtime-endpoints-openai-compatible. Chat completions are all that is routed; the prefix that
PREFIX_AWARE routes by is the text of the messages there, and sessions are not documented.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from warmstack.client.connections import Connection
from warmstack.client.failures import NotConfigured
from warmstack.client.mapping import RAISED_BY_AWS_CLIENT, from_botocore
from warmstack.client.token import TokenSource

if TYPE_CHECKING:
    from openai import OpenAI

_SUFFIXES: Final = {
    "cn-": "amazonaws.com.cn",
    "eusc-": "amazonaws.eu",
    "us-iso-": "c2s.ic.gov",
    "us-isob-": "sc2s.sgov.gov",
    "us-isof-": "csp.hci.ic.gov",
    "eu-isoe-": "cloud.adc-e.uk",
}
"""The domains of AWS's other partitions (botocore 1.44.8, partitions.json). The path is documented for none of them."""


def openai_base_url(
    endpoint: str, component: str | None = None, *, region: str, endpoint_url: str | None = None
) -> str:
    """Return the ``base_url`` of OpenAI clients for an endpoint.

    Args:
        endpoint: The endpoint's name.
        component: The physical name of an inference component, an adapter's too.
        region: The Region.
        endpoint_url: The runtime's address, instead of the Region's.
    """
    host = endpoint_url or f"https://runtime.sagemaker.{region}.{_suffix(region)}"
    part = f"/inference-components/{quote(component, safe='')}" if component else ""
    return f"{host.rstrip('/')}/endpoints/{quote(endpoint, safe='')}{part}/openai/v1"


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
    region, credentials = _identity(connection)
    source = TokenSource(credentials, region, clock=connection.surroundings.wall)
    source()  # so that missing credentials are told here, and not by the first request
    settings: dict[str, Any] = {
        "base_url": openai_base_url(endpoint, component, region=region, endpoint_url=connection.endpoint_url),
        "api_key": source,
        "max_retries": 0,
        "timeout": usual_timeout(connection),
    }
    if "http_client" not in options:
        settings["http_client"] = SafeHttpClient(connection)
    return OpenAI(**settings | options)


def _identity(connection: Connection) -> tuple[str, Any]:
    """Return the Region, and the credentials."""
    session = connection.session
    if session is None:
        raise NotConfigured("the OpenAI path needs a boto3 session: make the client without a transport of its own")
    try:
        region, credentials = connection.region or session.region_name, session.get_credentials()
    except RAISED_BY_AWS_CLIENT as error:
        raise from_botocore(error) from error
    if not region:
        raise NotConfigured("there is no Region; give region=, or set AWS_REGION")
    return region, credentials


def _suffix(region: str) -> str:
    return next((suffix for start, suffix in _SUFFIXES.items() if region.startswith(start)), "amazonaws.com")
