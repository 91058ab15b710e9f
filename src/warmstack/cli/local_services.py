"""What answers on a port here: a local AWS, which has stacks and buckets, or a local endpoint, which has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from warmstack.local.errors import LocalError
from warmstack.local.remote import ask


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServices:
    """What of Warmstack answers at an address.

    Args:
        port: The port.
        kind: ``aws`` for `warmstack local aws up`, ``endpoint`` for `warmstack local up`, else ``nothing``.
        account: The account of a local AWS.
        region: The Region that its SageMaker is in.
    """

    port: int | None
    kind: Literal["aws", "endpoint", "nothing"]
    account: str = ""
    region: str = ""

    def lacks(self, what: str) -> str:
        """Return why something of AWS is not there, as the end of a sentence.

        Args:
            what: What is not there, such as ``stacks``.
        """
        if self.kind == "endpoint":
            return f"port {self.port} serves a local endpoint, which has no {what}"
        return f"nothing of Warmstack answers on port {self.port}"


def services_at(url: str) -> LocalServices:
    """Return what answers at an address."""
    port = urlsplit(url).port
    try:
        found = ask(url, "stacks")
        return LocalServices(port=port, kind="aws", account=str(found["account"]), region=str(found["region"]))
    except (LocalError, KeyError):
        pass
    try:
        ask(url, "status")
    except LocalError:
        return LocalServices(port=port, kind="nothing")
    return LocalServices(port=port, kind="endpoint")
