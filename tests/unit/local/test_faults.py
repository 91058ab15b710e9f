"""Faults: what clients see of them is what SageMaker would send, and the platform gets over them."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.clients import chat, runtime, whole
from tests.unit.local.definitions import component, endpoint, variant
from tests.unit.local.running import Local, running
from warmstack.local.errors import LocalError
from warmstack.local.platform.fault_orders import FaultOrder, inflict
from warmstack.local.simulated import Latency
from warmstack.local.wire.limits import Limits


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    definitions = endpoint(variants=(variant(instances=1),)), endpoint("parts", components=(component(copies=1),))
    with running(*definitions, folder=tmp_path, limits=Limits(response_seconds=1.0)) as local:
        yield local


def put(local: Local, fault: str, target: str, **options: float) -> str:
    order = FaultOrder(fault=fault, target=target, **options)  # type: ignore[arg-type]
    return local.run(inflict(local.platform, order))


def only_copy(local: Local, name: str = "demo") -> str:
    (found,) = local.platform.endpoints[name].copies
    return found


def invoke(local: Local, name: str = "demo") -> object:
    arguments = {"InferenceComponentName": "chat"} if name == "parts" else {}
    return whole(
        runtime(local.url).invoke_endpoint(EndpointName=name, ContentType="application/json", Body=chat(), **arguments)
    )


def refused(local: Local, name: str = "demo") -> dict[str, str]:
    with pytest.raises(ClientError) as raised:
        invoke(local, name)
    found: dict[str, str] = raised.value.response["Error"]
    return found


def test_a_copy_that_hangs_times_out_as_sagemaker_says_it(local: Local) -> None:
    assert put(local, "hang", only_copy(local)).endswith("hangs")
    error = refused(local)
    assert error["Code"] == "ModelError"
    assert error["Message"].startswith(
        'Received server error (0) from primary with message "Your invocation timed out while waiting for a response '
        "from container primary."
    )
    put(local, "heal", only_copy(local))
    assert invoke(local)


@pytest.mark.parametrize(
    ("copies", "named"), [(2, "i-1/chat-1, i-1/chat-2"), (9, ", ".join(f"i-1/chat-{at}" for at in range(1, 9)))]
)
def test_an_instance_with_several_copies_is_no_name_of_a_copy(tmp_path: Path, copies: int, named: str) -> None:
    hosts = variant(model=None, instances=1)
    with running(endpoint(variants=(hosts,), components=(component(copies=copies),)), folder=tmp_path) as local:
        with pytest.raises(LocalError) as raised:
            put(local, "kill", "i-1")
        more = " and 1 more" if copies == 9 else ""
        assert str(raised.value) == (
            f"'i-1' names more than one copy: {named}{more}; give the whole name of one, see `warmstack local status`"
        )
        assert put(local, "kill", "chat-2") == "i-1/chat-2 is killed"


def test_all_copies_can_be_healed_at_once(local: Local) -> None:
    for name in ("demo", "parts"):
        put(local, "slow", only_copy(local, name), seconds=30)
    assert put(local, "heal", "all") == "everything is well"
    assert invoke(local)


def test_an_endpoint_is_unavailable_for_some_requests(local: Local) -> None:
    assert put(local, "unavailable", "demo", times=2) == "demo is unavailable for 2 requests"
    assert [refused(local)["Code"] for _ in range(2)] == ["ServiceUnavailable"] * 2
    assert invoke(local)


def test_an_endpoint_is_unavailable_until_it_is_healed(local: Local) -> None:
    assert put(local, "unavailable", "demo") == "demo is unavailable"
    assert [refused(local)["Code"] for _ in range(3)] == ["ServiceUnavailable"] * 3
    assert invoke(local, "parts"), "the other endpoint has no such fault"
    put(local, "heal", "all")
    assert invoke(local)


def test_an_outage_lasts_for_one_request_or_more(local: Local) -> None:
    with pytest.raises(LocalError, match="times must be 1 or above"):
        put(local, "unavailable", "demo", times=0)


def test_a_slow_copy_answers_late(local: Local) -> None:
    put(local, "slow", only_copy(local), seconds=0.2)
    invoke(local)
    entry = next(local.services.journal.newest_first())
    assert entry.seconds is not None
    assert entry.seconds >= 0.2


def test_a_copy_that_is_killed_breaks_its_requests_off_and_another_takes_its_place(tmp_path: Path) -> None:
    latency = Latency(decode_seconds_per_token=5.0)
    with running(endpoint(variants=(variant(instances=1),)), folder=tmp_path, latency=latency) as local:
        before = only_copy(local)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(refused, local)
            local.until(lambda: local.platform.endpoints["demo"].copies[before].in_flight == 1)
            put(local, "kill", before)
            error = waiting.result(10)
        assert error["Message"] == (
            'Received server error (0) from primary with message "An error occurred while handling request as the '
            'model process exited."'
        )
        copies = local.platform.endpoints["demo"].copies
        local.until(lambda: before not in copies and [one.container is not None for one in copies.values()] == [True])
        # A new instance, too: the container was all that it had.
        assert only_copy(local).split("/")[0] != before.split("/")[0]


def test_a_copy_of_a_component_comes_back_on_the_same_instance(local: Local) -> None:
    before = only_copy(local, "parts")
    put(local, "kill", before)
    local.until(lambda: before not in local.platform.endpoints["parts"].copies)
    local.until(lambda: all(one.container for one in local.platform.endpoints["parts"].copies.values()))
    assert only_copy(local, "parts").split("/")[0] == before.split("/")[0]
    assert invoke(local, "parts")


def test_an_instance_that_fails_its_pings_is_replaced_unless_it_hosts_components(tmp_path: Path) -> None:
    definitions = endpoint(variants=(variant(instances=1),)), endpoint("parts", components=(component(copies=1),))
    with running(*definitions, folder=tmp_path, ping_seconds=0.02, ping_failures=2) as local:
        hung, kept = only_copy(local), only_copy(local, "parts")
        put(local, "hang", kept)
        put(local, "hang", hung)
        local.until(lambda: hung not in local.platform.endpoints["demo"].copies)
        assert only_copy(local, "parts") == kept


def test_a_component_can_be_out_of_capacity(local: Local) -> None:
    put(local, "refuse", "chat")
    assert "has no capacity" in refused(local, "parts")["Message"]
    put(local, "accept", "chat")
    assert invoke(local, "parts")


def test_an_answer_that_breaks_off_is_a_model_error(local: Local) -> None:
    put(local, "cut", only_copy(local), pieces=0, times=1)
    assert "the model process exited" in refused(local)["Message"]
    assert invoke(local)


@pytest.mark.parametrize(
    ("fault", "target", "text"),
    [
        ("explode", "i-1", "fault 'explode' does not exist; the faults are kill, hang"),
        ("kill", "i-99", "there is no copy 'i-99'; "),
        ("kill", "", "there is no copy ''; there is i-1/primary-"),
        ("refuse", "absent", "there is no component 'absent'; there is chat"),
        ("restart", "absent", "there is no instance 'absent'; "),
        ("expire", "absent", "session 'absent' is not open"),
    ],
)
def test_a_fault_that_cannot_be(local: Local, fault: str, target: str, text: str) -> None:
    with pytest.raises(LocalError, match=text.replace("(", r"\(")):
        put(local, fault, target)


def post(local: Local, path: str, order: object, headers: dict[str, str] | None = None) -> tuple[int, dict[str, str]]:
    data = json.dumps(order).encode()
    request = urllib.request.Request(f"{local.url}/_warmstack/{path}", data, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def test_faults_over_http_want_a_header_that_a_page_cannot_send(local: Local) -> None:
    order = {"fault": "slow", "target": only_copy(local), "seconds": 0.1}
    assert post(local, "faults", order)[0] == 403
    assert post(local, "stop", {})[0] == 403
    own = {"X-Warmstack": "1"}
    assert post(local, "faults", order, own) == (200, {"done": f"{only_copy(local)} slow by 0.1 s"})
    assert post(local, "faults", order, own | {"Host": "evil.example:80"})[0] == 403
    assert post(local, "faults", [1], own)[0] == 400
    assert post(local, "faults", {"surprise": 1}, own)[0] == 400


def test_many_clients_at_once_lose_nothing_while_copies_die(tmp_path: Path) -> None:
    with running(endpoint(variants=(variant(instances=3),)), folder=tmp_path) as local:
        copies = local.platform.endpoints["demo"].copies

        def all_serve() -> bool:
            return len(copies) == 3 and all(one.container for one in copies.values())

        async def kill_one() -> str:
            # Guard: named and killed in one step of the loop; between two steps a copy's end takes its name away.
            name = next(iter(copies))
            await inflict(local.platform, FaultOrder(fault="kill", target=name))
            return name

        client = runtime(local.url)
        outcomes: list[str] = []
        lock = threading.Lock()

        def work(number: int) -> None:
            for turn in range(20):
                try:
                    body = chat(f"{number} {turn}")
                    whole(client.invoke_endpoint(EndpointName="demo", ContentType="application/json", Body=body))
                    outcome = "answered"
                except ClientError as error:
                    outcome = error.response["Error"]["Code"]
                with lock:
                    outcomes.append(outcome)

        with ThreadPoolExecutor(6) as pool:
            futures = [pool.submit(work, number) for number in range(6)]
            for _ in range(3):
                killed = local.run(kill_one())
                local.until(lambda gone=killed: gone not in copies and all_serve())
            for future in futures:
                future.result(60)
        assert len(outcomes) == 120
        assert set(outcomes) <= {"answered", "ModelError", "ServiceUnavailable"}
        assert outcomes.count("answered") > 60
        assert [one.in_flight for one in copies.values()] == [0, 0, 0]


@pytest.mark.parametrize(("fault", "options"), [("slow", {"seconds": 60}), ("cut", {"pieces": 0})])
def test_slow_and_cut_answers_leave_the_health_check_alone(
    tmp_path: Path, fault: str, options: dict[str, float]
) -> None:
    definition = endpoint(variants=(variant(instances=1),))
    with running(definition, folder=tmp_path, ping_seconds=0.01, ping_failures=1) as local:
        name = only_copy(local)
        put(local, fault, name, **options)
        local.run(asyncio.sleep(0.2))
        assert only_copy(local) == name


def test_one_cut_answer_is_a_clients_and_not_the_health_checks(tmp_path: Path) -> None:
    with running(endpoint(variants=(variant(instances=1),)), folder=tmp_path, ping_seconds=0.01) as local:
        put(local, "cut", only_copy(local), pieces=0, times=1)
        local.run(asyncio.sleep(0.1))
        assert "the model process exited" in refused(local)["Message"]
        assert invoke(local)


def test_an_instance_names_its_copy_among_many(tmp_path: Path) -> None:
    with running(endpoint(variants=(variant(instances=12),)), folder=tmp_path) as local:
        assert put(local, "hang", "i-1").startswith("i-1/primary-")


@pytest.mark.parametrize(
    ("order", "problem"),
    [
        (b'{"fault": "slow", "target": []}', "target is []; it must be a text"),
        (b'{"fault": {}, "target": "i-1"}', "fault is {}; it must be a text"),
        (b'{"fault": "slow", "target": "i-1", "seconds": "x"}', "seconds is 'x'; it must be a number"),
        (b'{"fault": "cut", "target": "i-1", "pieces": 1.5}', "pieces is 1.5; it must be a whole number"),
        (b'{"fault": "cut", "target": "i-1", "times": true}', "times is True; it must be a whole number"),
        (b'{"fault": "slow", "target": "i-1", "seconds": NaN}', "seconds is nan; it must be from 0 to 3600"),
        (b"[]", "the body is no order of a fault"),
        (b"{", "the body is no order of a fault"),
        (b'{"fault": "slow"}', "the body is no order of a fault"),
    ],
)
def test_an_order_that_makes_no_sense_is_refused(local: Local, order: bytes, problem: str) -> None:
    request = urllib.request.Request(f"{local.url}/_warmstack/faults", data=order, headers={"X-Warmstack": "1"})
    with pytest.raises(urllib.error.HTTPError) as raised:
        urllib.request.urlopen(request)
    with raised.value as answer:
        assert answer.code == 400
        assert problem in json.loads(answer.read())["error"]
