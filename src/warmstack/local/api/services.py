"""What the handlers work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from random import Random

from warmstack.local.hosting.operations import Hosting
from warmstack.local.platform.dispatch import Dispatcher
from warmstack.local.platform.journal import Journal
from warmstack.local.platform.platform import Platform
from warmstack.local.wire.errors import Whereabouts
from warmstack.local.wire.limits import Limits
from warmstack.local.wire.parts import Cutting


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What the handlers work with.

    Args:
        platform: The endpoints.
        dispatcher: Sends requests to copies.
        journal: Remembers requests.
        limits: Sizes and times.
        cutting: How streamed answers are cut into parts.
        account: The account's number where no endpoint names one.
        region: The region, likewise, and of bearer tokens.
        now: The time, with its zone.
        random: Chooses variants by their weights.
        hosting: Makes, changes and removes endpoints; None where those of a template are all there are.
    """

    platform: Platform
    dispatcher: Dispatcher
    journal: Journal
    limits: Limits
    cutting: Cutting
    account: str
    region: str
    now: Callable[[], datetime]
    random: Random
    hosting: Hosting | None = None

    def where(self, endpoint: str) -> Whereabouts:
        """Return what texts say of an endpoint."""
        found = self.platform.endpoints.get(endpoint)
        account = found.definition.account if found else self.account
        return Whereabouts(endpoint=endpoint, account=account, region=found.definition.region if found else self.region)
