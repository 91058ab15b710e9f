"""Bearer tokens of the OpenAI path: requests presigned on this machine, and made anew before they expire.

A token is ``sagemaker-api-key-`` and the base64 of a presigned ``POST`` of CallWithBearerToken, without its scheme and
with ``&Version=1`` at its end (sagemaker-core 2.27.0, token_generator.py). No service is asked for it.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from warmstack.client.failures import AccessDenied, InvalidArgument
from warmstack.client.mapping import RAISED_BY_AWS_CLIENT, from_botocore

LONGEST: Final = timedelta(hours=12)
PREFIX: Final = "sagemaker-api-key-"
_HOST: Final = "sagemaker.amazonaws.com"
_MOST_AHEAD: Final = timedelta(minutes=5)
"""How long before its end a token is made anew: time for a request to be retried, and for clocks to differ."""


def bearer_token(credentials: Any, region: str, *, expires: timedelta = LONGEST, now: datetime) -> str:
    """Return a token. It holds until it expires, and no longer than the credentials.

    Args:
        credentials: botocore's credentials, such as ``boto3.Session().get_credentials()``.
        region: The Region of the endpoint.
        expires: How long it holds: 1 second to 12 hours.
        now: The time, with its zone.

    Raises:
        InvalidArgument: ``expires`` is out of its range.
        EndpointError: There are no credentials, or they cannot be renewed.
    """
    return _signed(_frozen(credentials), region, _checked(expires), now)


class TokenSource:
    """Gives a token that holds, and makes a new one only where the last is near its end. Threads may share it.

    OpenAI's client takes it as ``api_key`` and calls it before each request.

    Args:
        credentials: As of :func:`bearer_token`. They are asked each time, so botocore renews them as it does for its
            own requests, and a token of credentials that were renewed is made anew, too.
        region: The Region of the endpoint.
        expires: How long a token holds: 1 second to 12 hours.
        clock: The time of day, with its zone.

    Raises:
        InvalidArgument: ``expires`` is out of its range.
    """

    def __init__(
        self,
        credentials: Any,
        region: str,
        *,
        expires: timedelta = LONGEST,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._credentials = credentials
        self._region = region
        self._expires = _checked(expires)
        self._clock = clock
        self._lock = threading.Lock()
        self._token = ""
        self._signed_with: Any = None
        self._renew_at = datetime.min.replace(tzinfo=UTC)

    def __call__(self) -> str:
        """Return a token.

        Raises:
            EndpointError: There are no credentials, or they cannot be renewed.
        """
        with self._lock:
            frozen, now = _frozen(self._credentials), self._clock()
            if frozen != self._signed_with or now >= self._renew_at:
                self._token = _signed(frozen, self._region, self._expires, now)
                self._signed_with = frozen
                # Guard: a token is dated in whole seconds.
                signed_at = now.replace(microsecond=0)
                self._renew_at = signed_at + self._expires - min(_MOST_AHEAD, self._expires / 10)
            return self._token


def _checked(expires: timedelta) -> timedelta:
    if timedelta(seconds=1) <= expires <= LONGEST:
        return expires
    raise InvalidArgument(f"expires is {expires.total_seconds():g} s; a token holds 1 to {LONGEST.total_seconds():g} s")


def _frozen(credentials: Any) -> Any:
    """Return one state of credentials that may be renewed at any time."""
    if credentials is None:
        raise AccessDenied("there are no AWS credentials; set a profile or keys, or run where a role provides them")
    try:
        return credentials.get_frozen_credentials()
    except RAISED_BY_AWS_CLIENT as error:
        raise from_botocore(error) from error


def _signed(frozen: Any, region: str, expires: timedelta, now: datetime) -> str:
    from botocore.auth import SIGV4_TIMESTAMP, SigV4QueryAuth
    from botocore.awsrequest import AWSRequest

    # SigV4QueryAuth.add_auth of botocore 1.44.8, with the time given and not read.
    query = SigV4QueryAuth(frozen, "sagemaker", region, expires=int(expires.total_seconds()))
    request = AWSRequest(
        method="POST",
        url=f"https://{_HOST}/",
        headers={"host": _HOST},
        params={"Action": "CallWithBearerToken"},
    )
    request.context["timestamp"] = now.astimezone(UTC).strftime(SIGV4_TIMESTAMP)
    query._modify_request_before_signing(request)
    to_sign = query.string_to_sign(request, query.canonical_request(request))
    query._inject_signature_to_request(request, query.signature(to_sign, request))
    url = request.url.removeprefix("https://") + "&Version=1"
    return PREFIX + base64.b64encode(url.encode()).decode()
