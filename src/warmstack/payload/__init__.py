"""The bytes of a request: canonical, so that equal prompts begin with equal bytes, and the identifiers beside them.

::

    {"model": …, "messages": […], …} ──canonical──▶ {"messages":[…],"tools":[…],…,"model":…}
    PrefixAwareId, conversation, k ───shard──▶ one of k identifiers
    two bodies ──first_difference──▶ offset, JSON path, kind

No I/O.
"""

from warmstack.payload.difference import Difference, DifferenceKind, first_difference, shared_bytes
from warmstack.payload.errors import PayloadError
from warmstack.payload.layout import canonical
from warmstack.payload.shards import checked_prefix_aware_id, shard

__all__ = [
    "Difference",
    "DifferenceKind",
    "PayloadError",
    "canonical",
    "checked_prefix_aware_id",
    "first_difference",
    "shard",
    "shared_bytes",
]
