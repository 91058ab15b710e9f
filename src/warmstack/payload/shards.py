"""One hot prefix on several instances, each conversation always on the same one: k identifiers instead of one.

Requests with the same prefix and the same PrefixAwareId go to the same instance. An application whose requests all
share one long prefix would load one instance, and its overflow beyond the concurrency threshold goes anywhere. With
k identifiers the prefix is warm on k instances, and a conversation stays on its own.

Source of the identifier's form: PrefixAwareId of InvokeEndpointInput, botocore 1.44.8. Source of the hash: Lamping and
Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm" (2014): one identifier more moves 1/k of the conversations.
"""

from __future__ import annotations

from hashlib import sha256

from warmstack.payload.errors import PayloadError
from warmstack.payload.paths import excerpt

_LONGEST = 64
_FIRST_PRINTABLE, _LAST_PRINTABLE = " ", "~"
_MOST_SHARDS = 10_000


def checked_prefix_aware_id(prefix_aware_id: str) -> str:
    """Return an identifier that SageMaker accepts, as it is.

    Raises:
        PayloadError: it is empty, longer than 64 characters, begins with white space, or holds what is not printable.
    """
    shown = f"PrefixAwareId is {excerpt(prefix_aware_id)}"
    if not isinstance(prefix_aware_id, str):
        raise PayloadError(f"{shown}; it must be text: name the application, such as 'support'")
    if not 1 <= len(prefix_aware_id) <= _LONGEST:
        raise PayloadError(
            f"{shown}, {len(prefix_aware_id)} characters; SageMaker accepts 1..{_LONGEST}: shorten the name"
        )
    wrong = next((one for one in prefix_aware_id if not _FIRST_PRINTABLE <= one <= _LAST_PRINTABLE), None)
    if wrong is not None:
        raise PayloadError(f"{shown}; SageMaker accepts printable ASCII in it: leave out {wrong!a}")
    if prefix_aware_id[0] == " ":
        raise PayloadError(f"{shown}; SageMaker refuses white space at its start: leave it out")
    return prefix_aware_id


def shard(prefix_aware_id: str, key: str, shards: int) -> str:
    """Return the PrefixAwareId of one of several shards: ``shard("support", session, 4)`` is ``support~3``.

    The same key always has the same shard, on every machine. With one shard more, 1/(shards + 1) of the keys move.

    Args:
        prefix_aware_id: the application's own identifier.
        key: what must stay together: a conversation, a user, a tenant.
        shards: how many instances are to hold the prefix, at least 1.

    Raises:
        PayloadError: there is no shard, or SageMaker would refuse the identifier.
    """
    if type(shards) is not int or not 1 <= shards <= _MOST_SHARDS:
        raise PayloadError(
            f"shards is {excerpt(shards)}; it must be a whole number of 1..{_MOST_SHARDS}: "
            "take as many as instances shall hold the prefix"
        )
    if not isinstance(key, str):
        raise PayloadError(f"key is {excerpt(key)}; it must be text: send the conversation's id, str(id)")
    checked_prefix_aware_id(prefix_aware_id)
    # Guard: not hash(), which differs from process to process.
    digest = sha256(key.encode("utf-8", "surrogatepass")).digest()
    return checked_prefix_aware_id(f"{prefix_aware_id}~{_jump(int.from_bytes(digest[:8], 'big'), shards)}")


def _jump(key: int, buckets: int) -> int:
    """Return the bucket of a key of 64 bits (Lamping and Veach 2014, figure 1)."""
    bucket, jump = -1, 0
    while jump < buckets:
        bucket = jump
        key = (key * 2862933555777941757 + 1) & 0xFFFFFFFFFFFFFFFF
        jump = int((bucket + 1) * (float(1 << 31) / float((key >> 33) + 1)))
    return bucket
