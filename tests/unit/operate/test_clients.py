"""boto3's clients for questions: past the proxy of the environment where the address is of this machine."""

from __future__ import annotations

import boto3
import pytest

from warmstack.operate import make_client


@pytest.mark.parametrize(("url", "proxies"), [("http://localhost:8787", {}), ("http://aws.example.org", None)])
def test_this_machine_is_not_asked_through_a_proxy(
    monkeypatch: pytest.MonkeyPatch, url: str, proxies: dict[str, str] | None
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    session = boto3.Session(aws_access_key_id="local", aws_secret_access_key="local")
    client = make_client(session, "sts", region="us-west-2", endpoint_url=url)
    # None is botocore's default: the proxy of the environment.
    assert client.meta.config.proxies == proxies
    client.close()
