"""The errors that servers write into their answers: OpenAI's envelope, SGLang's flat one, LMI's, FastAPI's."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_CUT = re.compile(r'\{.*?"(?:message|error|detail)"\s*:\s*"((?:[^"\\]|\\.)*)', re.DOTALL)
_STATUS_OF_TYPE = {
    "BadRequestError": 400,
    "invalid_request_error": 400,
    "NotFoundError": 404,
    "InternalServerError": 500,
    "server_error": 500,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorDocument:
    """What an error says.

    Args:
        message: The text.
        status: The HTTP status that it stands for; None where nothing tells it.
        code: Its word for programs, such as ``validation_error``; None where there is none.
    """

    message: str
    status: int | None
    code: str | None


def read_error(document: object) -> ErrorDocument | None:
    """Return the error that a document is; None if it is none.

    Args:
        document: An answer, or a chunk of a stream.
    """
    if not isinstance(document, Mapping):
        return None
    error = document.get("error")
    if isinstance(error, Mapping):
        return _read(error, error.get("message"))
    if isinstance(error, str):
        return _read(document, error)
    text = document.get("message", document.get("detail"))
    is_error = document.get("object") == "error" or "code" in document or "detail" in document
    return _read(document, text) if isinstance(text, str) and is_error else None


def text_of_error(answer: str) -> str:
    """Return what a container's error says, from its answer, which SageMaker may have cut.

    Args:
        answer: The body, or its first 2048 characters.
    """
    try:
        found = read_error(json.loads(answer))
    except (ValueError, RecursionError):
        cut = _CUT.match(answer)
        return cut[1].replace('\\"', '"') if cut else answer
    return found.message if found is not None else answer


def _read(error: Mapping[str, Any], text: object) -> ErrorDocument:
    code, kind = error.get("code"), error.get("type")
    status = code if type(code) is int else None
    if type(code) is str and code.isascii() and code.isdigit():
        status = int(code[:9])
    if status is None and isinstance(kind, str):
        status = _STATUS_OF_TYPE.get(kind)
    word = code if isinstance(code, str) and not code.isdigit() else None
    return ErrorDocument(message=text if isinstance(text, str) else json.dumps(error), status=status, code=word)
