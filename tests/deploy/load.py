"""Requests without a pause, while something is deployed."""

from __future__ import annotations

import json
import threading

import boto3
from botocore.config import Config

from tests.deploy.process import WAIT_SECONDS
from tests.deploy.toolkit import REGION

BODY = json.dumps({"messages": [{"role": "user", "content": "hello"}], "max_tokens": 4})


class Load:
    """A client that asks without a pause until it is told to stop.

    Args:
        url: The local AWS.
        endpoint: The endpoint's name.
        component: The component or adapter that is asked.
    """

    def __init__(self, url: str, endpoint: str, component: str | None = None) -> None:
        self._where = {"EndpointName": endpoint} | ({"InferenceComponentName": component} if component else {})
        self._client = boto3.client(
            "sagemaker-runtime",
            endpoint_url=url,
            region_name=REGION,
            aws_access_key_id="local",
            aws_secret_access_key="local",
            config=Config(retries={"total_max_attempts": 1}, proxies={}),
        )
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.answered = 0
        self.failures: list[str] = []

    def _run(self) -> None:
        while not self._end.is_set():
            try:
                answer = self._client.invoke_endpoint(**self._where, ContentType="application/json", Body=BODY)
                answer["Body"].read()
                self.answered += 1
            except Exception as error:
                self.failures.append(repr(error))

    def __enter__(self) -> Load:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join(WAIT_SECONDS)
        self._client.close()
