"""What answers on a port here: a local AWS, which has stacks and buckets, or a local endpoint, which has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.error import HTTPError
from urllib.parse import urlsplit

from warmstack.local.errors import LocalError
from warmstack.local.remote import ask
from warmstack.operate.errors import OperateError

ANSWER_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServices:
    """What of Warmstack answers at an address.

    Args:
        port: The port.
        kind: ``aws`` for `warmstack local aws up`, ``endpoint`` for `warmstack local up`, else ``nothing``.
        account: The account of a local AWS.
        region: The Region that its SageMaker is in; empty where it does not tell.
        is_refused: Whether nothing at all listens there.
    """

    port: int | None
    kind: Literal["aws", "endpoint", "nothing"]
    account: str = ""
    region: str = ""
    is_refused: bool = False

    def lacks(self, what: str) -> str:
        """Return why something of AWS is not there, as the end of a sentence.

        Args:
            what: What is not there, such as ``stacks``.
        """
        if self.kind == "endpoint":
            return f"port {self.port} serves a local endpoint, which has no {what}"
        return f"nothing of Warmstack answers on port {self.port}"


def services_at(url: str, *, seconds: float = ANSWER_SECONDS) -> LocalServices:
    """Return what answers at an address.

    Args:
        url: The address.
        seconds: How long to wait for an answer.

    Raises:
        OperateError: The address is none.
    """
    try:
        port = urlsplit(url).port
    except ValueError as error:
        raise OperateError(f"the address {url!r} is none: {error}; write one such as http://localhost:8787") from error
    try:
        found = ask(url, "stacks", seconds=seconds)
        return LocalServices(port=port, kind="aws", account=str(found["account"]), region=str(found["region"]))
    except KeyError:
        pass
    except LocalError as error:
        if not isinstance(error.__cause__, HTTPError | None):
            # Nobody answers, or nobody of ours: a second question would wait as long again.
            reason = getattr(error.__cause__, "reason", None)
            return LocalServices(port=port, kind="nothing", is_refused=isinstance(reason, ConnectionRefusedError))
    try:
        status = ask(url, "status", seconds=seconds)
    except LocalError:
        return LocalServices(port=port, kind="nothing")
    return LocalServices(port=port, kind="endpoint", region=str(status.get("region") or ""))
