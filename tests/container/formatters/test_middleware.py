"""The middleware rewrites what passes, chooses by the adapter's header, and lets everything else alone."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formatter_middleware import FormatterMiddleware
from tests.container.formatters.conftest import Write
from tests.container.formatters.servers import DONE, Engine, ask, event
from warmstack_formatters import load

TAGGING = """
@input_formatter
def to_model(payload):
    return {{**payload, "seen": payload.get("seen", []) + ["{tag}"]}}

@output_formatter
def to_client(response, *, stream):
    if response.get("boom"):
        raise KeyError("choices")
    if response.get("drop"):
        return None
    return {{**response, "by": "{tag}", "stream": stream}}
"""
CHAT = {"messages": [{"role": "user", "content": "ü"}]}


def with_base(write: Write, engine: Engine) -> FormatterMiddleware:
    path = write(TAGGING.format(tag="base"), "base")
    return FormatterMiddleware(engine, load(path, "chat"), roots=[path.parent.parent])


def register(app: FormatterMiddleware, path: Path, name: str) -> Any:
    return ask(app, {"name": name, "src": str(path.parent)}, "/adapters")


@pytest.mark.parametrize("path", ["/invocations", "/v1/chat/completions", "/v1/completions"])
@pytest.mark.parametrize("cuts", [1, 5])
def test_request_and_response_are_rewritten(write: Write, path: str, cuts: int) -> None:
    engine = Engine(lambda _: {"id": "x", "text": "ü"})
    answer = ask(with_base(write, engine), CHAT, path, cuts=cuts)
    assert engine.payloads == [{**CHAT, "seen": ["base"]}]
    assert (answer.status, answer.json) == (200, {"id": "x", "text": "ü", "by": "base", "stream": False})


def test_without_formatters_nothing_is_touched() -> None:
    engine = Engine(lambda _: [event({"a": 1}), DONE])
    answer = ask(FormatterMiddleware(engine), CHAT)
    assert answer.body == (event({"a": 1}) + DONE).encode()
    assert engine.payloads == [CHAT]


def test_a_stream_is_rewritten_event_by_event(write: Write) -> None:
    events = [
        ": alive\n\n",
        event({"a": 1}),
        event({"drop": 1}),
        event({"error": {"message": "x"}}),
        "data: x\n\n",
        DONE,
    ]
    answer = ask(with_base(write, Engine(lambda _: events)), CHAT)
    expected = [": alive\n\n", 'data: {"a":1,"by":"base","stream":true}\n\n', *events[3:]]
    assert answer.body.decode() == "".join(expected)
    assert "content-length" not in answer.headers


@given(st.lists(st.integers(0, 10**6), max_size=8))
def test_any_split_of_the_stream_gives_the_same(places: list[int]) -> None:
    events = [event({"a": "ü€😀"}), "event: e\r\ndata: {}\r\n\r\n", 'data: {"b":\ndata: 2}\n\n', DONE]

    class Upper:
        has_input, has_output = False, True

        def chunk(self, chunk: dict[str, Any]) -> dict[str, Any] | str:
            return "two\nlines" if "b" in chunk else {**chunk, "seen": True}

    def parts(whole: bytes) -> list[bytes]:
        ends = [0, *sorted(place % (len(whole) + 1) for place in places), len(whole)]
        return [whole[start:end] for start, end in itertools.pairwise(ends)]

    app = FormatterMiddleware(Engine(lambda _: list(events), parts=parts), Upper())  # type: ignore[arg-type]
    expected = (
        'data: {"a":"ü€😀","seen":true}\n\nevent: e\ndata: {"seen":true}\n\ndata: two\ndata: lines\n\ndata: [DONE]\n\n'
    )
    assert ask(app, CHAT).body.decode() == expected


def test_an_adapter_overrides_the_base_for_each_kind(write: Write) -> None:
    engine = Engine(lambda _: {"id": "x"})
    app = with_base(write, engine)
    only_input = write(
        "@input_formatter\ndef f(payload, adapter):\n    return {**payload, 'seen': [adapter]}\n", "legal"
    )
    assert register(app, only_input, "legal").status == 200
    assert register(app, write(TAGGING.format(tag="claims"), "claims"), "claims").status == 200
    (write("", "plain").parent / "formatters.py").unlink()
    assert ask(app, b"", "/adapters", query=f"name=plain&src={only_input.parent.parent}/plain").status == 200

    def tags(adapter: str | None) -> tuple[Any, Any]:
        by = ask(app, CHAT, adapter=adapter).json["by"]
        return engine.payloads[-1]["seen"], by

    assert tags("legal") == (["legal"], "base")
    assert tags("claims") == (["claims"], "claims")
    assert tags("plain") == tags("unknown") == tags(None) == (["base"], "base")
    assert ask(app, b"", "/adapters/claims", method="DELETE").status == 200
    assert tags("claims") == (["base"], "base")


def test_a_registration_that_fails_changes_nothing(write: Write) -> None:
    status = {"now": 400}
    engine = Engine(lambda _: {"status": status["now"], "id": "x"})
    path = write(TAGGING.format(tag="legal"), "legal")
    app = FormatterMiddleware(engine, roots=[path.parent])
    assert register(app, path, "legal").status == 400
    status["now"] = 200
    assert "by" not in ask(app, CHAT, adapter="legal").json
    register(app, path, "legal")
    status["now"] = 500
    assert ask(app, b"", "/adapters/legal", method="DELETE").status == 500
    status["now"] = 200
    assert ask(app, CHAT, adapter="legal").json["by"] == "legal"


def test_formatters_that_do_not_load_keep_the_adapter_out(write: Write) -> None:
    engine = Engine(lambda _: {"id": "x"})
    path = write("import no_such_module\n", "legal")
    answer = register(FormatterMiddleware(engine, roots=[path.parent]), path, "legal")
    assert answer.status == 424
    assert answer.json["error"]["type"] == "FormatterError"
    assert "the formatters of legal" in answer.json["error"]["message"]
    assert engine.payloads == []


@pytest.mark.parametrize("body", [b"[]", b"nonsense", b"{}", b'{"name": 1, "src": 2}'])
def test_registrations_that_name_nothing_are_the_servers_to_refuse(body: bytes) -> None:
    engine = Engine(lambda _: {"status": 400, "id": "x"})
    ask(FormatterMiddleware(engine), body, "/adapters")
    assert len(engine.payloads) == 1


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"requestType": "NEW_SESSION"}, "application/json"),
        (b"[1]", "application/json"),
        (b"{broken", "application/json"),
        (b"{}", "text/plain"),
    ],
)
def test_what_is_no_request_for_the_model_passes(write: Write, body: Any, kind: str) -> None:
    engine = Engine(lambda _: {"id": "x"})
    answer = ask(with_base(write, engine), body, kind=kind)
    assert answer.json == {"id": "x"}
    assert b"seen" not in json.dumps(engine.payloads, default=repr).encode()


def test_a_session_reply_is_not_formatted(write: Write) -> None:
    engine = Engine(lambda _: {"result": "Session created"})
    answer = ask(with_base(write, engine), {"requestType": "NEW_SESSION"})
    assert answer.json == {"result": "Session created"}


@pytest.mark.parametrize("reply", [{"status": 400, "id": "x"}, {"error": {"message": "too long"}}])
def test_errors_of_the_engine_pass(write: Write, reply: dict[str, Any]) -> None:
    answer = ask(with_base(write, Engine(lambda _: dict(reply))), CHAT)
    assert (answer.status, answer.json) == (reply.get("status", 200), {k: v for k, v in reply.items() if k != "status"})


def test_an_input_formatter_that_fails(write: Write) -> None:
    engine = Engine(lambda _: {"id": "x"})
    path = write("@input_formatter\ndef to_model(payload):\n    return payload['absent']\n")
    answer = ask(FormatterMiddleware(engine, load(path, "chat")), CHAT)
    assert answer.status == 424
    assert answer.json == {
        "error": {
            "message": "input formatter to_model of chat failed: KeyError: 'absent' (formatters.py, line 4)",
            "type": "FormatterError",
            "code": 424,
        }
    }
    assert engine.payloads == []


FAILED = {
    "error": {
        "message": "output formatter to_client of chat failed: KeyError: 'choices' (formatters.py, line 10)",
        "type": "FormatterError",
        "code": 424,
    }
}


@pytest.mark.parametrize("reply", [{"boom": 1}, [event({"boom": 1}), DONE], [event({"drop": 1}), event({"boom": 1})]])
def test_an_output_formatter_that_fails_before_the_first_output(write: Write, reply: Any) -> None:
    answer = ask(with_base(write, Engine(lambda _: reply)), CHAT)
    assert (answer.status, answer.headers["content-type"], answer.json) == (424, "application/json", FAILED)


def test_an_output_formatter_that_fails_in_a_stream_ends_it_and_stops_the_engine(write: Write) -> None:
    events = [event({"a": 1}), event({"boom": 1}), event({"a": 2}), DONE]
    engine = Engine(lambda _: events, parts=lambda whole: [part + b"\n\n" for part in whole.split(b"\n\n") if part])
    answer = ask(with_base(write, engine), CHAT)
    assert answer.status == 200
    first, failed, done, rest = answer.body.decode().split("\n\n")
    assert (first, done, rest) == ('data: {"a":1,"by":"base","stream":true}', "data: [DONE]", "")
    assert json.loads(failed.removeprefix("data: ")) == FAILED
    assert engine.stopped


def test_an_error_of_the_application_is_the_applications(write: Write) -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("engine")

    with pytest.raises(RuntimeError, match="engine"):
        ask(FormatterMiddleware(broken, load(write(TAGGING.format(tag="x")), "x")), CHAT)


def test_other_traffic_passes(write: Write) -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    async def nothing(*_: Any) -> dict[str, Any]:
        return {"type": "http.disconnect"}

    middleware = FormatterMiddleware(app, load(write(TAGGING.format(tag="x")), "x"))
    for scope in ({"type": "lifespan"}, {"type": "http", "method": "GET", "path": "/ping"}):
        asyncio.run(middleware(scope, nothing, nothing))  # type: ignore[arg-type]
    for path in ("/invocations", "/adapters"):
        asyncio.run(middleware({"type": "http", "method": "POST", "path": path}, nothing, nothing))  # type: ignore[arg-type]
    assert seen == ["lifespan", "http"]


def test_other_content_passes(write: Write) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"audio/wav")]})
        await send({"type": "http.response.body", "body": b"\0"})

    assert ask(FormatterMiddleware(app, load(write(TAGGING.format(tag="x")), "x")), CHAT).body == b"\0"
