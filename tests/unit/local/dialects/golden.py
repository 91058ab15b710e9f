"""Golden tables: a request, and what a container answers; the same rows for a simulated and for a real engine."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warmstack.local.container import Container, ContainerReply, ContainerRequest, read_body

SESSION = "x-amzn-sagemaker-session-id"
NEW = "x-amzn-sagemaker-new-session-id"
CLOSED = "x-amzn-sagemaker-closed-session-id"
ADAPTER = "x-amzn-sagemaker-adapter-identifier"
ALIAS = "x-amzn-sagemaker-adapter-alias"
ATTRIBUTES = "x-amzn-sagemaker-custom-attributes"
CHAT = {"messages": [{"role": "user", "content": "Where do copies live?"}], "max_tokens": 3, "temperature": 0}
COMPLETION = {"prompt": "Copies live", "max_tokens": 3, "temperature": 0}
NEW_SESSION = {"requestType": "NEW_SESSION"}
CLOSE = {"requestType": "CLOSE"}
UUID = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
OPENED = re.compile(rf"{UUID}; Expires=\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
EXPIRATION_SECONDS = 2


@dataclass(frozen=True, kw_only=True)
class Row:
    """A request and its answer. ``{session}``, ``{folder}`` and ``{model}`` stand for what the run has.

    Args:
        name: What it shows.
        source: Where the answer is known from.
        needs: What is done before: "session" opens one, "closed" closes it, "expired" waits for its end, and
            "adapter" registers legal.
        sessions: Whether the container has sessions; None where it makes no difference.
        body: Sent as JSON, or as it is when it is bytes.
        headers: Of the answer; None for one that is not there.
        expected: A text, a pattern for the whole text, or a part of the JSON.
    """

    name: str
    source: str
    status: int
    method: str = "POST"
    path: str = "/invocations"
    send: Mapping[str, str] = field(default_factory=dict)
    body: Any = b""
    needs: tuple[str, ...] = ()
    sessions: bool | None = None
    headers: Mapping[str, str | re.Pattern[str] | None] = field(default_factory=dict)
    expected: Any = None


@dataclass(kw_only=True)
class Bench:
    """A container that rows are run against.

    Args:
        container: The container.
        folder: An adapter's files.
        model: The base model's name.
        pass_time: Waits until sessions have expired.
        new_session_header: Where this server tells of a new session.
    """

    container: Container
    folder: Path
    model: str
    pass_time: Callable[[], Awaitable[None]]
    new_session_header: str = NEW


@dataclass(frozen=True, kw_only=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def value(self) -> Any:
        return json.loads(self.body)


async def ask(
    container: Container, path: str, body: Any = b"", *, method: str = "POST", headers: Mapping[str, str] | None = None
) -> Answer:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"content-type": "application/json"} | dict(headers or {})
    sent = {key: value for key, value in named.items() if value}
    reply = await container.send(ContainerRequest(method=method, path=path, headers=sent, body=raw))
    return Answer(status=reply.status, headers=dict(reply.headers), body=await read_body(reply))


async def open_stream(container: Container, body: Any, path: str = "/invocations") -> ContainerReply:
    request = ContainerRequest(
        method="POST", path=path, headers={"content-type": "application/json"}, body=json.dumps(body).encode()
    )
    return await container.send(request)


async def run(row: Row, bench: Bench) -> None:
    """Run a row, and compare."""
    known = {"folder": str(bench.folder), "model": bench.model, "session": ""}
    await _prepare(row, bench, known)
    try:
        answer = await ask(
            bench.container,
            _filled(row.path, known),
            _filled(row.body, known),
            method=row.method,
            headers=_filled(dict(row.send), known),
        )
        compare(row, answer, known)
    finally:
        await ask(bench.container, "/adapters/legal", method="DELETE")


async def _prepare(row: Row, bench: Bench, known: dict[str, str]) -> None:
    if "adapter" in row.needs:
        # As the platform does it: in the query and in the body.
        place = {"name": "legal", "src": str(bench.folder)}
        done = await ask(bench.container, f"/adapters?name=legal&src={bench.folder}", place)
        assert done.status == 200, done
    if {"session", "closed", "expired"} & {*row.needs}:
        opened = await ask(bench.container, "/invocations", NEW_SESSION)
        assert opened.status == 200, opened
        known["session"] = opened.headers[bench.new_session_header].partition(";")[0]
    if "closed" in row.needs:
        closed = await ask(bench.container, "/invocations", CLOSE, headers={SESSION: known["session"]})
        assert closed.status == 200, closed
    if "expired" in row.needs:
        await bench.pass_time()


def compare(row: Row, answer: Answer, known: Mapping[str, str]) -> None:
    """Hold an answer to a row."""
    assert answer.status == row.status, (row.name, answer)
    for name, wanted in row.headers.items():
        found = answer.headers.get(name)
        if isinstance(wanted, re.Pattern):
            assert found is not None, (row.name, answer)
            assert wanted.fullmatch(found), (row.name, answer)
        else:
            assert found == (None if wanted is None else _filled(wanted, known)), (row.name, answer)
    expected = _filled(row.expected, known)
    if isinstance(expected, str):
        assert answer.text == expected, row.name
    elif isinstance(expected, re.Pattern):
        assert expected.fullmatch(answer.text), (row.name, answer.text)
    elif expected is not None:
        assert_part(expected, answer.value, row.name)


def assert_part(expected: Any, found: Any, where: str) -> None:
    """Hold a value to a part of it: the named members of objects, and every element of lists."""
    if isinstance(expected, dict):
        assert isinstance(found, dict), (where, found)
        for key, value in expected.items():
            assert key in found, (where, key, found)
            assert_part(value, found[key], f"{where}.{key}")
    elif isinstance(expected, list):
        assert isinstance(found, list), (where, found)
        assert len(found) == len(expected), (where, found)
        for at, (one, other) in enumerate(zip(expected, found, strict=True)):
            assert_part(one, other, f"{where}[{at}]")
    elif isinstance(expected, re.Pattern):
        assert isinstance(found, str), (where, found)
        assert expected.search(found), (where, found)
    elif isinstance(expected, type):
        assert isinstance(found, expected), (where, found)
    else:
        assert found == expected, (where, found)


def error(status: int, message: Any, kind: str = "Bad Request", param: str | None = None) -> dict[str, Any]:
    """vLLM's form of an error."""
    return {"error": {"message": message, "type": kind, "param": param, "code": status}}


def _filled(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for name, text in known.items():
            value = value.replace(f"{{{name}}}", text)
        return value
    if isinstance(value, dict):
        return {key: _filled(one, known) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, known) for one in value]
    return value
