"""SageMaker in memory whose creations and updates fail when a test wants it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from tests.unit.local.aws.in_memory import InMemorySageMaker

ACCOUNT = "111122223333"
REGION = "us-west-2"


class FakeSageMaker(InMemorySageMaker):
    """Fails what ``failures`` names: by the thing's name or a part of it, with a reason."""

    def __init__(self, polls: int = 1) -> None:
        super().__init__(account=ACCOUNT, region=REGION, now=lambda: datetime.now(UTC), polls=polls)
        self.failures: dict[str, str] = {}

    def fate(self, kind: str, name: str, members: Mapping[str, Any]) -> tuple[str, str]:
        asked = f"{kind} {name} {members.get('EndpointConfigName', '')}"
        reason = next((why for what, why in self.failures.items() if what in asked), None)
        if reason is None:
            return "InService", ""
        # An endpoint whose update fails is in service as before; anything that is new is not.
        is_update = (kind, name) in self.things and kind == "Endpoint"
        return ("InService" if is_update else "Failed"), reason

    def names(self, kind: str) -> list[str]:
        return [name for other, name in self.things if other == kind]

    def operations(self, *skipped: str) -> list[str]:
        """Return what was called that changes something."""
        return [name for name, _ in self.calls if not name.startswith(("Describe", "List", *skipped))]
