"""What would disappoint whoever starts a local endpoint: said before anything starts."""

from __future__ import annotations

from warmstack.assembly import Assembly
from warmstack.local.errors import LocalError
from warmstack.local.order import UpOrder
from warmstack.local.platform.start_plan import StartPlan


def check_start(order: UpOrder, assembly: Assembly, plan: StartPlan) -> None:
    """Refuse to start a part of the endpoints as if it were all of them.

    Args:
        order: What was asked for.
        assembly: What was read.
        plan: How many of what start.

    Raises:
        LocalError: An endpoint that asks for copies would get none.
    """
    starved = []
    for endpoint in assembly.endpoints:
        own = [plan.instances[endpoint.name, one.name] for one in endpoint.variants if one.model is not None]
        sizes = own + [plan.copies[endpoint.name, one.name] for one in endpoint.components if one.base is None]
        if any(size.asked for size in sizes) and not any(size.given for size in sizes):
            starved.append(endpoint)
    if not starved:
        return
    names = ", ".join(one.name for one in starved)
    stacks = ", ".join(dict.fromkeys(one.stack for one in assembly.endpoints))
    raise LocalError(
        f"{order.source} defines {len(assembly.endpoints)} endpoints, and {len(starved)} of them would have no copy: "
        f"{names}. Name one stack with --stack ({stacks}), start more with --copies, or take --engine simulated"
    )
