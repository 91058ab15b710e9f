"""Several deployments beside each other: what two of them may not both claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warmstack.plan.model import Plan


def claimed_twice(plans: Sequence[tuple[str, Plan]]) -> Iterator[str]:
    """Yield a message for each stack and each name in SageMaker that two deployments claim.

    Endpoints and inference components are unique by name in an account and Region. A plan without a target may go
    anywhere, so it may meet any other.

    Args:
        plans: each plan with the name of its spec, for the messages.
    """
    stacks: dict[str, str] = {}
    names: dict[tuple[str, str], list[tuple[str, Plan]]] = {}
    for spec, plan in plans:
        if plan.stack_name in stacks:
            first = stacks[plan.stack_name]
            yield f"{spec}: the stack {plan.stack_name} is deployed by {first} already: change name or environment"
            continue
        stacks[plan.stack_name] = spec
        for claim in _claims(plan):
            others = names.setdefault(claim, [])
            met = next((first for first, other in others if _may_meet(plan, other)), None)
            others.append((spec, plan))
            if met is not None:
                kind, name = claim
                yield (
                    f"{spec}: the {kind} {name} is deployed by {met} already; its name is unique in an account and "
                    "Region: change name, environment or the component"
                )


def _may_meet(one: Plan, other: Plan) -> bool:
    pairs = ((one.account, other.account), (one.region, other.region))
    return all(None in pair or pair[0] == pair[1] for pair in pairs)


def _claims(plan: Plan) -> dict[tuple[str, str], None]:
    """Return the names that a plan takes in SageMaker, in order, each with what it is the name of."""
    names = [("endpoint", plan.endpoint.name)]
    for served in plan.models:
        components = (served.physical_name, *(adapter.physical_name for adapter in served.adapters))
        names += [("inference component", name) for name in components if name is not None]
    return dict.fromkeys(names)
