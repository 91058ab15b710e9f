"""Lists of the control plane: filtered, sorted and cut into pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warmstack.local.wire.errors import ApiError

DEFAULT_RESULTS = 10
MOST_RESULTS = 100


def page(
    entries: Sequence[dict[str, Any]], members: Mapping[str, Any], *, key: str, name: str, status: str
) -> dict[str, Any]:
    """Return one page of a list.

    Args:
        entries: Every entry.
        members: The request: NameContains, StatusEquals, SortBy, SortOrder, MaxResults and NextToken.
        key: What the list is called in the answer.
        name: The member that holds an entry's name.
        status: The member that holds its status.

    Raises:
        ApiError: MaxResults or NextToken is not valid.
    """
    found = [one for one in entries if str(members.get("NameContains") or "") in one[name]]
    if members.get("StatusEquals"):
        found = [one for one in found if one[status] == members["StatusEquals"]]
    by = {"Name": name, "Status": status}.get(str(members.get("SortBy")), "CreationTime")
    found.sort(key=lambda one: (one[by], one[name]), reverse=members.get("SortOrder", "Descending") != "Ascending")
    most, start = members.get("MaxResults", DEFAULT_RESULTS), members.get("NextToken", "0")
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MOST_RESULTS:
        raise ApiError("ValidationException", 400, f"MaxResults must be a whole number from 1 to {MOST_RESULTS}")
    if not isinstance(start, str) or not (start.isascii() and start.isdigit()) or len(start) > 9:
        raise ApiError("ValidationException", 400, "NextToken is not one that a list gave")
    end = int(start) + most
    answer: dict[str, Any] = {key: found[int(start) : end]}
    return answer | ({"NextToken": str(end)} if end < len(found) else {})
