"""What the local AWS answers instead of a result."""

from __future__ import annotations

from warmstack.errors import WarmstackError


class StackError(WarmstackError):
    """An answer of CloudFormation's API that is an error.

    Args:
        code: The error's code.
        message: The text.
        status: The HTTP status.
    """

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status


class RefusedError(WarmstackError):
    """A service that refused what a resource needs.

    Args:
        code: The error's code.
        message: The text.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class ResourceError(WarmstackError):
    """A resource that could not be made, changed or removed; the text is the reason in the stack's events."""


class CancelledError(ResourceError):
    """A resource that was being made when another one failed."""


def invalid(message: str) -> StackError:
    """Return CloudFormation's answer to a request that it cannot act on."""
    return StackError("ValidationError", message)


def no_stack(name: str) -> StackError:
    """Return the answer for a stack that does not exist, in the words that the CDK CLI looks for."""
    return invalid(f"Stack with id {name} does not exist")
