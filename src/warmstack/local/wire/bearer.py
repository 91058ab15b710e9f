"""Bearer tokens of the OpenAI path: presigned requests in base64, checked for form, purpose and expiry.

A token is ``sagemaker-api-key-`` and the base64 of a URL without its scheme: a presigned ``POST`` of
``sagemaker.amazonaws.com/?Action=CallWithBearerToken`` with ``&Version=1`` at its end (sagemaker-core 2.27.0,
token_generator.py, read 2026-11-30). The signature cannot be checked here: it needs the secret key.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlsplit

PREFIX = "sagemaker-api-key-"
HOST = "sagemaker.amazonaws.com"
MAX_SECONDS = 12 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token that has the right form.

    Args:
        access_key_id: Whose it is.
        region: For which region.
        expires_at: Until when.
    """

    access_key_id: str
    region: str
    expires_at: datetime


def token_problem(authorization: str | None, *, region: str, now: datetime) -> str | None:
    """Return why an ``Authorization`` header is refused; None if it is not.

    Args:
        authorization: The header's value; None if there is none.
        region: The region of the endpoint.
        now: The time, with its zone.
    """
    if authorization is None:
        return "there is no Authorization header; send Authorization: Bearer with a token of generate_token"
    scheme, _, text = authorization.partition(" ")
    if scheme.lower() != "bearer":
        return f"the Authorization header is {scheme!r}; the OpenAI path takes a bearer token, no SigV4 signature"
    token = read_token(text.strip())
    if isinstance(token, str):
        return token
    if token.region != region:
        return f"the bearer token is for {token.region}, and the endpoint is in {region}"
    if now >= token.expires_at:
        return f"the bearer token expired at {token.expires_at:%Y-%m-%dT%H:%M:%SZ}; make a new one"
    return None


def read_token(text: str) -> Token | str:
    """Return a token, or what is wrong with its form.

    Args:
        text: What stands after ``Bearer``.
    """
    if not text.startswith(PREFIX):
        return f"the bearer token does not start with {PREFIX}"
    try:
        url = base64.b64decode(text.removeprefix(PREFIX), validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return f"what follows {PREFIX} in the bearer token is no base64 of a URL"
    try:
        parts = urlsplit(f"https://{url}")
        query = dict(parse_qsl(parts.query, max_num_fields=50))
    except ValueError:
        return f"what follows {PREFIX} in the bearer token is no URL"
    return _checked(parts.netloc, query)


def _checked(host: str, query: Mapping[str, str]) -> Token | str:
    if host != HOST or query.get("Action") != "CallWithBearerToken" or not query.get("X-Amz-Signature"):
        return f"the bearer token is no presigned CallWithBearerToken of {HOST}"
    scope = query.get("X-Amz-Credential", "").split("/")
    if len(scope) != 5 or scope[3:] != ["sagemaker", "aws4_request"]:
        return "the bearer token's X-Amz-Credential is not KEY/DATE/REGION/sagemaker/aws4_request"
    seconds = query.get("X-Amz-Expires", "")
    if not (seconds.isascii() and seconds.isdigit() and 1 <= int(seconds[:9]) <= MAX_SECONDS):
        return f"the bearer token's X-Amz-Expires is {seconds[:20]!r}; it must be 1 to {MAX_SECONDS} seconds"
    try:
        signed_at = datetime.strptime(query.get("X-Amz-Date", ""), "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return "the bearer token's X-Amz-Date is no time such as 20261130T120000Z"
    return Token(access_key_id=scope[0], region=scope[2], expires_at=signed_at + timedelta(seconds=int(seconds)))
