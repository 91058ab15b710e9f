"""A local AWS in a thread of its own, and real clients of it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

import boto3
import uvicorn
from botocore.config import Config

from tests.unit.local.aws.fake_sagemaker import ACCOUNT, REGION, FakeSageMaker
from tests.unit.local.aws.in_memory import InMemoryApp
from warmstack.local.aws.assembled import LocalAws, make_local_aws
from warmstack.local.serving import listen

WAIT_SECONDS = 30
CAPABILITIES = ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"]


@dataclass
class Running:
    """A local AWS that answers."""

    url: str
    aws: LocalAws
    sagemaker: FakeSageMaker
    loop: asyncio.AbstractEventLoop
    reports: list[str] = field(default_factory=list)
    clients: dict[tuple[str, str], Any] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def client(self, service: str, region: str = REGION) -> Any:
        key = (service, region)
        if key not in self.clients:
            self.clients[key] = boto3.session.Session().client(
                service,
                endpoint_url=self.url,
                region_name=region,
                aws_access_key_id="local",
                aws_secret_access_key="local",
                config=Config(retries={"total_max_attempts": 1}, proxies={}, read_timeout=WAIT_SECONDS),
            )
        return self.clients[key]

    @property
    def cloudformation(self) -> Any:
        return self.client("cloudformation")

    def failed(self, name: str = "demo") -> dict[str, str]:
        """Return the reasons of what failed."""
        return {key: why for key, why in self.reasons(self.stack(name)["StackId"]).items() if key.endswith("_FAILED")}

    def create(self, template: str, name: str = "demo", **more: Any) -> dict[str, Any]:
        self.cloudformation.create_stack(StackName=name, TemplateBody=template, Capabilities=CAPABILITIES, **more)
        return self.settled(name)

    def update(self, template: str, name: str = "demo", **more: Any) -> dict[str, Any]:
        self.cloudformation.update_stack(StackName=name, TemplateBody=template, Capabilities=CAPABILITIES, **more)
        return self.settled(name)

    def delete(self, name: str = "demo", **more: Any) -> dict[str, Any]:
        stack_id = self.stack(name)["StackId"]
        self.cloudformation.delete_stack(StackName=name, **more)
        return self.settled(stack_id)

    def stack(self, name: str = "demo") -> dict[str, Any]:
        (found,) = self.cloudformation.describe_stacks(StackName=name)["Stacks"]
        return dict(found)

    def settled(self, name: str = "demo", region: str = REGION) -> dict[str, Any]:
        client = self.client("cloudformation", region)
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            (found,) = client.describe_stacks(StackName=name)["Stacks"]
            if not found["StackStatus"].endswith("IN_PROGRESS"):
                return dict(found)
        raise AssertionError(f"{name} does not settle: {found}")

    def events(self, name: str = "demo") -> list[str]:
        """Return the events in their order: the logical id and the status."""
        found = self.cloudformation.describe_stack_events(StackName=name)["StackEvents"]
        return [f"{one['LogicalResourceId']} {one['ResourceStatus']}" for one in reversed(found)]

    def reasons(self, name: str = "demo") -> dict[str, str]:
        """Return the reason of the last event that has one, by the logical id and the status."""
        found = self.cloudformation.describe_stack_events(StackName=name)["StackEvents"]
        return {
            f"{one['LogicalResourceId']} {one['ResourceStatus']}": one["ResourceStatusReason"]
            for one in reversed(found)
            if "ResourceStatusReason" in one
        }

    def since(self, mark: int, name: str = "demo") -> list[str]:
        """Return the events after a number of them, without those that only say that something goes on."""
        return [one for one in self.events(name)[mark:] if not one.endswith(" IN_PROGRESS")]

    def resources(self, name: str = "demo") -> Mapping[str, dict[str, Any]]:
        found = self.cloudformation.list_stack_resources(StackName=name)["StackResourceSummaries"]
        return {one["LogicalResourceId"]: one for one in found}

    def outputs(self, name: str = "demo") -> dict[str, str]:
        return {one["OutputKey"]: one["OutputValue"] for one in self.stack(name).get("Outputs", [])}

    def be_quick(self) -> None:
        """Have all that passes in SageMaker come to rest when it is described next."""

        async def change() -> None:
            self.sagemaker.polls = 1
            for one in self.sagemaker.things.values():
                one.passing = min(one.passing, 1)

        asyncio.run_coroutine_threadsafe(change(), self.loop).result(WAIT_SECONDS)

    def empty(self, kept: str = "") -> None:
        """Delete every stack but one, and forget what was called."""
        self.sagemaker.failures.clear()
        for region in {one.region for one in self.aws.store.there()}:
            client = self.client("cloudformation", region)
            for one in [one for one in self.aws.store.there(region) if one.name != kept]:
                client.update_termination_protection(StackName=one.id, EnableTerminationProtection=False)
                client.delete_stack(StackName=one.id)
                while client.describe_stacks(StackName=one.id)["Stacks"][0]["StackStatus"].endswith("IN_PROGRESS"):
                    time.sleep(0.01)
        ssm = self.client("ssm")
        for one in ssm.describe_parameters()["Parameters"] if not kept else []:
            ssm.delete_parameter(Name=one["Name"])
        self.sagemaker.things.clear()
        self.sagemaker.calls.clear()
        self.reports.clear()


# What an account holds outlives a local AWS in the process: no two of them may make the same names.
_SEEDS = count()


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextmanager
def running(
    *, account: str = ACCOUNT, polls: int = 1, linger_seconds: float = 3.0, pace: float = 0.02
) -> Iterator[Running]:
    """Run a local AWS with SageMaker in memory; ``pace`` makes waits shorter.

    What moto holds belongs to the process and the account: one that is left half done has an account of its own.
    """
    sagemaker = FakeSageMaker(polls, account=account)
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    reports: list[str] = []
    aws = make_local_aws(
        account=account,
        region=REGION,
        sagemaker=sagemaker,
        sagemaker_app=InMemoryApp(sagemaker),
        hosts=frozenset({"localhost", "127.0.0.1"}),
        report=reports.append,
        random=Random(next(_SEEDS)),
        sleep=lambda seconds: asyncio.sleep(seconds * pace),
        linger_seconds=linger_seconds,
    )
    server = _Server(uvicorn.Config(aws.app, log_config=None, lifespan="off", ws="none", timeout_keep_alive=3600))
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        await server.serve(sockets=[listener])
        await aws.close()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    found = Running(url=f"http://localhost:{port}", aws=aws, sagemaker=sagemaker, loop=loop, reports=reports)
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.005)
        yield found
    finally:
        server.should_exit = True
        for client in found.clients.values():
            client.close()
        thread.join(WAIT_SECONDS)
        listener.close()
        loop.close()
