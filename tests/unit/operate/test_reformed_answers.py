"""`verify` where an output formatter changes the form of the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.unit.local.definitions import PREFIX_AWARE, endpoint, model, variant
from tests.unit.local.running import Local, running
from tests.unit.operate.fakes import Scripted, refused
from tests.unit.operate.test_verify_states import CONTAINER, DEMO, sagemaker
from tests.unit.operate.verifying import look, one, wrong
from warmstack.client import EndpointClient
from warmstack.client.connections import Connection
from warmstack.client.transport import Answer, Call, Parts
from warmstack.operate.verification.canary import Asked, check_canaries
from warmstack.operate.verification.servers import Servers

BEHIND = {"WARMSTACK_FORMATTERS": "/opt/warmstack/models/demo/formatters.py"}
FORMATTED = endpoint(variants=(variant(routing=PREFIX_AWARE, model=model(environment=BEHIND)),))
MALFORMED = "the answer is none that a server sends"


class Reformed:
    """A network on which every answer is the same."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def invoke(self, call: Call) -> Answer:
        assert call.endpoint == "demo"
        return Answer(body=self._body)

    def stream(self, call: Call) -> Parts:
        raise AssertionError(f"{call.endpoint} is asked for a stream; only whole answers are looked at here")

    def close(self) -> None:
        pass


def answering(body: bytes) -> Callable[[str | None], EndpointClient]:
    return lambda name: EndpointClient("demo", component=name, connection=Connection(transport=Reformed(body)))


def deployed(environment: Mapping[str, str]) -> Scripted:
    return sagemaker(describe_model={"PrimaryContainer": CONTAINER | {"Environment": environment}})


REFORMED = answering(b'{"answer": "red"}')


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    with running(DEMO, folder=tmp_path_factory.mktemp("local")) as local:
        yield local


@pytest.mark.parametrize("known_by", ["definition", "model"])
def test_an_answer_of_another_form_passes_behind_a_formatter(local: Local, known_by: str) -> None:
    defined = FORMATTED if known_by == "definition" else None
    report = look(local, defined=defined, sagemaker=deployed(BEHIND), client_of=REFORMED)
    assert wrong(report) == []
    canary, prefix = one(report, "canary"), one(report, "prefix-cache")
    assert (canary.outcome, canary.seen) == (
        "pass",
        'an answer of another form than a server\'s: {"answer": "red"}; a formatter may have changed it',
    )
    assert (prefix.outcome, prefix.seen) == (
        "skipped",
        "not observable: answers have no count of cached tokens; a formatter may have changed their form",
    )


def test_without_a_formatter_it_is_a_failure(local: Local) -> None:
    report = look(local, defined=DEMO, sagemaker=sagemaker(), client_of=REFORMED)
    assert one(report, "canary").seen.startswith(f"it does not answer: {MALFORMED}")
    assert one(report, "prefix-cache").outcome == "fail"
    empty = look(local, defined=FORMATTED, sagemaker=deployed(BEHIND), client_of=answering(b" "))
    assert one(empty, "canary").outcome == "fail"


def test_where_nothing_says_whether_there_is_one_it_is_a_warning(local: Local) -> None:
    hidden = sagemaker(describe_model=refused("DescribeModel", "AccessDenied"))
    report = look(local, sagemaker=hidden, client_of=REFORMED)
    canary = one(report, "canary")
    assert (canary.outcome, "whether a formatter has changed it is not known" in canary.seen) == ("warning", True)
    assert canary.fix is not None
    assert "--assembly cdk.out" in canary.fix
    assert one(report, "prefix-cache").outcome == "skipped"


def test_an_adapter_may_bring_a_formatter_of_its_own() -> None:
    adapter = Asked(name="legal", shown="legal", base="chat")
    (result,) = check_canaries(REFORMED, [adapter], Servers().reforms)
    assert result.outcome == "pass"
    assert "a formatter may have changed it" in result.seen
