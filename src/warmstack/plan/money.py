"""Quotas and cost of the instances."""

from __future__ import annotations

from warmstack.plan.model import CostPlan, EndpointPlan, QuotaNeed

HOURS_PER_MONTH = 730


def instances_during_update(endpoint: EndpointPlan) -> tuple[int, str]:
    """Return the instances an update needs at the maximum, and why.

    A variant's update is blue/green, all at once, when no deployment configuration is given: it doubles the
    fleet (API DeploymentConfig). A component's update adds copies first, on instances that managed scaling may
    start, so it stays within the maximum (DG, inference component rolling updates).
    """
    most = endpoint.instances_max
    if endpoint.uses_components:
        return most, "a component's rolling update stays within instances.max"
    return 2 * most, "blue/green, all at once: the new fleet stands before the old one goes"


def plan_quotas(endpoint: EndpointPlan) -> tuple[QuotaNeed, ...]:
    """Return the quotas that the account needs, by their names in Service Quotas."""
    during, reason = instances_during_update(endpoint)
    return (
        QuotaNeed(
            name=f"{endpoint.instance.name} for endpoint usage",
            steady=endpoint.instances_min,
            scaled_out=endpoint.instances_max,
            during_update=during,
            reason=reason,
        ),
        QuotaNeed(
            # Source: General Reference, SageMaker quotas: L-7A3DF611, 4 by default.
            name="Number of instances across active endpoints",
            steady=endpoint.instances_min,
            scaled_out=endpoint.instances_max,
            during_update=during,
            reason="of all endpoints in the account together; these are this endpoint's",
        ),
    )


def plan_cost(endpoint: EndpointPlan) -> CostPlan:
    """Return what the instances cost on demand; storage, data transfer and metrics are not in it."""
    price = endpoint.instance.usd_per_hour
    during, _ = instances_during_update(endpoint)

    def dollars(instances: int, hours: int = 1) -> float | None:
        return None if price is None else round(price * instances * hours, 4)

    return CostPlan(
        instance_usd_per_hour=price,
        basis=endpoint.instance.price_basis,
        as_of=endpoint.instance.price_as_of,
        min_usd_per_hour=dollars(endpoint.instances_min),
        max_usd_per_hour=dollars(endpoint.instances_max),
        update_usd_per_hour=dollars(during),
        min_usd_per_month=dollars(endpoint.instances_min, HOURS_PER_MONTH),
        max_usd_per_month=dollars(endpoint.instances_max, HOURS_PER_MONTH),
    )
