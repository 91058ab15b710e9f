"""The account of the image registry: a literal with a target Region, a mapping without."""

from __future__ import annotations

from aws_cdk import Aws, CfnMapping, Fn
from constructs import Construct

from warmstack.plan import Plan


class Registry(Construct):
    """Answers ``${Registry}`` in the plan's texts for ``Fn::Sub``."""

    def __init__(self, scope: Construct, construct_id: str, *, plan: Plan) -> None:
        super().__init__(scope, construct_id)
        self._account: str | None = None
        if not plan.registries:
            return
        if plan.region is not None:
            self._account = plan.registries[plan.region]
            return
        mapping = CfnMapping(
            self,
            "Accounts",
            mapping={region: {"account": account} for region, account in plan.registries.items()},
        )
        self._account = mapping.find_in_map(Aws.REGION, "account")

    def resolve(self, text: str) -> str:
        """Return a text of the plan with ``${Registry}`` and AWS's pseudo parameters filled in."""
        if "${" not in text:
            return text
        if "${Registry}" not in text:
            return Fn.sub(text)
        # A mapping without the Region fails the deploy before anything is created, naming the Region.
        return Fn.sub(text, {"Registry": str(self._account)})
