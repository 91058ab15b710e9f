"""Tokens: those of the SageMaker SDK, byte for byte; held by the local endpoint's check; made anew in time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import botocore.auth
import pytest
from botocore.credentials import Credentials, RefreshableCredentials
from botocore.exceptions import CredentialRetrievalError

from tests.unit.local.sagemaker_sdk import generate_token
from warmstack.client.failures import AccessDenied, InvalidArgument
from warmstack.client.token import TokenSource, bearer_token
from warmstack.local.wire.bearer import Token, read_token, token_problem

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
REGION = "us-west-2"
# The documentation's own example of a key.
KEY = "AKIAIOSFODNN7EXAMPLE"


class Provider:
    """Credentials as the SDK takes them."""

    def __init__(self, credentials: Credentials) -> None:
        self.credentials = credentials

    def load(self) -> Credentials:
        return self.credentials


@pytest.mark.parametrize("session_token", [None, "a/session+token=="])
@pytest.mark.parametrize(
    "expires", [timedelta(hours=12), timedelta(seconds=1), timedelta(minutes=15, milliseconds=700)]
)
@pytest.mark.parametrize("region", [REGION, "cn-north-1"])
def test_a_token_is_the_sdks(
    monkeypatch: pytest.MonkeyPatch, session_token: str | None, expires: timedelta, region: str
) -> None:
    credentials = Credentials(KEY, "not-a-secret", session_token)
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda: NOW.replace(tzinfo=None))
    theirs = generate_token(region=region, aws_credentials_provider=Provider(credentials), expiry=expires)
    local_time = NOW.astimezone(datetime.now().astimezone().tzinfo)
    assert bearer_token(credentials, region, expires=expires, now=local_time) == theirs
    found = read_token(theirs)
    assert found == Token(
        access_key_id=KEY, region=region, expires_at=NOW + timedelta(seconds=int(expires.total_seconds()))
    )


@pytest.mark.parametrize("expires", [timedelta(0), timedelta(milliseconds=900), timedelta(hours=12, seconds=1)])
def test_a_token_holds_a_second_to_twelve_hours(expires: timedelta) -> None:
    with pytest.raises(InvalidArgument, match="a token holds 1 to 43200 s"):
        bearer_token(Credentials(KEY, "x"), REGION, expires=expires, now=NOW)
    with pytest.raises(InvalidArgument, match="a token holds 1 to 43200 s"):
        TokenSource(Credentials(KEY, "x"), REGION, expires=expires)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


def source(credentials: Any, clock: Clock, **options: Any) -> Callable[[], str]:
    return TokenSource(credentials, REGION, clock=clock, **options)


@pytest.mark.parametrize("expires", [timedelta(hours=12), timedelta(seconds=100), timedelta(seconds=1)])
def test_a_token_is_kept_while_it_holds_and_made_anew_before_it_does_not(expires: timedelta) -> None:
    clock = Clock()
    tokens = source(Credentials(KEY, "x"), clock, expires=expires)
    first = tokens()
    seen = {first}
    for _ in range(400):
        clock.now += expires / 100
        token = tokens()
        assert token_problem(f"Bearer {token}", region=REGION, now=clock.now) is None
        seen.add(token)
    assert len(seen) >= 4
    if expires > timedelta(seconds=1):
        assert len(seen) <= 6
    clock.now = NOW + expires * 50
    assert token_problem(f"Bearer {tokens()}", region=REGION, now=clock.now) is None


def test_credentials_that_were_renewed_give_a_new_token() -> None:
    clock, renewed = Clock(), []

    def renew() -> dict[str, str]:
        renewed.append(clock.now)
        expiry = clock.now + timedelta(hours=1)
        return {
            "access_key": f"{KEY}{len(renewed)}",
            "secret_key": "x",
            "token": "t",
            "expiry_time": expiry.isoformat(),
        }

    credentials = RefreshableCredentials.create_from_metadata(renew(), renew, "test")
    credentials._time_fetcher = clock
    tokens = source(credentials, clock)
    first = tokens()
    clock.now += timedelta(minutes=30)
    assert tokens() == first
    clock.now += timedelta(minutes=20)  # the last ten minutes: botocore renews the credentials
    found = read_token(tokens())
    assert isinstance(found, Token)
    assert found.access_key_id == f"{KEY}2"


def test_threads_share_one_token() -> None:
    tokens = source(Credentials(KEY, "x"), Clock())
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: tokens(), range(200)))) == 1


def test_without_credentials_there_is_no_token() -> None:
    with pytest.raises(AccessDenied, match="no AWS credentials"):
        bearer_token(None, REGION, now=NOW)

    class Broken:
        def get_frozen_credentials(self) -> None:
            raise CredentialRetrievalError(provider="role", error_msg="expired")

    with pytest.raises(AccessDenied, match="Error when retrieving credentials from role: expired"):
        source(Broken(), Clock())()
