"""Spec and catalog → Plan. The pipeline, stage by stage; no stage reads a file, a clock or the network.

========================  ==========================================  =========================================
stage                     takes                                       gives
========================  ==========================================  =========================================
``resolve``               spec, catalog, shapes of config files       instance type, model shapes, images
``served.plan_served``    one model of the spec with those facts      degree, memory, tiers, settings, environment
``endpoint``              spec, served models                         names, routing, AMI
``images``                spec, served models                         images to build and what they carry
``permissions``           endpoint, served models                     statements of the execution role
``money``                 endpoint                                    quotas, cost
``checks``                spec, whole plan                            findings
========================  ==========================================  =========================================
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence

from warmstack.catalog import Catalog, InstanceType, ModelShape, ServerImage
from warmstack.errors import CatalogError, WarmstackError
from warmstack.plan.checks import run_checks
from warmstack.plan.endpoint import endpoint_derived, plan_endpoint
from warmstack.plan.findings import finding, settle
from warmstack.plan.images import plan_builds
from warmstack.plan.model import Finding, Plan, ServedModel, SpecPath
from warmstack.plan.money import plan_cost, plan_quotas
from warmstack.plan.naming import physical_name
from warmstack.plan.permissions import plan_permissions
from warmstack.plan.request import Request
from warmstack.plan.served import plan_served
from warmstack.spec import ComponentSpec, DeploymentSpec, EngineSpec, ModelSpec


class PlanError(WarmstackError):
    """No plan can serve the spec: the error findings, and whatever else was found.

    Args:
        findings: everything that was found, errors first.
        plan: the plan as far as it could be made, or None when the catalog lacks what it is made from.
    """

    def __init__(self, findings: Sequence[Finding], plan: Plan | None) -> None:
        self.findings = tuple(findings)
        self.plan = plan
        errors = [one for one in self.findings if one.severity == "error"]
        super().__init__("\n".join(f"{one.check}: {one.message}" for one in errors))


def make_plan(
    spec: DeploymentSpec,
    catalog: Catalog,
    shapes: Mapping[SpecPath, ModelShape] | None = None,
    texts: Mapping[SpecPath, str] | None = None,
) -> Plan:
    """Return the plan of a deployment.

    Args:
        spec: what the user said.
        catalog: the facts.
        shapes: the shapes of models that the spec gives by ``model.config``, by the model's place in the spec.
        texts: what the other files hold that the spec names, by the place of the field.

    Raises:
        PlanError: at least one check found an error; it carries all findings.
    """
    plan = draft_plan(spec, catalog, shapes, texts)
    if any(one.severity == "error" for one in plan.findings):
        raise PlanError(plan.findings, plan)
    return plan


def draft_plan(
    spec: DeploymentSpec,
    catalog: Catalog,
    shapes: Mapping[SpecPath, ModelShape] | None = None,
    texts: Mapping[SpecPath, str] | None = None,
) -> Plan:
    """Return the plan with its findings even where some are errors, for showing; ``make_plan`` is for using.

    Raises:
        PlanError: the catalog does not hold the instance type, a model or an image.
    """
    instance, requests = _resolve(spec, catalog, shapes or {}, texts or {})
    served = [plan_served(request) for request in requests]
    models = tuple(one.model for one in served)
    endpoint = plan_endpoint(spec, instance, models)
    plan = Plan(
        name=spec.name,
        environment=spec.environment,
        stack_name=physical_name(spec.name, spec.environment),
        spec_hash=spec_hash(spec),
        account=None if spec.target is None else spec.target.account,
        region=None if spec.target is None else spec.target.region,
        registries=_registries(spec, models),
        endpoint=endpoint,
        models=models,
        images=plan_builds(spec, models),
        permissions=plan_permissions(endpoint, models),
        quotas=plan_quotas(endpoint),
        cost=plan_cost(endpoint),
        derived=(*endpoint_derived(spec, endpoint), *(line for one in served for line in one.derived)),
        findings=(),
        tags=dict(sorted(spec.tags.items())),
    )
    found = [*(item for one in served for item in one.findings), *run_checks(spec, plan)]
    return dataclasses.replace(plan, findings=settle(found, spec.acknowledge))


def spec_hash(spec: DeploymentSpec) -> str:
    """Return the sha256 (hex) of what the spec means: comments, key order and ``extends`` do not matter."""
    meaning = json.dumps(spec.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(meaning.encode()).hexdigest()


def _parts(spec: DeploymentSpec) -> Iterator[tuple[ComponentSpec | None, SpecPath, ModelSpec, EngineSpec]]:
    if spec.components:
        for index, component in enumerate(spec.components):
            yield component, ("components", index), component.model, component.engine
    else:
        assert spec.model is not None  # DeploymentSpec: components, or a model of its own
        yield None, (), spec.model, spec.engine


def _resolve(
    spec: DeploymentSpec,
    catalog: Catalog,
    shapes: Mapping[SpecPath, ModelShape],
    texts: Mapping[SpecPath, str],
) -> tuple[InstanceType, list[Request]]:
    """Look everything up; what the catalog does not hold ends the planning, all of it named at once."""
    found: list[Finding] = []
    instance: InstanceType | None = None
    try:
        instance = catalog.instance(spec.endpoint.instance_type)
    except CatalogError as error:
        found.append(finding("WS001", str(error), ("endpoint", "instance_type")))
    requests: list[Request] = []
    for component, path, model, engine in _parts(spec):
        shape = shapes.get((*path, "model"))
        image: ServerImage | None = None
        try:
            shape = shape or catalog.model(model.id)
        except CatalogError as error:
            found.append(finding("WS002", str(error), (*path, "model", "id")))
        if shape is not None and not shape.complete:
            message = f"{model.id}: {shape.incomplete_reason or 'its layout is not understood'}"
            found.append(finding("WS030", message, (*path, "model", "id")))
        try:
            image = catalog.image(engine.server, engine.version)
        except CatalogError as error:
            found.append(finding("WS003", str(error), (*path, "engine", "version")))
        if instance is not None and shape is not None and image is not None:
            requests.append(
                Request(
                    spec=spec,
                    component=component,
                    path=path,
                    model=model,
                    engine=engine,
                    cache=spec.cache if component is None else component.cache,
                    shape=shape,
                    instance=instance,
                    image=image,
                    catalog=catalog,
                    texts=texts,
                )
            )
    if found or instance is None:
        raise PlanError(settle(found, {}), None)
    return instance, requests


def _registries(spec: DeploymentSpec, models: Sequence[ServedModel]) -> dict[str, str]:
    if spec.image.base is not None:
        return {}
    shared = dict(models[0].server_image.registries)
    for model in models[1:]:
        shared = {region: account for region, account in shared.items() if region in model.server_image.registries}
    if spec.target is not None:
        shared = {region: account for region, account in shared.items() if region == spec.target.region}
    return dict(sorted(shared.items()))
