"""A server that is not AWS's and answers everything with 200: what is said is that it is another one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from botocore.config import Config

from tests.unit.local.clients import session
from tests.unit.operate.preflighting import SPEC, plan_of
from tests.unit.operate.test_preflight import HUB_SPEC
from warmstack.client import AnswerMalformed
from warmstack.client.address import read_outputs
from warmstack.operate import Account, describe_stack, preflight
from warmstack.operate.asking import RefusedError
from warmstack.operate.verification.live import Live

BODIES = {"a page": b"<html>hello</html>", "nothing": b"", "a list": b"[1]", "an object": b"{}"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    body = b""

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body if self.command != "HEAD" else b"")

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        self.do_GET()


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(params=list(BODIES))
def url(server: ThreadingHTTPServer, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(Handler, "body", BODIES[request.param])
    return f"http://localhost:{server.server_address[1]}"


def client(service: str, url: str) -> Any:
    return session().client(
        service, region_name="us-west-2", endpoint_url=url, config=Config(retries={"total_max_attempts": 1})
    )


def test_what_answers_for_sagemaker_is_not_sagemaker(url: str) -> None:
    live = Live(client("sagemaker", url))
    for look in (live.endpoint, live.configuration, live.component):
        with pytest.raises(RefusedError, match="what answers at this address is not SageMaker: ") as caught:
            look("demo")
        assert caught.value.kind == "foreign"
        assert caught.value.way_out().startswith("look at the address that is asked: --endpoint-url, AWS_ENDPOINT_URL")


def test_what_answers_for_cloudformation_is_not_cloudformation(url: str) -> None:
    with pytest.raises(RefusedError, match="what answers at this address is not CloudFormation: "):
        describe_stack(client("cloudformation", url), "demo")
    with pytest.raises(AnswerMalformed):
        read_outputs("demo", stack=None, cloudformation=lambda: client("cloudformation", url))


@pytest.mark.parametrize("text", [SPEC, HUB_SPEC], ids=["s3", "hub"])
def test_a_preflight_sees_nothing_there(url: str, tmp_path: Path, text: str) -> None:
    plan = plan_of(tmp_path, text)
    # What lies under a key may be anything: an archive is read, and judged.
    plan = replace(plan, models=tuple(replace(one, adapters=()) for one in plan.models))
    report = preflight(plan, Account(region="us-west-2", make=lambda name: client(name, url)))
    seen = [one for one in report.results if one.check.id != "hub"]
    assert report.failed()
    # Of a HEAD's answer nothing tells that it is not S3's, but that its Region is missing.
    outcomes = {one.outcome for one in seen if one.seen != "S3 did not tell its Region"}
    assert outcomes == {"fail"}, [(one.check.id, one.seen) for one in seen]
    # botocore takes what is no XML for a failure of S3's own; and a HEAD's answer has no body to tell by.
    told = ("what answers at this address is not ", "s3:ListBucket answered 500", "S3 did not tell its Region")
    assert [one.seen for one in seen if not any(text in one.seen for text in told)] == []


def test_members_of_other_types_are_not_sagemakers(
    server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    variants = b'"ProductionVariants": [{"VariantName": "a", "CurrentInstanceCount": "x"}]'
    monkeypatch.setattr(Handler, "body", b'{"EndpointName": "demo", "EndpointStatus": "InService", %s}' % variants)
    with pytest.raises(RefusedError, match="the answer is not of its form"):
        Live(client("sagemaker", f"http://localhost:{server.server_address[1]}")).endpoint("demo")
