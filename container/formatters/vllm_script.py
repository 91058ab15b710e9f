"""The bridge to the vLLM image: the middleware that the model hosting container standards load by an environment value.

``CUSTOM_FASTAPI_MIDDLEWARE_PRE_POST_PROCESS=/opt/warmstack/formatters/vllm_script.py:FormatterMiddleware`` switches it
on, and ``WARMSTACK_FORMATTERS`` names the base model's file, where there is one.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any


class FormatterMiddleware:
    """The middleware with the base model's formatters.

    Everything that can fail is in the constructor. The standards log and forget a failure to load this file, but a
    failure to construct the middleware ends the start, and a model without its formatters must not serve.

    Args:
        app: the application behind it.

    Raises:
        FormatterError: the base model's formatters do not load.
    """

    def __init__(self, app: Any) -> None:
        here = str(Path(__file__).parent)
        if here not in sys.path:
            sys.path.append(here)  # the standards load this file by its path, so its neighbours cannot be imported yet
        import formatter_middleware
        import warmstack_formatters

        path = os.environ.get("WARMSTACK_FORMATTERS")
        base = warmstack_formatters.load(Path(path), "the base model") if path else None
        self._middleware = formatter_middleware.FormatterMiddleware(app, base)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle one connection."""
        await self._middleware(scope, receive, send)
