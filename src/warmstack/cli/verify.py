"""`warmstack verify`: what a deploy has made, looked at from outside."""

from __future__ import annotations

import sys
import time
import uuid
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warmstack.cli.client_target import TargetOrder
from warmstack.cli.console import print_json
from warmstack.cli.local_services import ANSWER_SECONDS, services_at
from warmstack.cli.operate_report import show_report
from warmstack.client import EndpointClient, EndpointError, connect
from warmstack.client.connections import Connection, is_loopback
from warmstack.operate import (
    Named,
    OperateError,
    Place,
    VerifyOrder,
    VerifyTools,
    Waiting,
    check_named,
    find_place,
    make_client,
    verify,
)
from warmstack.units import parse_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    """How an endpoint is verified.

    Args:
        assembly: What it is to be: a cloud assembly or template.
        timeout: The longest wait, as ``20m``.
        canary: Whether requests are sent that generate something.
        strict: Whether warnings and what could not be seen count as failures.
    """

    assembly: Path | None
    timeout: str
    canary: bool
    strict: bool


def run_verify(where: TargetOrder, options: VerifyOptions, *, as_json: bool) -> int:
    """Look, and write what was seen. Returns 1 if something is wrong."""
    try:
        timeout = parse_seconds(options.timeout)
    except ValueError as error:
        raise OperateError(f"--timeout: {error}") from error
    check_named(where.target, where.stack, options.assembly)
    patience = max(1.0, min(timeout, ANSWER_SECONDS))
    with closing(_connected(where, patience)) as connection:
        # One address serves the runtime and the control plane of a local endpoint.
        url = connection.runtime_url if where.port is not None else where.endpoint_url
        local = services_at(url, seconds=patience) if url is not None and is_loopback(url) else None
        # A local AWS has the stacks of its endpoints; AWS's own must not be asked for them.
        stacks = url if local is not None and local.kind == "aws" else None

        def service(name: str, address: str | None) -> Any:
            return make_client(
                connection.session, name, region=where.region, endpoint_url=address, longest_seconds=timeout
            )

        def cloudformation() -> Any:
            return _with_stacks(service("cloudformation", stacks))

        place = find_place(
            Named(
                target=where.target,
                stack=where.stack,
                assembly=options.assembly,
                stackless=local.lacks("stacks") if local is not None and where.port is not None and not stacks else "",
                region=connection.known_region(),
            ),
            cloudformation,
        )
        if where.port is not None and local is not None and local.is_refused:
            raise OperateError(
                f"{local.lacks('endpoint')}; `warmstack local up` or `warmstack local aws up` serves one, --port "
                "names another port"
            )
        order = VerifyOrder(
            endpoint=place.endpoint,
            region=connection.known_region(),
            outputs=place.outputs,
            canary=options.canary,
            waiting=Waiting(timeout_seconds=timeout, clock=time.monotonic, sleep=time.sleep, progress=_progress),
        )
        report = verify(order, _tools(place, connection, service("sagemaker", url)))
    if as_json:
        print_json(report.document(strict=options.strict))
    else:
        show_report(report, strict=options.strict)
    return int(report.failed(strict=options.strict))


def _connected(where: TargetOrder, patience: float) -> Connection:
    from botocore.exceptions import NoRegionError

    try:
        return connect(**where.connection_options(patience))
    except EndpointError as error:
        if isinstance(error.__cause__, NoRegionError):
            raise OperateError("there is no Region: give --region, or set AWS_REGION") from error
        raise


def _with_stacks(client: Any) -> Any:
    """Return a client of CloudFormation, unless the environment leads it to a local endpoint, which has no stacks."""
    url = client.meta.endpoint_url
    local = services_at(url) if is_loopback(url) else None
    if local is not None and local.kind == "endpoint":
        raise OperateError(
            f"CloudFormation is asked at {url}, as the environment says, and {local.lacks('stacks')}; give --assembly "
            "cdk.out, or deploy the stack to `warmstack local aws up`"
        )
    return client


def _tools(place: Place, connection: Any, sagemaker: Any) -> VerifyTools:
    return VerifyTools(
        sagemaker=sagemaker,
        client_of=lambda name: EndpointClient(place.endpoint, component=name, connection=connection),
        expected_of=place.expected_of,
        nothing=place.nothing,
        around=place.around,
        wall=lambda: datetime.now(UTC),
        new_id=lambda: uuid.uuid4().hex,
    )


def _progress(what: str, seconds: float) -> None:
    print(f"waiting ({seconds:.0f} s): {what}", file=sys.stderr, flush=True)
