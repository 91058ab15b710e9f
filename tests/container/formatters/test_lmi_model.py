"""The bridge to LMI, called as LMI calls model.py."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest

from tests.container.formatters.conftest import Write
from tests.container.formatters.servers import DONE, FakeLmi, Reply, event

BOTH = """
state = []

@input_formatter
def to_model(payload, adapter):
    state.append(payload["prompt"])
    return {**payload, "adapter": adapter}

@output_formatter
def to_client(response, *, stream, adapter):
    if response.get("boom"):
        raise KeyError("choices")
    return None if response.get("drop") else {**response, "seen": state[-1:], "stream": stream, "adapter": adapter}
"""
ASKED: dict[str, Any] = {"prompt": "hello"}


def test_both_formatters_share_the_users_module(write: Write) -> None:
    lmi = FakeLmi()
    lmi.register(write(BOTH).parent)
    payloads = []

    def engine(payload: dict[str, Any]) -> Reply:
        payloads.append(payload)
        return Reply({"id": "x", "text": "ü"})

    assert lmi.answer(ASKED, engine) == (200, '{"id":"x","text":"ü","seen":["hello"],"stream":false,"adapter":null}\n')
    assert payloads == [{"prompt": "hello", "adapter": None, "model": "lmi"}]


@pytest.mark.parametrize("runtime", [True, False])
def test_the_runtime_is_beside_or_importable(write: Write, runtime: bool) -> None:
    lmi = FakeLmi()
    lmi.register(write(BOTH).parent, runtime=runtime)
    assert lmi.answer(ASKED, lambda _: Reply({"id": "x"}))[0] == 200


def test_a_stream_is_json_lines(write: Write) -> None:
    lmi = FakeLmi()
    lmi.register(write(BOTH).parent)
    events = [
        event({"id": 1}),
        event({"drop": 1}),
        event({"error": {"message": "m"}}),
        event({"id": 2}) + event({"id": 3}),
        "odd",
        DONE,
    ]
    status, body = lmi.answer(ASKED, lambda _: events)
    assert status == 200
    lines = body.split("\n")
    assert lines[4:] == ["odd", "", ""]  # the empty line is LMI's own end of a stream
    chunks = [json.loads(one) for one in lines[:4]]
    assert [one.get("id") for one in chunks] == [1, None, 2, 3]
    assert chunks[0] == {"id": 1, "seen": ["hello"], "stream": True, "adapter": None}
    assert chunks[1] == {"error": {"message": "m"}}


def test_adapters_have_their_own_formatters_and_names(write: Write) -> None:
    lmi = FakeLmi()
    lmi.register(write(BOTH, "base").parent)
    lmi.register(write(BOTH, "models/adapter-dir").parent, "tenants-prod-legal")
    lmi.register(write(BOTH, "a_b.c").parent, "a_b.c")
    only = "@input_formatter\ndef f(payload):\n    return {'prompt': 'changed'}\n"
    lmi.register(write(only, "only").parent, "only")
    names = {
        adapter: json.loads(lmi.answer(dict(ASKED), lambda _: Reply({"id": "x"}), adapter)[1])["adapter"]
        for adapter in (None, "tenants-prod-legal", "a_b.c", "only")
    }
    assert names == {None: None, "tenants-prod-legal": "tenants-prod-legal", "a_b.c": "a_b.c", "only": None}


def test_a_new_version_at_the_same_place_is_loaded(write: Write) -> None:
    lmi = FakeLmi()
    for version in (1, 2):
        path = write(f"@output_formatter\ndef f(response):\n    return {{'version': {version}}}\n", "legal")
        os.utime(path, ns=(version, version))
        lmi.register(path.parent, "legal")
        assert lmi.answer(ASKED, lambda _: Reply({}), "legal") == (200, f'{{"version":{version}}}\n')


def test_sessions_and_errors_pass_unformatted(write: Write) -> None:
    lmi = FakeLmi()
    lmi.register(write(BOTH).parent)
    created = {"data": {"result": "Session created"}, "properties": {"x": "y"}}
    assert lmi.answer({"requestType": "NEW_SESSION"}, lambda _: created) == (
        200,
        '{"result": "Session created"}\n',
    )
    failed = {"error": "no such session", "code": 424}
    assert json.loads(lmi.answer({"requestType": "CLOSE"}, lambda _: failed)[1]) == failed
    engine_error = {"error": {"message": "too long", "code": 400}}
    assert json.loads(lmi.answer(ASKED, lambda _: Reply(engine_error))[1]) == engine_error


def test_embeddings_are_read_from_the_body_of_their_reply(write: Write) -> None:
    class Http:
        body = b'{"data": []}'

    lmi = FakeLmi()
    lmi.register(write(BOTH).parent)
    assert json.loads(lmi.answer(ASKED, lambda _: Http())[1])["data"] == []
    Http.body = b"nonsense"
    formatter = lmi.formatter("is_output_formatter", None)
    assert formatter is not None
    odd = Http()
    assert formatter(odd) is odd


def test_an_input_formatter_that_fails_is_named(write: Write) -> None:
    lmi = FakeLmi()
    lmi.register(write(BOTH).parent)
    status, body = lmi.answer({"messages": []}, lambda _: Reply({}))
    assert status == 424
    assert body == (
        "Input parsing failed: input formatter to_model of the base model failed: "
        "KeyError: 'prompt' (formatters.py, line 7)"
    )
    assert lmi.answer(["no", "object"], lambda _: Reply({}))[0] == 424  # type: ignore[arg-type]


def test_an_output_formatter_that_fails_is_named(write: Write) -> None:
    lmi = FakeLmi()
    lmi.register(write(BOTH).parent, "legal")
    body = lmi.answer(ASKED, lambda _: Reply({"boom": 1}), "legal")[1]
    error = json.loads(body)["error"]
    assert error == {
        "message": "output formatter to_client of legal failed: KeyError: 'choices' (formatters.py, line 13)",
        "type": "FormatterError",
        "code": 424,
    }
    events = [
        event({"id": "s", "a": 1}),
        *[event({"id": "s", "boom": 1})] * 3,
        event({"id": "s", "a": 2}),
        event({"boom": 1}),
        event({"without": "an id"}),
        DONE,
    ]
    lines = lmi.answer(ASKED, lambda _: events, "legal")[1].splitlines()
    assert [json.loads(one).get("error") for one in lines if one] == [None, error, error, None]


def test_many_broken_streams_are_forgotten(write: Write) -> None:
    lmi = FakeLmi()
    lmi.register(write(BOTH).parent)
    formatter = lmi.formatter("is_output_formatter", None)
    assert formatter is not None
    for number in range(1100):
        assert "choices" in formatter(event({"id": f"s{number}", "boom": 1}))
    assert len(formatter.__globals__["_broken"]) == 1024


def test_formatters_that_do_not_load_keep_the_adapter_out(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    folder = write("raise ValueError('x')\n").parent
    with pytest.raises(Exception, match=r"the formatters of legal .* do not load: ValueError: x") as caught:
        FakeLmi().register(folder, "legal")
    assert not isinstance(caught.value, ValueError)  # LMI would take it for a model.py that is not there
    assert "do not load" in caplog.text
    (folder / "formatters.py").unlink()
    with pytest.raises(Exception, match="cannot be read"):
        FakeLmi().register(folder, "legal")


def test_a_base_file_elsewhere_is_named_by_the_environment(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(BOTH, "elsewhere")
    monkeypatch.setenv("WARMSTACK_FORMATTERS", str(path))
    folder = path.parent.parent / "model"
    folder.mkdir()
    lmi = FakeLmi()
    lmi.register(folder)
    assert lmi.answer(ASKED, lambda _: Reply({"id": "x"}))[0] == 200
    assert [one for one in sys.modules if one.startswith("djl_python")] == []
