"""Real clients, as applications make them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import boto3
from botocore.config import Config

from tests.unit.local.definitions import REGION

_open: dict[tuple[Any, ...], Any] = {}
_lock = threading.Lock()


def close_all() -> None:
    """Close every client that was made: their connections would be complained of by the tests that come after."""
    while _open:
        _open.popitem()[1].close()


def session() -> boto3.Session:
    # The documentation's own example of a key.
    return boto3.Session(
        aws_access_key_id="AKIAIOSFODNN7EXAMPLE", aws_secret_access_key="not-a-secret", region_name=REGION
    )


def runtime(url: str, **options: Any) -> Any:
    return _client("sagemaker-runtime", url, **options)


def control(url: str) -> Any:
    return _client("sagemaker", url)


def _client(service: str, url: str, **options: Any) -> Any:
    key = (service, url, *options.items())
    with _lock:
        if key not in _open:
            config = Config(retries={"total_max_attempts": 1}, read_timeout=70, max_pool_connections=64, **options)
            _open[key] = session().client(service, endpoint_url=url, config=config)
        return _open[key]


def chat(text: str = "hello", **members: Any) -> bytes:
    return json.dumps({"messages": [{"role": "user", "content": text}], "max_tokens": 4} | members).encode()


def whole(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer whose body has been read: an unread one keeps its connection."""
    return answer | {"Body": answer["Body"].read()}


def parts(response: Any) -> Iterator[bytes]:
    try:
        for event in response["Body"]:
            yield event["PayloadPart"]["Bytes"]
    finally:
        response["Body"].close()
