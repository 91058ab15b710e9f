"""Real clients, as applications make them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import boto3
from botocore.config import Config

from tests.unit.local.definitions import REGION

_open: list[Any] = []


def close_all() -> None:
    """Close every client that was made: their connections would be complained of by the tests that come after."""
    while _open:
        _open.pop().close()


def session() -> boto3.Session:
    # The documentation's own example of a key.
    return boto3.Session(
        aws_access_key_id="AKIAIOSFODNN7EXAMPLE", aws_secret_access_key="not-a-secret", region_name=REGION
    )


def runtime(url: str, **options: Any) -> Any:
    config = Config(retries={"total_max_attempts": 1}, read_timeout=70, **options)
    _open.append(client := session().client("sagemaker-runtime", endpoint_url=url, config=config))
    return client


def control(url: str) -> Any:
    config = Config(retries={"total_max_attempts": 1})
    _open.append(client := session().client("sagemaker", endpoint_url=url, config=config))
    return client


def chat(text: str = "hello", **members: Any) -> bytes:
    return json.dumps({"messages": [{"role": "user", "content": text}], "max_tokens": 4} | members).encode()


def parts(response: Any) -> Iterator[bytes]:
    for event in response["Body"]:
        yield event["PayloadPart"]["Bytes"]
