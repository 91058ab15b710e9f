"""A template or cloud assembly to endpoints: the whole of the reading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from warmstack.assembly.assets import Assets
from warmstack.assembly.components import read_components
from warmstack.assembly.definitions import Assembly, EndpointDefinition, ModelDefinition, Notice
from warmstack.assembly.errors import AssemblyError
from warmstack.assembly.fields import Fields
from warmstack.assembly.identities import NAME_RULE, is_name, name_in
from warmstack.assembly.models import notice, read_model
from warmstack.assembly.sources import Source, find_sources
from warmstack.assembly.template import Template
from warmstack.assembly.unresolved import Problems
from warmstack.assembly.variants import read_variants

DEFAULT_ACCOUNT = "111122223333"
DEFAULT_REGION = "us-east-1"
_MODEL = "AWS::SageMaker::Model"
_CONFIG = "AWS::SageMaker::EndpointConfig"
_ENDPOINT = "AWS::SageMaker::Endpoint"
_COMPONENT = "AWS::SageMaker::InferenceComponent"

Place = tuple[Template, str]


def read_assembly(
    path: Path,
    *,
    parameters: Mapping[str, str] | None = None,
    account: str | None = None,
    region: str | None = None,
    stack: str | None = None,
    default_region: str = DEFAULT_REGION,
    deployed: Mapping[str, str] | None = None,
    is_open: bool = False,
) -> Assembly:
    """Read the endpoints of a cloud assembly or a template.

    Args:
        path: A ``cdk.out`` (or another assembly's folder), its manifest, or a template in JSON or YAML.
        parameters: Values for parameters of the templates, by name.
        account: The account to read it for; else that of the stack's environment, else 111122223333.
        region: The Region to read it for; else that of the stack's environment, else the default.
        stack: The one stack to read; without it all of them are.
        default_region: The Region where nothing names one.
        deployed: The physical ids of the resources of the one stack that is read, by their logical ids.
        is_open: Whether what hangs on a name that CloudFormation makes is left open: repositories, buckets and roles.

    Raises:
        AssemblyError: It cannot be read, or defines no endpoint that can be served: every problem, a line each.
    """
    problems = Problems()
    sources = _selected(find_sources(path, problems), stack, path, problems)
    if problems:
        raise AssemblyError(problems)
    reading = _Reading(
        [replace(one, deployed=deployed or {}, is_open=is_open) for one in sources],
        dict(parameters or {}),
        problems,
        account=account,
        region=region,
        default_region=default_region,
    )
    try:
        endpoints = reading.endpoints()
    except RecursionError:
        raise AssemblyError([f"{path}: its functions are nested too deeply to be answered"]) from None
    if not endpoints and not problems:
        problems.add(str(path), reading.nothing_served())
    if problems:
        raise AssemblyError(problems)
    outputs = {one.source.stack: one.published() for one in reading.templates}
    return Assembly(endpoints=endpoints, notices=tuple(dict.fromkeys(reading.notices)), outputs=outputs)


def read_template(
    document: Mapping[str, Any],
    *,
    stack: str,
    account: str,
    region: str,
    images: Mapping[str, Path] | None = None,
    is_whole: bool = True,
) -> Assembly:
    """Read the endpoints of a template that is in memory.

    Args:
        document: The template.
        stack: What its stack is called.
        account: The account to read it for.
        region: The Region to read it for.
        images: Build contexts of images, by tag.
        is_whole: Whether it holds all that there will be; else components may come later, and none is missed.

    Raises:
        AssemblyError: It defines no endpoint that can be served: every problem, a line each.
    """
    problems = Problems()
    assets = Assets(images={} if images is None else images)
    source = Source(stack=stack, names=frozenset({stack}), file=Path(stack), document=document, assets=assets)
    reading = _Reading([source], {}, problems, account=account, region=region, default_region=region, is_whole=is_whole)
    endpoints = reading.endpoints()
    if problems:
        raise AssemblyError(problems)
    return Assembly(endpoints=endpoints, notices=tuple(dict.fromkeys(reading.notices)))


def _selected(sources: Sequence[Source], stack: str | None, path: Path, problems: Problems) -> list[Source]:
    if stack is None or problems:
        return list(sources)
    found = [one for one in sources if stack in one.names]
    if not found:
        there = ", ".join(one.stack for one in sources) or "no stack"
        problems.add(str(path), f"there is no stack {stack!r}; it holds {there}")
    return found


class _Reading:
    """One reading of several templates, which may name each other's resources."""

    def __init__(
        self,
        sources: Iterable[Source],
        parameters: Mapping[str, str],
        problems: Problems,
        *,
        account: str | None,
        region: str | None,
        default_region: str,
        is_whole: bool = True,
    ) -> None:
        self.problems = problems
        self.is_whole = is_whole
        self.notices: list[Notice] = []
        self.templates = [
            Template(
                source,
                parameters=parameters,
                account=account or source.account or DEFAULT_ACCOUNT,
                region=region or source.region or default_region,
                problems=problems,
                imports=self._import,
            )
            for source in sources
        ]
        known = {name for one in self.templates for name in one.parameters}
        for name in parameters:
            if name not in known:
                there = ", ".join(sorted(known)) or "none"
                problems.add("", f"there is no parameter {name!r}; the template has {there}")
        self._exports: dict[str, tuple[Template, Any]] = {}
        self._exports = self._exported()
        self._models = self._by_name(_MODEL)
        self._configs = self._by_name(_CONFIG)
        self._read_models: dict[tuple[Path, str], ModelDefinition] = {}

    def endpoints(self) -> tuple[EndpointDefinition, ...]:
        """Read every endpoint, and what is in the templates besides."""
        places = [(one, logical_id) for one in self.templates for logical_id in one.of_type(_ENDPOINT)]
        names = {name: place for place in places for name in [place[0].name(place[1])] if isinstance(name, str)}
        for name in names:
            same = [f"{one.source.stack}.{logical_id}" for one, logical_id in places if one.name(logical_id) == name]
            if len(same) > 1:
                way_out = "give each its own, or read one stack"
                self.problems.add("", f"the endpoints {' and '.join(same)} have one name, {name!r}; {way_out}")
        components = self._components(names)
        found = [self._endpoint(template, logical_id, components) for template, logical_id in places]
        if self.problems:
            self._answer_everything()
        self._tell_of_the_rest()
        return tuple(one for one in found if one is not None)

    def nothing_served(self) -> str:
        """Return why there is nothing to serve."""
        if self.notices:
            return "holds no endpoint that can be served here: " + "; ".join(map(str, self.notices))
        types = sorted({kind for template in self.templates for _, kind in template.types() if kind})
        shown = ", ".join(types[:12]) + (f" and {len(types) - 12} more types" if len(types) > 12 else "")
        return f"holds no AWS::SageMaker::Endpoint; it holds {shown or 'no resources'}"

    def _endpoint(
        self, template: Template, logical_id: str, components: Mapping[str, Sequence[tuple[Fields, str]]]
    ) -> EndpointDefinition | None:
        fields = Fields(template, logical_id)
        name = self._name(fields, "EndpointName")
        config = fields.required_text("EndpointConfigName")
        if config is None:
            return None
        config_name = name_in(config)
        place = self._find(self._configs, template, config_name)
        if place is None:
            there = ", ".join(self._configs) or "none"
            fields.wrong("EndpointConfigName", f"is {config_name!r}, which is not in the template; it has {there}")
            return None
        variants = read_variants(*place, self._model, self.notices.append)
        if variants is None:
            return None
        found = read_components(components.get(name, ()), variants, self._model, self.notices.append)
        for variant in variants:
            if self.is_whole and variant.model is None and not any(one.variant_name == variant.name for one in found):
                why = f"variant {variant.name!r} has no model, and no component of the template is on it"
                self.notices.append(notice(template, logical_id, "ProductionVariants", why))
        return EndpointDefinition(
            logical_id=logical_id,
            stack=template.source.stack,
            account=template.account,
            region=template.region,
            name=name,
            config_name=config_name,
            variants=variants,
            components=found,
        )

    def _components(self, endpoints: Mapping[str, Place]) -> dict[str, list[tuple[Fields, str]]]:
        """Return every component's properties and name, by the endpoint's name."""
        found: dict[str, list[tuple[Fields, str]]] = {}
        seen: set[str] = set()
        for template in self.templates:
            for logical_id in template.of_type(_COMPONENT):
                fields = Fields(template, logical_id)
                name = self._name(fields, "InferenceComponentName")
                endpoint = fields.required_text("EndpointName")
                if name and name in seen:
                    fields.wrong("InferenceComponentName", f"is {name!r}, which another component has")
                seen.add(name)
                if endpoint is None:
                    continue
                if name_in(endpoint) not in endpoints:
                    there = ", ".join(endpoints) or "none"
                    fields.wrong(
                        "EndpointName", f"is {name_in(endpoint)!r}, which is not in the template; it has {there}"
                    )
                found.setdefault(name_in(endpoint), []).append((fields, name))
        return found

    def _name(self, fields: Fields, name: str) -> str:
        """Return the name of a resource; empty where a problem says that there is none."""
        found = fields.template.name(fields.logical_id)
        if isinstance(found, str):
            if not is_name(found):
                fields.wrong(name, f"is {found!r}; {NAME_RULE}")
            return found
        if not found.is_reported:
            fields.wrong(name, f"cannot be answered here: {found.why}")
        return ""

    def _model(self, fields: Fields, name: str) -> ModelDefinition | None:
        named = fields.required_text(name)
        if named is None:
            return None
        place = self._find(self._models, fields.template, name_in(named))
        if place is None:
            there = ", ".join(self._models) or "none"
            fields.wrong(name, f"is {name_in(named)!r}, which is not in the template; it has {there}")
            return None
        template, logical_id = place
        key = (template.source.file, logical_id)
        if key not in self._read_models:
            self._read_models[key] = read_model(template, logical_id, self.notices.append)
        return self._read_models[key]

    def _find(self, index: Mapping[str, Sequence[Place]], template: Template, name: str) -> Place | None:
        """Return a resource by its name: that of the same template, else that of another stack."""
        places = index.get(name, ())
        return next((one for one in places if one[0] is template), places[0] if places else None)

    def _by_name(self, kind: str) -> dict[str, list[Place]]:
        """Return the resources of a type by their names; what is wrong with one is said where it is used."""
        found: dict[str, list[Place]] = {}
        for template in self.templates:
            quiet = template.quiet(Problems())
            for logical_id in quiet.of_type(kind):
                name = quiet.name(logical_id)
                if isinstance(name, str):
                    found.setdefault(name, []).append((template, logical_id))
        return found

    def _import(self, export: str) -> Any:
        """Return what another stack of the assembly exports by a name; None where none does."""
        if export not in self._exports:
            return None
        template, value = self._exports[export]
        return template.resolve(value, f"{template.source.file.name}: Outputs")

    def _exported(self) -> dict[str, tuple[Template, Any]]:
        found: dict[str, tuple[Template, Any]] = {}
        for template in self.templates:
            quiet = template.quiet(Problems())
            for name, value in template.exports():
                export = quiet.resolve(name, "Outputs")
                if isinstance(export, str):
                    found[export] = (template, value)
        return found

    def _answer_everything(self) -> None:
        """Find what is wrong behind a problem too: a resource that is not found is not read either."""
        for template in self.templates:
            for kind in (_MODEL, _CONFIG, _ENDPOINT, _COMPONENT):
                for logical_id in template.of_type(kind):
                    template.resolve(template.properties(logical_id), template.where(logical_id))

    def _tell_of_the_rest(self) -> None:
        for template in self.templates:
            transform = template.source.document.get("Transform")
            if transform is not None:
                self.notices.append(notice(template, "Transform", str(transform)[:80], "transforms are not run here"))
            for logical_id, kind in template.types():
                if kind == "AWS::CloudFormation::Stack":
                    self.notices.append(notice(template, logical_id, kind, "nested stacks are not read here"))
                elif logical_id.startswith("Fn::ForEach"):
                    self.notices.append(notice(template, logical_id, "Fn::ForEach", "loops are not run here"))
