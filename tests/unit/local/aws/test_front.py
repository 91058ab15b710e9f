"""One port for every service: who answers, and how bodies get to moto and back."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import sys
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.aws.fake_sagemaker import OTHER_ACCOUNT
from tests.unit.local.aws.running import CAPABILITIES, REGION, Running, running
from tests.unit.local.aws.templates import parameter, text, variant_text
from warmstack.local.aws.errors import RefusedError
from warmstack.local.aws.moto_app import MotoBridge, load_moto
from warmstack.local.aws.moto_calls import MotoCalls
from warmstack.local.aws.progress import Progress, waiting_for
from warmstack.local.aws.stacks.journal import Journal
from warmstack.local.aws.stacks.records import Desired, Resource
from warmstack.local.aws.stacks.store import Store
from warmstack.local.errors import LocalError

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def test_large_objects_go_to_s3_and_come_back(aws: Running) -> None:
    s3 = aws.client("s3")
    s3.create_bucket(Bucket="assets", CreateBucketConfiguration={"LocationConstraint": REGION})
    data = bytes(range(256)) * 50_000  # 12.8 MB: more than is kept in memory
    s3.put_object(Bucket="assets", Key="a/b c+ü.zip", Body=data)
    assert s3.get_object(Bucket="assets", Key="a/b c+ü.zip")["Body"].read() == data
    # boto3 sends a stream of unknown length in chunks, with a checksum behind them.
    s3.upload_fileobj(io.BytesIO(data), "assets", "streamed")
    assert s3.head_object(Bucket="assets", Key="streamed")["ContentLength"] == len(data)
    with DIRECT.open(s3.generate_presigned_url("get_object", Params={"Bucket": "assets", "Key": "streamed"})) as found:
        assert found.read() == data
    for one in s3.list_objects_v2(Bucket="assets")["Contents"]:
        s3.delete_object(Bucket="assets", Key=one["Key"])
    s3.delete_bucket(Bucket="assets")
    assert s3.list_buckets()["Buckets"] == []


def _put(aws: Running, length: int, body: bytes) -> socket.socket:
    port = aws.url.rpartition(":")[2]
    head = (
        f"PUT /assets/broken.zip HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: {length}\r\n"
        "Authorization: AWS4-HMAC-SHA256 Credential=local/20261130/us-west-2/s3/aws4_request, SignedHeaders=host, "
        "Signature=0\r\n\r\n"
    )
    found = socket.create_connection(("127.0.0.1", int(port)), timeout=10)
    found.sendall(head.encode() + body)
    return found


def test_an_upload_that_breaks_off_leaves_nothing(aws: Running) -> None:
    s3 = aws.client("s3")
    s3.create_bucket(Bucket="assets", CreateBucketConfiguration={"LocationConstraint": REGION})
    for broken in range(3):
        _put(aws, 100_000, b"x" * (1 + broken)).close()
    # What is sent after it is answered after it.
    with _put(aws, 5, b"whole") as whole:
        assert b" 200 " in whole.recv(1000)
    assert s3.head_object(Bucket="assets", Key="broken.zip")["ContentLength"] == 5
    time.sleep(0.2)
    assert s3.get_object(Bucket="assets", Key="broken.zip")["Body"].read() == b"whole"
    s3.delete_object(Bucket="assets", Key="broken.zip")
    s3.delete_bucket(Bucket="assets")


@pytest.mark.parametrize(
    ("messages", "status"),
    [
        ([{"type": "http.request", "body": b"ab", "more_body": True}, {"type": "http.disconnect"}], None),
        ([{"type": "http.request", "body": b"ab"}], 400),
        ([{"type": "http.request", "body": b"ab", "more_body": True}, {"type": "http.request", "body": b"c"}], 200),
    ],
)
def test_only_a_whole_body_reaches_moto(messages: list[dict[str, Any]], status: int | None) -> None:
    seen: list[bytes] = []

    def application(environ: dict[str, Any], start: Any) -> list[bytes]:
        seen.append(environ["wsgi.input"].read())
        start("200 OK", [])
        return [b""]

    sent: list[dict[str, Any]] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "PUT", "query_string": b"", "raw_path": b"/a/b", "path": "/a/b",
             "headers": [(b"content-length", b"3")]}  # fmt: skip
    bridge = MotoBridge(application, "111122223333")
    asyncio.run(bridge(scope, receive, send))
    bridge.close()
    assert seen == ([b"abc"] if status == 200 else [])
    assert next((one["status"] for one in sent), None) == status


def test_every_key_is_of_the_one_account(aws: Running) -> None:
    assert aws.client("sts").get_caller_identity()["Account"] == "111122223333"
    role = aws.client("sts").assume_role(RoleArn="arn:aws:iam::111122223333:role/any", RoleSessionName="me")
    assert role["AssumedRoleUser"]["Arn"].startswith("arn:aws:sts::111122223333:")


def test_a_service_that_is_not_there_is_named_and_not_asked_again(aws: Running) -> None:
    with pytest.raises(ClientError, match="the local AWS has no sqs; it has cloudformation, sagemaker, ecr"):
        aws.client("sqs").list_queues()


def test_what_moto_cannot_do_is_not_asked_again(aws: Running, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ClientError) as caught:
        aws.client("ecr").get_download_url_for_layer(repositoryName="x-y", layerDigest="x")
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 501


def test_sagemaker_answers_its_own_requests(aws: Running) -> None:
    assert aws.client("sagemaker").list_endpoints()["Endpoints"] == []
    with pytest.raises(ClientError, match="nothing serves here"):
        aws.client("sagemaker-runtime").invoke_endpoint(EndpointName="demo", Body=b"{}")
    for path in ("/endpoints/demo/openai/v1/chat/completions", "/_warmstack/status"):
        with pytest.raises(urllib.error.HTTPError, match="503"):
            DIRECT.open(f"{aws.url}{path}", timeout=10)


def test_sagemaker_is_in_one_region(aws: Running) -> None:
    aws.create(variant_text())
    elsewhere = "SageMaker is in us-west-2 here, and the request is signed for eu-west-1"
    client = aws.client("sagemaker", "eu-west-1")
    for call in (client.list_endpoints, lambda: client.describe_endpoint(EndpointName="demo")):
        with pytest.raises(ClientError, match=elsewhere) as raised:
            call()
        assert raised.value.response["Error"]["Code"] == "ValidationException"
    with pytest.raises(ClientError, match=elsewhere) as raised:
        aws.client("sagemaker-runtime", "eu-west-1").invoke_endpoint(EndpointName="demo", Body=b"{}")
    assert raised.value.response["Error"]["Code"] == "ValidationError"
    assert len(aws.client("sagemaker").list_endpoints()["Endpoints"]) == 1


def test_a_page_of_another_site_is_refused(aws: Running) -> None:
    request = urllib.request.Request(f"{aws.url}/_warmstack/stacks", headers={"Host": "evil.example"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        DIRECT.open(request, timeout=10)


def test_stacks_are_seen_from_outside(aws: Running) -> None:
    aws.create(text({"One": parameter("1")}))
    with DIRECT.open(f"{aws.url}/_warmstack/stacks", timeout=10) as found:
        document = json.loads(found.read())
    (stack,) = document["stacks"]
    assert (stack["name"], stack["status"], stack["resources"]) == ("demo", "CREATE_COMPLETE", 1)
    assert stack["last_events"][0]["status"] == "CREATE_COMPLETE"


def test_a_description_waits_for_a_stack_that_is_worked_on() -> None:
    with running(account=OTHER_ACCOUNT, polls=8, linger_seconds=20.0) as aws:
        aws.cloudformation.create_stack(StackName="demo", TemplateBody=variant_text(), Capabilities=CAPABILITIES)
        assert aws.stack()["StackStatus"] == "CREATE_COMPLETE"


def test_moto_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "moto.core.config", None)
    with pytest.raises(LocalError, match=r"warmstack\[local,local-aws\]"):
        load_moto()


def test_members_that_a_service_does_not_take_are_a_refusal() -> None:
    calls = MotoCalls(load_moto(), "111122223333")
    with pytest.raises(RefusedError, match="valid min length: 2"):
        asyncio.run(calls.call("ecr", "CreateRepository", {"repositoryName": "x"}, region=REGION))
    calls.close()


class TestProgress:
    """What stacks are waiting for, told once nothing has happened for a while."""

    def test_it_says_what_is_made_and_what_waits(self) -> None:
        told: list[str] = []
        store = Store("111122223333")
        now = datetime(2026, 11, 30, tzinfo=UTC)
        journal = Journal(lambda: now, lambda _: None)
        never = {**parameter("1"), "Condition": "Never"}
        resources = {**{name: parameter("1") for name in "ABCDEFGH"}, "Absent": never}
        document = json.loads(text(resources, Conditions={"Never": {"Fn::Equals": ["a", "b"]}}))
        stack = store.new("demo", REGION, Desired(text="", document=document), now)
        store.add(stack)
        journal.stack(stack, "CREATE_IN_PROGRESS")
        journal.resource(stack, _resource("A", now), "CREATE_IN_PROGRESS")
        progress = Progress(store, told.append)
        progress.look()
        assert told == []
        progress.look()
        assert told == [
            "stack demo: CREATE_IN_PROGRESS: working on A (create); B, C, D, E, F and 2 more wait",
        ]
        journal.stack(stack, "CREATE_COMPLETE")
        progress.look()
        progress.look()
        assert len(told) == 1

    def test_of_an_update_nobody_knows_what_waits(self) -> None:
        now = datetime(2026, 11, 30, tzinfo=UTC)
        stack = Store("111122223333").new("demo", REGION, Desired(text="", document={}), now)
        stack.status = "UPDATE_IN_PROGRESS"
        assert waiting_for(stack) == "stack demo: UPDATE_IN_PROGRESS: working on nothing"

    def test_it_looks_again_and_again(self) -> None:
        waits: list[float] = []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)
            if len(waits) == 3:
                raise TimeoutError

        progress = Progress(Store("111122223333"), lambda _: None)
        with pytest.raises(TimeoutError):
            asyncio.run(progress.run(10.0, sleep))
        assert waits == [10.0] * 3


def test_events_are_a_millisecond_apart() -> None:
    now = datetime(2026, 11, 30, tzinfo=UTC)
    journal = Journal(lambda: now, lambda _: None)
    stack = Store("111122223333").new("demo", REGION, Desired(text="", document={}), now)
    for _ in range(3):
        journal.stack(stack, "CREATE_IN_PROGRESS")
    assert [one.at - now for one in stack.events] == [timedelta(milliseconds=index) for index in range(3)]


def _resource(logical_id: str, now: datetime) -> Resource:
    return Resource(logical_id=logical_id, kind="AWS::SSM::Parameter", changed_at=now)
