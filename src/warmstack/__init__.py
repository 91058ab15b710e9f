"""Warmstack: one spec file becomes a SageMaker LLM endpoint whose KV cache stays warm."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstack.client import EndpointClient

__all__ = ["EndpointClient"]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Load the client when it is asked for: the rest of the package does without boto3."""
    if name == "EndpointClient":
        try:
            from warmstack.client import EndpointClient
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] in ("boto3", "botocore", "urllib3"):
                raise ImportError(
                    f"warmstack.EndpointClient needs {error.name}, which is not installed: pip install "
                    "'warmstack[aws]', or in a clone make setup"
                ) from error
            raise
        return EndpointClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
