"""Media of a chat: from the web or inside the body, and never from the engine's file system.

SGLang opens what is neither as a local file (utils/common.py of 0.5.23, load_image).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from session_server.errors import BadRequestError

SCHEMES = ("http://", "https://", "data:")
MEDIA = frozenset({"image", "video", "audio"})
"""Keys that chat templates and processors take media from, beside those that end with _url."""


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
        if not key.endswith("_url") and key not in MEDIA:
            continue
        for url in _urls(value):
            # Guard: as the engine does it, without changing case or cutting spaces: " file:///x" must not pass either.
            if not url.startswith(SCHEMES):
                raise BadRequestError(
                    f"{key} is {url[:60]!r}; its URL must start with http://, https:// or data:. Files of the "
                    "container are not served",
                    code="invalid_media",
                )


def _urls(value: object) -> Iterator[str]:
    """Yield every text in a value that may be opened: itself, its `url`, and those of a list."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting.append(one.get("url"))
        elif isinstance(one, list):
            waiting += one
