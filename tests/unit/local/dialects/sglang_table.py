"""What the session server of our SGLang image answers.

The sources are its own modules (container/session_server) and docs/guides/sglang-session-server.md. D is a section
of the facts on containers that were collected on 2026-11-30. SGL: sglang 0.5.23, by the stand-in that the session
server's own tests have.
"""

from __future__ import annotations

import re
from typing import Any

from tests.unit.local.dialects.golden import (
    ADAPTER,
    CHAT,
    CLOSE,
    CLOSED,
    COMPLETION,
    NEW,
    NEW_SESSION,
    OPENED,
    SESSION,
    UUID,
    Row,
)

JSON = {"content-type": "application/json"}
LINES = {"content-type": "application/jsonlines"}
EVENTS = {"content-type": "text/event-stream; charset=utf-8"}
INPUTS = {"inputs": "Copies live", "parameters": {"max_new_tokens": 3, "temperature": 0}}
PLACE = {"name": "legal", "src": "{folder}"}


def refused(code: str, message: Any = str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}


CHATTED = {"object": "chat.completion", "choices": [{"finish_reason": "length"}]}
COMPLETED = {"object": "text_completion", "choices": [{"text": str}]}

ROWS: tuple[Row, ...] = (
    Row(name="ping", source="app.py", method="GET", path="/ping", status=200, expected=""),
    Row(name="chat", source="forms.py", body=CHAT, status=200, headers=JSON, expected=CHATTED),
    Row(name="completion", source="forms.py", body=COMPLETION, status=200, expected=COMPLETED),
    Row(name="inputs", source="inputs_form.py", body=INPUTS, status=200, expected={"generated_text": str}),
    Row(
        name="chat on its own path",
        source="app.py",
        path="/v1/chat/completions",
        body=CHAT,
        status=200,
        expected=CHATTED,
    ),
    Row(
        name="completion on its own path",
        source="app.py",
        path="/v1/completions",
        body=COMPLETION,
        status=200,
        expected=COMPLETED,
    ),
    Row(
        name="a stream",
        source="gateway.py",
        body=CHAT | {"stream": True},
        status=200,
        headers=EVENTS,
        expected=re.compile(r"(data: \{.*\}\n\n){2,}data: \[DONE\]\n\n"),
    ),
    Row(
        name="a stream of tokens",
        source="inputs_form.py",
        body=INPUTS | {"stream": True},
        status=200,
        headers=LINES,
        expected=re.compile(r'(\{"token":\{"text":".*"\}\}\n){1,3}\{"token":\{"text":""\},"generated_text":".+"\}\n'),
    ),
    Row(
        name="any model's name is the base's",
        source="SGL",
        body=CHAT | {"model": "acme/other"},
        status=200,
        expected=CHATTED,
    ),
    Row(name="no form", source="forms.py", body={"text": "x"}, status=400, expected={"error": {"message": str}}),
    Row(
        name="no JSON",
        source="gateway.py",
        body=b"{oops",
        status=400,
        expected=refused("invalid_json", re.compile("^the body is not JSON: ")),
    ),
    Row(name="a list", source="gateway.py", body=[1], status=400, expected=refused("invalid_json")),
    Row(
        name="an error of the engine",
        source="SGL",
        body=CHAT | {"max_tokens": 100000},
        status=400,
        expected={"object": "error", "message": str, "type": "BadRequestError", "code": 400},
    ),
    Row(
        name="another path",
        source="app.py",
        method="GET",
        path="/nowhere",
        status=404,
        expected=refused("not_found", "GET /nowhere: Not Found"),
    ),
    Row(
        name="another method", source="app.py", method="GET", path="/invocations", status=405, expected=refused("http")
    ),
    # Sessions.
    Row(
        name="off: an id",
        source="gateway.py",
        sessions=False,
        body=CHAT,
        send={SESSION: "abc"},
        status=400,
        expected=refused("sessions_disabled"),
    ),
    Row(
        name="off: open",
        source="gateway.py",
        sessions=False,
        body=NEW_SESSION,
        status=400,
        expected=refused("sessions_disabled"),
    ),
    Row(
        name="open",
        source="session_protocol.py",
        sessions=True,
        body=NEW_SESSION,
        status=200,
        headers={NEW: OPENED},
        expected={"result": re.compile(f"^Session {UUID} created$"), "extSessionID": str, "expires": str},
    ),
    Row(
        name="open with the first request",
        source="session_protocol.py",
        sessions=True,
        body=CHAT,
        send={SESSION: "NEW_SESSION"},
        status=200,
        headers={NEW: OPENED},
        expected=CHATTED,
    ),
    Row(
        name="open with an id",
        source="session_protocol.py",
        sessions=True,
        body=NEW_SESSION,
        send={SESSION: "abc"},
        status=400,
        expected=refused("invalid_request"),
    ),
    Row(
        name="use",
        source="gateway.py",
        sessions=True,
        needs=("session",),
        body=CHAT,
        send={SESSION: "{session}"},
        status=200,
        headers={NEW: None},
        expected=CHATTED,
    ),
    Row(
        name="use an unknown one",
        source="sessions.py",
        sessions=True,
        body=CHAT,
        send={SESSION: "abc"},
        status=400,
        expected={"error": {"code": "session_not_found", "message": re.compile("abc")}},
    ),
    Row(
        name="use an expired one",
        source="sessions.py",
        sessions=True,
        needs=("expired",),
        body=CHAT,
        send={SESSION: "{session}"},
        status=400,
        expected={"error": {"code": "session_not_found"}},
    ),
    Row(
        name="close",
        source="gateway.py",
        sessions=True,
        needs=("session",),
        body=CLOSE,
        send={SESSION: "{session}"},
        status=200,
        headers={CLOSED: "{session}"},
        expected={"result": "Session {session} closed"},
    ),
    Row(
        name="close twice",
        source="sessions.py",
        sessions=True,
        needs=("closed",),
        body=CLOSE,
        send={SESSION: "{session}"},
        status=400,
        expected={"error": {"code": "session_not_found"}},
    ),
    Row(
        name="close without an id",
        source="session_protocol.py",
        sessions=True,
        body=CLOSE,
        status=400,
        expected=refused("invalid_request"),
    ),
    # Adapters.
    Row(
        name="register",
        source="app.py",
        path="/adapters",
        body=PLACE,
        status=200,
        expected={"status": "Adapter legal registered"},
    ),
    Row(
        name="register by the query",
        source="app.py",
        path="/adapters?name=legal&src={folder}&preload=true",
        status=200,
        expected={"status": "Adapter legal registered"},
    ),
    Row(
        name="register without a folder",
        source="app.py",
        path="/adapters",
        body={"name": "legal"},
        status=400,
        expected=refused("invalid_request"),
    ),
    Row(
        name="register an absent folder",
        source="adapter_paths.py",
        path="/adapters",
        body={"name": "legal", "src": "/nowhere"},
        status=400,
        expected=refused("invalid_adapter_source"),
    ),
    Row(
        name="register again",
        source="adapters.py",
        needs=("adapter",),
        path="/adapters",
        body=PLACE,
        status=200,
        expected={"status": "Adapter legal registered"},
    ),
    Row(
        name="register something else",
        source="adapters.py",
        needs=("adapter",),
        path="/adapters",
        body=PLACE | {"pin": True},
        status=409,
        expected={"error": {"code": "adapter_exists"}},
    ),
    Row(
        name="list",
        source="app.py",
        needs=("adapter",),
        method="GET",
        path="/adapters",
        status=200,
        expected={
            "adapters": [{"name": "legal", "src": "{folder}", "loaded": False, "pin": False, "formatters": False}]
        },
    ),
    Row(
        name="an adapter by the header",
        source="adapter_references.py",
        needs=("adapter",),
        body=CHAT,
        send={ADAPTER: "legal"},
        status=200,
        expected={"model": "legal"},
    ),
    Row(
        name="an adapter by lora_path",
        source="SGL",
        needs=("adapter",),
        body=CHAT | {"lora_path": "legal"},
        status=200,
        expected={"model": "legal"},
    ),
    Row(
        name="an adapter after a colon",
        source="SGL",
        needs=("adapter",),
        body=CHAT | {"model": "{model}:legal"},
        status=200,
        expected={"model": "legal"},
    ),
    Row(
        name="an adapter that is not registered",
        source="adapter_references.py",
        body=CHAT,
        send={ADAPTER: "absent"},
        status=404,
        expected=refused("adapter_not_found"),
    ),
    Row(
        name="unregister",
        source="app.py",
        needs=("adapter",),
        method="DELETE",
        path="/adapters/legal",
        status=200,
        expected={"status": "Adapter legal unregistered"},
    ),
    Row(
        name="unregister an unknown one",
        source="app.py",
        method="DELETE",
        path="/adapters/absent",
        status=404,
        expected=refused("adapter_not_found"),
    ),
)
STOCK: tuple[Row, ...] = (
    Row(name="ping", source="D", method="GET", path="/ping", status=200),
    Row(name="chat", source="D", body=CHAT, status=200, expected=CHATTED),
    Row(name="a stream", source="D", body=CHAT | {"stream": True}, status=200, headers=EVENTS),
    Row(
        name="no completions on /invocations",
        source="D",
        body=COMPLETION,
        status=400,
        expected={"object": "error", "code": 400},
    ),
    Row(name="no session requests", source="D", body=NEW_SESSION, status=400, expected={"object": "error"}),
    Row(name="a session's id is not looked at", source="D", body=CHAT, send={SESSION: "abc"}, status=200),
    Row(name="no adapters", source="D", path="/adapters", body=PLACE, status=404, expected={"detail": "Not Found"}),
)
