"""What the vLLM image answers to requests that it refuses, as vLLM 0.32 and the standards 0.1.16 write it.

The texts are those of a running one (2026-11-30); a test holds both to the same table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from warmstack.local.container import MemoryReply

JSON = {"content-type": "application/json"}
DISABLED = "Invalid payload. stateful sessions not enabled"
NO_HANDLER = "Cannot find suitable handler for request. Expected one of: ['ChatCompletionRequest', 'CompletionRequest']"
NOT_JSON_TYPE = "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed"
REQUEST_TYPES = ("NEW_SESSION", "CLOSE")
_CHOICES = "'NEW_SESSION' or 'CLOSE'"


class Refusal(Exception):  # noqa: N818  (an answer, not a defect)
    """An error answer.

    Args:
        status: The HTTP status.
        message: What is wrong.
        kind: The type; the status's own phrase where vLLM's framework answers.
        param: The member that is wrong.
    """

    def __init__(self, status: int, message: str, *, kind: str | None = None, param: str | None = None) -> None:
        super().__init__(message)
        self._error = {
            "message": message,
            "type": kind or HTTPStatus(status).phrase,
            "param": param,
            "code": status,
        }

    def reply(self) -> MemoryReply:
        """Return the answer."""
        body = json.dumps({"error": self._error}, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return MemoryReply(status=int(str(self._error["code"])), headers=JSON, source=body)


def framework_reply(status: int) -> MemoryReply:
    """Return what the web framework itself answers: 404 for a path, 405 for a method."""
    return MemoryReply(status=status, headers=JSON, source=json.dumps({"detail": HTTPStatus(status).phrase}).encode())


def decoded(raw: bytes) -> Any:
    """Return a body's JSON.

    Raises:
        Refusal: It has none.
    """
    try:
        return json.loads(raw)
    except json.JSONDecodeError as error:
        raise Refusal(400, f"JSON decode error: {error}") from error
    except (ValueError, RecursionError) as error:
        raise Refusal(400, str(error), kind="BadRequestError") from error


def no_object(body: object) -> Refusal:
    """Return the answer to JSON that is no object: what Python says when the standards take it for one."""
    if isinstance(body, list):
        said = "list indices must be integers or slices, not str"
    elif isinstance(body, str):
        said = "'str' object does not support item assignment"
    else:
        said = f"argument of type '{type(body).__name__}' is not iterable"
    return Refusal(400, said, kind="BadRequestError")


def check_session_request(body: Mapping[str, Any]) -> None:
    """Hold a body with ``requestType`` to its form.

    Raises:
        Refusal: With pydantic's list of what is wrong.
    """
    problems: list[dict[str, Any]] = []
    if body["requestType"] not in REQUEST_TYPES:
        said = {"msg": f"Input should be {_CHOICES}", "input": body["requestType"], "ctx": {"expected": _CHOICES}}
        problems.append({"type": "enum", "loc": ["requestType"]} | said)
    for name, value in body.items():
        if name != "requestType":
            said = {"msg": "Extra inputs are not permitted", "input": value}
            problems.append({"type": "extra_forbidden", "loc": [name]} | said)
    if problems:
        raise _validation(problems)


def registration(wanted: object) -> tuple[str, str]:
    """Return the name and the folder of a registration.

    Raises:
        Refusal: With pydantic's list of what is wrong.
    """
    if not isinstance(wanted, Mapping):
        form = "SageMakerRegisterLoRAAdapterRequest"
        said = {"msg": f"Input should be a valid dictionary or instance of {form}", "input": wanted}
        raise _validation([{"type": "model_type", "loc": []} | said | {"ctx": {"class_name": form}}])
    problems = [one for name in ("name", "src") if (one := _member_problem(wanted, name))]
    if problems:
        raise _validation(problems)
    return wanted["name"], wanted["src"]


def _member_problem(wanted: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    if name not in wanted:
        return {"type": "missing", "loc": [name], "msg": "Field required", "input": dict(wanted)}
    value = wanted[name]
    if value == "":
        said = f"The parameter {name} cannot be an empty string"
        error = {"type": "value_error", "loc": [name], "msg": f"Value error, {said}", "input": value}
        return error | {"ctx": {"error": said}}
    if not isinstance(value, str):
        return {"type": "string_type", "loc": [name], "msg": "Input should be a valid string", "input": value}
    return None


def _validation(problems: list[dict[str, Any]]) -> Refusal:
    return Refusal(400, json.dumps(problems, ensure_ascii=False, separators=(",", ":")))
