"""The naming rule: ``{name}-{environment}[-{component}[-{adapter}]]``, at most 63 characters.

Source: SageMaker's EndpointName and InferenceComponentName, ``[a-zA-Z0-9](-*[a-zA-Z0-9])*`` and 63 characters
(botocore service model sagemaker 2017-07-24).
"""

from __future__ import annotations

import hashlib

MAX_LENGTH = 63
_HASH_LENGTH = 8


def physical_name(*parts: str) -> str:
    """Return the parts joined by hyphens; a name that is too long is cut and ends with a hash of the whole."""
    whole = "-".join(parts)
    if len(whole) <= MAX_LENGTH:
        return whole
    digest = hashlib.sha256(whole.encode()).hexdigest()[:_HASH_LENGTH]
    return f"{whole[: MAX_LENGTH - _HASH_LENGTH - 1].rstrip('-')}-{digest}"
