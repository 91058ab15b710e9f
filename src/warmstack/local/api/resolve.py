"""From the names in a request to what they name."""

from __future__ import annotations

from warmstack.local.api.services import Services
from warmstack.local.platform.endpoints import Component, Endpoint, Variant
from warmstack.local.wire import errors
from warmstack.local.wire.errors import validation_error


def endpoint_of(services: Services, name: str) -> Endpoint:
    """Return an endpoint by its name.

    Raises:
        ApiError: There is none.
    """
    endpoint = services.platform.endpoints.get(name)
    if endpoint is None:
        raise services.where(name).not_found()
    return endpoint


def component_of(services: Services, endpoint: Endpoint, name: str | None) -> Component | None:
    """Return the component that a request names; None on an endpoint without components.

    Raises:
        ApiError: It has to name one, or must not, or there is no such component.
    """
    if not endpoint.takes_components:
        if name is not None:
            raise validation_error(errors.COMPONENT_HEADER_NOT_ALLOWED)
        return None
    if name is None:
        raise validation_error(errors.COMPONENT_HEADER_MISSING)
    component = endpoint.components.get(name)
    if component is None:
        raise services.where(endpoint.name).component_not_found(name)
    return component


def variant_of(
    services: Services, endpoint: Endpoint, component: Component | None, *, target: str | None, session: str | None
) -> Variant:
    """Return the variant that a request goes to: its session's, else the one it names, else one by weight.

    Raises:
        ApiError: It names one that is not there.
    """
    if target is not None and target not in endpoint.variants:
        # Own words: SageMaker's own text is not documented.
        raise validation_error(f"Variant {target} of endpoint {endpoint.name} not found.")
    if component is not None:
        base = endpoint.components[component.hosts]
        return endpoint.variants[base.definition.variant_name]
    variants = list(endpoint.variants.values())
    if len(variants) == 1:
        return variants[0]
    home = _home(services, endpoint, session)
    if home is not None:
        return home
    if target is not None:
        return endpoint.variants[target]
    weights = [max(one.definition.weight, 0.0) for one in variants]
    return services.random.choices(variants, weights)[0] if any(weights) else variants[0]


def _home(services: Services, endpoint: Endpoint, session: str | None) -> Variant | None:
    if session is None:
        return None
    found = endpoint.sessions.instance_of(session, now_seconds=services.now().timestamp()).session
    if found is None:
        return None
    for variant in endpoint.variants.values():
        if any(instance.name == found.instance for instance in variant.instances):
            return variant
    return None
