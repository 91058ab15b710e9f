"""Bearer tokens: every way in which one can be wrong has its own words."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstack.local.wire.bearer import PREFIX, Token, read_token, token_problem

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
QUERY = {
    "Action": "CallWithBearerToken",
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": "AKIAIOSFODNN7EXAMPLE%2F20261130%2Fus-west-2%2Fsagemaker%2Faws4_request",
    "X-Amz-Date": "20261130T110000Z",
    "X-Amz-Expires": "7200",
    "X-Amz-SignedHeaders": "host",
    "X-Amz-Signature": "00ff",
    "Version": "1",
}


def token(host: str = "sagemaker.amazonaws.com", **changes: str) -> str:
    query = {key: changes.pop(key.replace("-", "_"), value) for key, value in QUERY.items()}
    assert not changes
    url = f"{host}/?" + "&".join(f"{key}={value}" for key, value in query.items())
    return PREFIX + base64.b64encode(url.encode()).decode()


def problem(authorization: str | None, *, region: str = "us-west-2", now: datetime = NOW) -> str | None:
    return token_problem(authorization, region=region, now=now)


def test_a_right_token_is_read() -> None:
    assert read_token(token()) == Token(
        access_key_id="AKIAIOSFODNN7EXAMPLE", region="us-west-2", expires_at=NOW + timedelta(hours=1)
    )
    assert problem(f"Bearer {token()}") is None


@pytest.mark.parametrize(
    ("authorization", "text"),
    [
        (None, "there is no Authorization header"),
        ("AWS4-HMAC-SHA256 Credential=x", "takes a bearer token, no SigV4 signature"),
        ("Bearer sk-1", "does not start with sagemaker-api-key-"),
        (f"Bearer {PREFIX}!!!", "no base64 of a URL"),
        (f"Bearer {PREFIX}{base64.b64encode(b'[x').decode()}", "no URL"),
        (f"Bearer {token(host='example.com')}", "no presigned CallWithBearerToken of sagemaker.amazonaws.com"),
        (f"Bearer {token(Action='DeleteEndpoint')}", "no presigned CallWithBearerToken"),
        (f"Bearer {token(X_Amz_Signature='')}", "no presigned CallWithBearerToken"),
        (f"Bearer {token(X_Amz_Credential='key')}", "X-Amz-Credential is not KEY/DATE/REGION"),
        (f"Bearer {token(X_Amz_Expires='43201')}", "X-Amz-Expires is '43201'; it must be 1 to 43200 seconds"),
        (f"Bearer {token(X_Amz_Expires='soon')}", "X-Amz-Expires is 'soon'"),
        (f"Bearer {token(X_Amz_Date='today')}", "X-Amz-Date is no time"),
        (f"Bearer {token(X_Amz_Expires='60')}", "the bearer token expired at 2026-11-30T11:01:00Z; make a new one"),
    ],
)
def test_what_is_wrong_is_told(authorization: str | None, text: str) -> None:
    found = problem(authorization)
    assert found is not None
    assert text in found


def test_a_token_is_for_one_region_and_ends_on_the_second() -> None:
    assert problem(f"Bearer {token()}", region="eu-west-1") == (
        "the bearer token is for us-west-2, and the endpoint is in eu-west-1"
    )
    assert problem(f"bearer {token()}", now=NOW + timedelta(seconds=3599)) is None
    assert problem(f"Bearer {token()}", now=NOW + timedelta(seconds=3600)) is not None


@given(st.text(max_size=200))
def test_nothing_that_is_sent_raises(text: str) -> None:
    assert problem(text) is not None
    assert problem(f"Bearer {PREFIX}{base64.b64encode(text.encode('utf-8', 'replace')).decode()}") is not None
