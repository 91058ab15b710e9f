"""What the lint finds in made-up workloads of each kind."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.prompts.clients import CLIENTS
from warmstack.payload import DifferenceKind
from warmstack.prompts import LintError, LintReport, fix_of, lint_requests, report_document
from warmstack.workload import RecordedRequest, WorkloadFormat

Kind = DifferenceKind
SYSTEM = "Sei l'assistente di Città Aperta. Rispondi in italiano, in poche frasi. " * 40


def requests(*bodies: bytes, **more: Any) -> Iterator[RecordedRequest]:
    for number, body in enumerate(bodies, 1):
        yield RecordedRequest(body=body, source="r.jsonl", line=number, format=WorkloadFormat.JSONL, **more)


def compact(body: Any, *, ascii_only: bool = False) -> bytes:
    return json.dumps(body, ensure_ascii=ascii_only, separators=(",", ":")).encode()


def chat(question: str = "Perché?", system: str = SYSTEM, **more: Any) -> dict[str, Any]:
    said = [{"role": "system", "content": system}, {"role": "user", "content": question}]
    return {"messages": said} | more


def kinds(report: LintReport) -> dict[Kind, tuple[int, int]]:
    return {one.kind: (one.pairs, one.canonical_pairs) for one in report.kinds}


@pytest.mark.parametrize("client", CLIENTS)
def test_turns_of_one_conversation_as_each_client_writes_them(client: str) -> None:
    """The same turns: three clients put something that varies before the prompt, and canonical bytes mend it."""
    made = []
    turns = [("system", SYSTEM)]
    for number in range(6):
        turns += [("user", f"Domanda {number}?"), ("assistant", "Risposta.")]
        made.append(CLIENTS[client](turns[:-1], max_tokens=100 + number, stream=bool(number % 2)))
    report = lint_requests(requests(*made, conversation="c"), prefix_length=2048)
    share, ideal = report.sent.stable_share, report.canonical.stable_share
    expected = {"langchain_openai": 0.0, "strands_openai": 0.0, "litellm_sagemaker": 0.0}
    assert (share, ideal) == (expected.get(client, 1.0), 1.0)
    found = {
        "langchain_openai": {Kind.FIELD: (5, 0)},
        "strands_openai": {Kind.FIELD: (5, 0)},
        "litellm_sagemaker": {Kind.SAMPLING: (5, 0)},
    }
    assert kinds(report) == found.get(client, {})


CASES: dict[str, tuple[list[bytes], dict[Kind, tuple[int, int]]]] = {
    "two clients": (
        [compact(chat()), json.dumps(chat()).encode()] * 2,
        {Kind.WHITE_SPACE: (3, 0)},
    ),
    "escapes": ([compact(chat()), compact(chat(), ascii_only=True)], {Kind.ESCAPE: (1, 0)}),
    "key order": ([compact(chat() | {"model": "m"}), compact({"model": "m"} | chat())], {Kind.KEY_ORDER: (1, 0)}),
    "stream first": ([compact({"stream": one} | chat()) for one in (True, False, True)], {Kind.FIELD: (2, 0)}),
    "a time in the system prompt": (
        [compact(chat(system=f"It is 2026-07-01T10:00:0{n}Z. {SYSTEM}")) for n in range(4)],
        {Kind.TIMESTAMP: (3, 3)},
    ),
    "an id": ([compact(chat(system=f"Trace req_{n}8f2a1b{n}. {SYSTEM}")) for n in range(3)], {Kind.ID: (2, 2)}),
    "a number": ([compact(chat(system=f"Ci sono {n} posti. {SYSTEM}")) for n in range(3)], {Kind.NUMBER: (2, 2)}),
    "a short system prompt": (
        [compact(chat(question * 500, system="Be kind.")) for question in ("Why?", "How?")],
        {Kind.CONTENT: (1, 1)},
    ),
    "tools": (
        [
            compact({"tools": [{"function": {"name": name}} for name in names]} | chat())
            for names in (("a", "b"), ("b", "a"))
        ],
        {Kind.TOOLS_REORDERED: (1, 0)},
    ),
    "no JSON": ([b"text " + b"x" * 2000 + b"1", b"text " + b"x" * 1000 + b"2"], {Kind.NOT_JSON: (1, 1)}),
    "not finite": (
        [json.dumps(chat() | {"temperature": float("nan"), "top_p": one}).encode() for one in (1, 2)],
        {},
    ),
    "equal": ([compact(chat())] * 5, {}),
    "parts": ([compact(chat()), compact(chat(system=[{"type": "text", "text": SYSTEM}]))], {Kind.CONTENT: (1, 1)}),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", CASES)
def test_requests_that_open_alike(name: str) -> None:
    bodies, expected = CASES[name]
    report = lint_requests(requests(*bodies), prefix_length=1024)
    assert report.groups == 1
    assert kinds(report) == expected
    assert report.pairs == len(bodies) - 1
    assert report.sent.stable_pairs == report.pairs - sum(one for one, _ in expected.values())
    (group,) = report.worst_groups
    assert (group.by, group.requests) == ("opening", len(bodies))
    for kind in report.kinds:
        assert kind.worst is not None
        assert (kind.worst.first, kind.worst.second) == ("r.jsonl:1", "r.jsonl:2")
        assert kind.worst.fix == fix_of(kind.worst.difference)


def test_the_first_example_is_the_one_that_parts_earliest() -> None:
    rest = "x" * 2000
    bodies = [
        compact(chat(system=text, question=rest))
        for text in ("At 10:00 " * 9, "At 10:00 " * 8 + "At 11:00 ", "At 12:00 " * 9)
    ]
    report = lint_requests(requests(*bodies))
    (kind,) = report.kinds
    assert kind.worst is not None
    assert (kind.pairs, kind.worst.first, kind.worst.difference.path) == (2, "r.jsonl:2", "messages[0].content")


def test_groups_by_conversation_route_and_opening() -> None:
    one, two = compact(chat()), compact(chat(system="Another one, " + SYSTEM))
    assert lint_requests(requests(one, two, one)).groups == 2
    assert lint_requests(requests(one, two, one, conversation="c")).groups == 1
    mixed = [*requests(one, conversation="a"), *requests(one, conversation="b"), *requests(one)]
    report = lint_requests(mixed)
    assert (report.groups, report.conversations, report.pairs) == (3, 2, 0)
    routes = [
        *requests(one, endpoint="x"),
        *requests(one, endpoint="y"),
        *requests(one, endpoint="x", component="c"),
        *requests(one, endpoint="x", prefix_aware_id="p"),
    ]
    assert lint_requests(routes).groups == 4
    user = [compact({"messages": [{"role": role, "content": "hello"}]}) for role in ("user", "system")]
    assert lint_requests(requests(*user)).groups == 2
    texts = [compact({"inputs": "a" * 256 + tail, "parameters": {"x": 1}}) for tail in ("1", "b")]
    assert lint_requests(requests(*texts, compact({"prompt": "q"}), b'{"instances":[]}')).groups == 3
    odd = [
        compact({"messages": messages})
        for messages in ([], "x", ["x"], [{"role": "user"}], [{"role": "user", "content": None}])
    ]
    assert lint_requests(requests(*odd)).groups == 4


def test_names_of_groups() -> None:
    bodies = [compact(chat(system="You are\n  Ann, " + "x" * 99)), compact(chat(system="Bob"))]
    names = [one.name for one in lint_requests(requests(*bodies)).worst_groups]
    assert names == ["You are Ann, " + "x" * 35, "Bob"]


def test_requests_for_sessions_are_left_out() -> None:
    report = lint_requests(requests(b'{"requestType":"NEW_SESSION"}', compact(chat()), b'{"requestType":"CLOSE"}'))
    assert (report.requests, report.without_prompt, report.groups) == (1, 2, 1)


def test_short_requests_and_turns_that_share_too_little() -> None:
    turns = ["Hi?", "Hi?" + "x" * 900, "Hi?" + "x" * 2000]
    bodies = [compact({"messages": [{"role": "user", "content": turn}]}) for turn in turns]
    report = lint_requests(requests(*bodies, conversation="c"), prefix_length=1024)
    assert (report.short_requests, report.requests, report.sent.stable_pairs) == (2, 3, 0)
    (kind,) = report.kinds
    assert kind.kind is Kind.NEXT_TURN
    assert kind.worst is not None
    assert kind.worst.fix == (
        "the turns share 42 bytes, and prefix_length is at least 1024: keep them together by a session"
    )


def test_s_and_d_and_candidates() -> None:
    """Ten conversations: 2,000 bytes in common, 3,000 of their own, turns of 4,000."""
    made = []
    for turn in range(1, 4):
        for number in range(10):
            text = "s" * 2000 + f"{number}" * 3000 + "".join(f"{place}" * 4000 for place in range(turn))
            body = compact({"messages": [{"role": "user", "content": text}]})
            made += requests(body, conversation=f"c{number}")
    report = lint_requests(made, prefix_length=4096)
    start = len('{"messages":[{"role":"user","content":"')
    assert report.sent.between_groups is not None
    assert report.sent.between_turns is not None
    assert (report.sent.between_groups.count, report.sent.between_groups.p90) == (9, start + 2000)
    assert (report.sent.between_turns.count, report.sent.between_turns.p1) == (20, start + 2000 + 3000 + 4000)
    found = {one.length: (one.sticky_share, one.prefixes, one.largest_share) for one in report.sent.candidates}
    assert found[1024] == found[2048 - 1024] == (1.0, 1, 1.0)
    assert found[4096] == found[8192] == (1.0, 10, 0.1)
    assert found[16_384] == (0.0, 30, pytest.approx(1 / 30))
    assert report.canonical == report.sent
    assert set(found) == {1024, 2048, 4096, 8192, 16_384, 32_768, 65_536}
    assert 5000 in {one.length for one in lint_requests(made, prefix_length=5000).sent.candidates}


@pytest.mark.parametrize("route", ["prefix_aware_id", "endpoint", "component"])
def test_the_same_prefix_on_several_routes_is_several(route: str) -> None:
    """Four shards of one prompt: a quarter of the requests each, and groups that never meet."""
    found = [one for number in range(20) for one in requests(compact(chat(f"q{number}")), **{route: f"r-{number % 4}"})]
    report = lint_requests(found, prefix_length=2048)
    used = next(one for one in report.sent.candidates if one.length == 2048)
    assert (used.prefixes, used.largest_share) == (4, 0.25)
    assert (report.sent.stable_share, report.sent.between_groups, report.canonical.between_groups) == (1.0, None, None)


def test_groups_of_one_route_are_compared_whatever_stands_between_them() -> None:
    found = []
    for number in range(6):
        for route in ("r-1", "r-2"):
            body = compact(chat(f"q{number}", system=f"{SYSTEM}{'ab'[number % 2]}{number}"))
            found += requests(body, prefix_aware_id=route, conversation=f"{route}-{number}")
    quantiles = lint_requests(found, prefix_length=2048).sent.between_groups
    assert quantiles is not None
    assert quantiles.count == 10
    assert quantiles.p1 == quantiles.p99 == len(('{"messages":[{"role":"system","content":"' + SYSTEM).encode())


def test_the_document_makes_no_whole_of_less() -> None:
    bodies = [compact(chat())] * 30_000
    bodies[15_000] = compact(chat(system=f"x{SYSTEM}"))
    document = report_document(lint_requests(requests(*bodies, conversation="c")))
    assert document["sent"]["stable_share"] == 0.9999


def test_bodies_beyond_the_longest_prefix() -> None:
    turns = [compact({"inputs": "x" * 100_000 + "y" * turn}) for turn in range(3)]
    report = lint_requests(requests(*turns, conversation="c"), prefix_length=65_536)
    assert report.sent.stable_share == 1.0
    assert report.sent.between_turns is not None
    assert report.sent.between_turns.p1 == 65_536
    assert report.worst_groups[0].least_shared_bytes == 65_536


def test_nothing_to_compare() -> None:
    report = lint_requests(requests())
    assert (report.requests, report.pairs, report.sent.stable_share, report.sent.between_groups) == (0, 0, None, None)
    assert lint_requests(requests(compact(chat()))).sent.stable_share is None


@pytest.mark.parametrize("length", [0, 1023, 65_537])
def test_a_prefix_length_that_sagemaker_refuses(length: int) -> None:
    with pytest.raises(LintError) as caught:
        lint_requests(requests(), prefix_length=length)
    assert str(caught.value) == f"prefix_length is {length}; SageMaker accepts 1024..65536 bytes"


def test_the_document_is_json() -> None:
    bodies = [compact({"stream": one} | chat()) for one in (True, False)]
    document = report_document(lint_requests(requests(*bodies), prefix_length=2048))
    assert json.loads(json.dumps(document)) == document
    assert (document["version"], document["sent"]["stable_share"], document["canonical"]["stable_share"]) == (
        1,
        0.0,
        1.0,
    )
    (kind,) = document["kinds"]
    assert kind["kind"] == "field before the prompt"
    assert kind["worst"]["difference"]["path"] == "stream"
    assert kind["worst"]["fix"].startswith("field before the prompt: stream; send it after the prompt; ")


def test_every_kind_has_a_fix() -> None:
    from warmstack.payload import Difference

    for kind in DifferenceKind:
        for offset in (10, 2000):
            one = Difference(offset=offset, path="a.b", kind=kind, subject="top_p", lead="", left="", right="")
            assert "{" not in fix_of(one)
            assert len(fix_of(one)) > 20


def test_memory_does_not_grow_with_the_number_of_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warmstack.prompts.lint._MOST_GROUPS", 200)
    monkeypatch.setattr("warmstack.prompts.lint._MOST_HEADS", 20)
    monkeypatch.setattr("warmstack.prompts.tally._MOST_PREFIXES", 50)

    def many(count: int) -> Iterator[RecordedRequest]:
        for number in range(count):
            body = compact({"inputs": f"{number:05} " * 2000})
            yield RecordedRequest(body=body, source="f", line=1, format=WorkloadFormat.JSONL, conversation=f"c{number}")

    peaks = []
    for count in (700, 2100):
        tracemalloc.start()
        report = lint_requests(many(count))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert report.groups == count
        assert len(report.worst_groups) == 100
        assert report.sent.candidates[0].more_prefixes
    assert peaks[1] < peaks[0] * 1.2


@settings(deadline=None)
@given(
    st.lists(
        st.binary(max_size=40) | st.sampled_from([b'{"messages":[{"role":"user","content":"', b"{", b"[" * 2000]),
        max_size=6,
    )
)
def test_any_bytes_are_reported_on(bodies: list[bytes]) -> None:
    report = lint_requests(requests(*bodies, conversation="c"))
    assert report.requests == len(bodies)
    json.dumps(report_document(report))
