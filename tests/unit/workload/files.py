"""Files of recorded requests, made here."""

from __future__ import annotations

import base64
import json
from typing import Any


def chat(*turns: str, system: str = "You are the assistant of Acme.") -> dict[str, Any]:
    said = [{"role": ("user", "assistant")[place % 2], "content": turn} for place, turn in enumerate(turns)]
    return {"messages": [{"role": "system", "content": system}, *said], "model": "m"}


def compact(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def captured(body: bytes, encoding: str = "JSON", time: str = "2026-07-01T10:00:00Z") -> bytes:
    """A line as SageMaker's data capture writes it."""
    data = base64.b64encode(body).decode() if encoding == "BASE64" else body.decode()
    given = {"observedContentType": "application/json", "mode": "INPUT", "data": data, "encoding": encoding}
    answer = {"observedContentType": "application/json", "mode": "OUTPUT", "data": "{}", "encoding": "JSON"}
    event = {"eventId": "2c776661-eb5f-4d5e-9f83-23b731f32556", "inferenceTime": time}
    return compact(
        {"captureData": {"endpointInput": given, "endpointOutput": answer}, "eventMetadata": event, "eventVersion": "0"}
    )


def agent_row(time: int, text: str, session: str = "s") -> bytes:
    return compact({"timestamp": time, "input": text, "output": "o", "session_id": session})
