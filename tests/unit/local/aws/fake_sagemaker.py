"""SageMaker in memory whose creations and updates fail when a test wants it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from tests.unit.local.aws.in_memory import InMemorySageMaker
from warmstack.local.wire.errors import ApiError

ACCOUNT = "111122223333"
OTHER_ACCOUNT = "444455556666"
REGION = "us-west-2"


class FakeSageMaker(InMemorySageMaker):
    """Fails what ``failures`` names: by the thing's name or a part of it, with a reason."""

    def __init__(self, polls: int = 1, *, account: str = ACCOUNT) -> None:
        super().__init__(account=account, region=REGION, now=lambda: datetime.now(UTC), polls=polls)
        self.failures: dict[str, str] = {}
        self.refused: dict[str, str] = {}
        self.hidden = ""

    def fate(self, kind: str, name: str, members: Mapping[str, Any]) -> tuple[str, str]:
        asked = f"{kind} {name} {members.get('EndpointConfigName', '')}"
        reason = next((why for what, why in self.failures.items() if what in asked), None)
        if reason is None:
            return "InService", ""
        # What fails in an update is in service as before; anything that is new is not.
        is_update = (kind, name) in self.things
        return ("InService" if is_update else "Failed"), reason

    async def call(self, operation: str, members: Mapping[str, Any]) -> Mapping[str, Any]:
        if operation in self.refused:
            raise ApiError("ValidationException", 400, self.refused[operation])
        if self.hidden and operation == "UpdateEndpoint" and members["EndpointConfigName"] == self.hidden:
            raise ApiError("ValidationException", 400, f"Could not find endpoint configuration {self.hidden}")
        return await super().call(operation, members)

    def names(self, kind: str) -> list[str]:
        return [name for other, name in self.things if other == kind]

    def operations(self, *skipped: str) -> list[str]:
        """Return what was called that changes something."""
        return [name for name, _ in self.calls if not name.startswith(("Describe", "List", *skipped))]
