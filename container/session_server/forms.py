"""Which form a request has, by the keys of its body, and the engine's endpoint for it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from session_server.errors import BadRequestError


class Form(Enum):
    """The forms of an inference, with the key that makes each."""

    CHAT = "messages"
    COMPLETION = "prompt"
    INPUTS = "inputs"

    @property
    def engine_path(self) -> str:
        """The engine's endpoint. `inputs` are completions too: see docs/decisions/0014."""
        return "/v1/chat/completions" if self is Form.CHAT else "/v1/completions"


def find_form(body: Mapping[str, object], only: Form | None = None) -> Form | None:
    """Return the form of a body, or None if it holds no inference.

    Args:
        body: The request's body.
        only: The one form that the request's path takes; None for /invocations, which takes each.

    Raises:
        BadRequestError: The body has several forms, or not the one of its path.
    """
    found = [form for form in Form if form.value in body]
    if len(found) > 1:
        keys = " and ".join(form.value for form in found)
        raise BadRequestError(f"the body has {keys}; send one of them")
    if only and found and found[0] is not only:
        raise BadRequestError(
            f"the body has {found[0].value}; this path takes {only.value}. /invocations takes each form"
        )
    return found[0] if found else None


def missing_form(only: Form | None = None) -> BadRequestError:
    """Return the error for a body that holds no inference where one is needed."""
    wanted = only.value if only else "messages, prompt or inputs"
    return BadRequestError(f"the body has no {wanted}; send one, or a requestType for a session")
