"""The SageMaker SDK, imported without its warnings: its sources have escapes that Python warns of."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from sagemaker.core.resources import Endpoint
    from sagemaker.core.token_generator import generate_token

__all__ = ["Endpoint", "generate_token"]
