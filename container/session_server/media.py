"""Media of a chat: from the web or inside the body, and never from the engine's file system.

SGLang opens what is neither as a local file (utils/common.py of 0.5.23, load_image).
"""

from __future__ import annotations

from collections.abc import Mapping

from session_server.errors import BadRequestError

SCHEMES = ("http://", "https://", "data:")


def check_media(body: Mapping[str, object]) -> None:
    """Refuse parts of messages whose URL is a path.

    Args:
        body: A body with `messages`.

    Raises:
        BadRequestError: A URL has another scheme than http, https or data.
    """
    messages = body.get("messages")
    for message in messages if isinstance(messages, list) else []:
        content = message.get("content") if isinstance(message, dict) else None
        for part in content if isinstance(content, list) else []:
            if isinstance(part, dict):
                _check_part(part)


def _check_part(part: Mapping[str, object]) -> None:
    for key, value in part.items():
        if not key.endswith("_url"):
            continue
        url = value.get("url") if isinstance(value, dict) else value
        # Guard: as the engine does it, without changing case or cutting spaces: " file:///x" must not pass either.
        if isinstance(url, str) and not url.startswith(SCHEMES):
            raise BadRequestError(
                f"{key} is {url[:60]!r}; its URL must start with http://, https:// or data:. Files of the container "
                "are not served",
                code="invalid_media",
            )
