"""The operations that make, change and remove what SageMaker hosts. Members: botocore 1.44.8, sagemaker.

What a caller gets wrong is told as SageMaker tells it where that was seen, else in our own words.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from warmstack.assembly import Assembly, EndpointDefinition
from warmstack.assembly.identities import name_in
from warmstack.local.hosting.changes import Changes
from warmstack.local.hosting.records import Members, Records, refused, required_text
from warmstack.local.hosting.retained import retained, with_retained
from warmstack.local.platform.endpoints import Component, Endpoint
from warmstack.local.platform.platform import Platform

Operation = Callable[[Members], Awaitable[Mapping[str, Any]]]
_BUSY = ("Creating", "Updating", "Deleting")


class Hosting:
    """Models, configurations, endpoints and components that come and go.

    Args:
        platform: What runs.
        records: What was created.
        told: Is told of each definition that is about to run: what of it is otherwise here than on SageMaker.
    """

    def __init__(
        self, platform: Platform, records: Records, *, told: Callable[[Assembly], None] = lambda _: None
    ) -> None:
        self.records = records
        self._told = told
        self._platform = platform
        self._changes = Changes(platform=platform)
        self._components: dict[str, dict[str, Members]] = {}
        self.operations: Mapping[str, Operation] = {
            "CreateModel": self._create_model,
            "DescribeModel": self._describe_model,
            "DeleteModel": self._delete_model,
            "CreateEndpointConfig": self._create_config,
            "DeleteEndpointConfig": self._delete_config,
            "CreateEndpoint": self._create_endpoint,
            "UpdateEndpoint": self._update_endpoint,
            "DeleteEndpoint": self._delete_endpoint,
            "CreateInferenceComponent": self._create_component,
            "UpdateInferenceComponent": self._update_component,
            "DeleteInferenceComponent": self._delete_component,
            "AddTags": self._add_tags,
            "ListTags": self._list_tags,
            "DeleteTags": self._delete_tags,
        }

    def described_config(self, name: str) -> Members | None:
        """Return the members of DescribeEndpointConfig; None for one that was not created here."""
        if name not in self.records.configs:
            return None
        return {
            **{key: value for key, value in self.records.configs[name].items() if key != "Tags"},
            "EndpointConfigArn": self.records.arn("endpoint-config", name),
            "CreationTime": self.records.created_at["config", name],
        }

    async def _create_model(self, members: Members) -> Members:
        name = required_text(members, "ModelName")
        if name in self.records.models:
            raise refused(f'Cannot create already existing model "{self.records.arn("model", name)}".')
        self._note("model", name, members)
        self.records.models[name] = dict(members)
        return {"ModelArn": self.records.arn("model", name)}

    async def _describe_model(self, members: Members) -> Members:
        name = self._known("model", self.records.models, required_text(members, "ModelName"))
        return {
            **{key: value for key, value in self.records.models[name].items() if key != "Tags"},
            "ModelArn": self.records.arn("model", name),
            "CreationTime": self.records.created_at["model", name],
        }

    async def _delete_model(self, members: Members) -> Members:
        del self.records.models[self._known("model", self.records.models, required_text(members, "ModelName"))]
        return {}

    async def _create_config(self, members: Members) -> Members:
        name = required_text(members, "EndpointConfigName")
        if name in self.records.configs:
            arn = self.records.arn("endpoint-config", name)
            raise refused(f'Cannot create already existing endpoint configuration "{arn}".')
        variants = members.get("ProductionVariants")
        for variant in variants if isinstance(variants, list) else []:
            model = variant.get("ModelName") if isinstance(variant, dict) else None
            if model is not None:
                self._known("model", self.records.models, name_in(model))
        self._note("config", name, members)
        self.records.configs[name] = dict(members)
        return {"EndpointConfigArn": self.records.arn("endpoint-config", name)}

    async def _delete_config(self, members: Members) -> Members:
        name = required_text(members, "EndpointConfigName")
        del self.records.configs[self._known("endpoint configuration", self.records.configs, name)]
        return {}

    async def _create_endpoint(self, members: Members) -> Members:
        name = required_text(members, "EndpointName")
        if name in self._platform.endpoints:
            raise refused(f'Cannot create already existing endpoint "{self.records.arn("endpoint", name)}".')
        self._components[name] = {}
        definition = self._defined(name, required_text(members, "EndpointConfigName"))
        # From here on nothing is refused: what is refused must leave nothing that runs.
        self._tag("endpoint", name, members)
        self._changes.create(definition)
        return {"EndpointArn": self.records.arn("endpoint", name)}

    async def _update_endpoint(self, members: Members) -> Members:
        endpoint = self._settled(required_text(members, "EndpointName"))
        config = required_text(members, "EndpointConfigName")
        self._refuse_to_strand(endpoint, config)
        definition = self._defined(endpoint.name, config)
        self._changes.update(endpoint, with_retained(definition, endpoint, retained(members)))
        return {"EndpointArn": self.records.arn("endpoint", endpoint.name)}

    async def _delete_endpoint(self, members: Members) -> Members:
        endpoint = self._endpoint(required_text(members, "EndpointName"))
        if endpoint.progress.status in ("Creating", "Updating", "Deleting"):
            raise refused(f"Cannot delete endpoint {endpoint.name} while status is {endpoint.progress.status}")
        if endpoint.components:
            there = ", ".join(endpoint.components)
            raise refused(f"Cannot delete endpoint {endpoint.name}: it has the inference components {there}")
        self._changes.delete(endpoint)
        return {}

    async def _create_component(self, members: Members) -> Members:
        name = required_text(members, "InferenceComponentName")
        if any(name in one.components for one in self._platform.endpoints.values()):
            arn = self.records.arn("inference-component", name)
            raise refused(f'Cannot create already existing inference component "{arn}".')
        endpoint = self._settled(name_in(required_text(members, "EndpointName")))
        definition = self._defined_component(endpoint, name, members)
        base = endpoint.components.get(definition.base or "")
        if base is not None and base.progress.status != "InService":
            raise refused(f"Inference component {base.name} is not in service; its adapters need it")
        self._tag("inference-component", name, members)
        self._components.setdefault(endpoint.name, {})[name] = dict(members)
        self._changes.create_component(endpoint, definition)
        return {"InferenceComponentArn": self.records.arn("inference-component", name)}

    async def _update_component(self, members: Members) -> Members:
        endpoint, component = self._component(required_text(members, "InferenceComponentName"))
        if component.progress.status in _BUSY:
            raise refused(f"Cannot update inference component {component.name} while it is {component.progress.status}")
        there = self._components.setdefault(endpoint.name, {})
        wanted = {
            **there.get(component.name, {}),
            **_live_count(component),
            **{key: value for key, value in members.items() if key != "DeploymentConfig"},
        }
        definition = self._defined_component(endpoint, component.name, wanted)
        # What is refused or does not start is forgotten: the next change begins with what runs.
        self._changes.update_component(endpoint, definition, partial(there.__setitem__, component.name, wanted))
        return {"InferenceComponentArn": self.records.arn("inference-component", component.name)}

    async def _delete_component(self, members: Members) -> Members:
        endpoint, component = self._component(required_text(members, "InferenceComponentName"))
        if component.progress.status == "Deleting":
            raise refused(f"Cannot delete inference component {component.name} while it is Deleting")
        adapters = ", ".join(one.name for one in endpoint.adapters_of(component.name))
        if adapters:
            raise refused(f"Cannot delete inference component {component.name}: {adapters} are adapters of it")
        there = self._components.get(endpoint.name, {})

        def forget() -> None:
            there.pop(component.name, None)

        self._changes.delete_component(endpoint, component, forget)
        return {}

    async def _add_tags(self, members: Members) -> Members:
        there = self.records.tags.setdefault(required_text(members, "ResourceArn"), {})
        there |= _tags(members)
        return {"Tags": [{"Key": key, "Value": value} for key, value in there.items()]}

    async def _delete_tags(self, members: Members) -> Members:
        there = self.records.tags.get(required_text(members, "ResourceArn"), {})
        keys = members.get("TagKeys")
        for key in keys if isinstance(keys, list) else []:
            there.pop(str(key), None)
        return {}

    async def _list_tags(self, members: Members) -> Members:
        there = self.records.tags.get(required_text(members, "ResourceArn"), {})
        return {"Tags": [{"Key": key, "Value": value} for key, value in there.items()]}

    def _defined(self, name: str, config: str) -> EndpointDefinition:
        assembly = self.records.read(name, name_in(config), self._components.get(name, {}))
        self._told(assembly)
        return assembly.endpoints[0]

    def _refuse_to_strand(self, endpoint: Endpoint, config: str) -> None:
        """Refuse a configuration without the hosts of components. What SageMaker does with one is not documented."""
        variants = self.records.read(endpoint.name, name_in(config), {}).endpoints[0].variants
        hosts = {one.name for one in variants if one.model is None}
        lost = {
            one.name: one.definition.variant_name
            for one in endpoint.components.values()
            if endpoint.components[one.hosts].definition.variant_name not in hosts
        }
        if lost:
            there = ", ".join(sorted(set(lost.values())))
            raise refused(
                f"Cannot update endpoint {endpoint.name} to endpoint configuration {name_in(config)}: the inference "
                f"components {', '.join(lost)} are on variant {there}, which hosts no components there; delete them "
                "first, or keep the variant's name and give it no model"
            )

    def _defined_component(self, endpoint: Endpoint, name: str, members: Members) -> Any:
        others = {key: one for key, one in self._components.get(endpoint.name, {}).items() if key != name}
        assembly = self.records.read(endpoint.name, endpoint.definition.config_name, others | {name: members})
        self._told(assembly)
        return next(one for one in assembly.endpoints[0].components if one.name == name)

    def _endpoint(self, name: str) -> Endpoint:
        found = self._platform.endpoints.get(name)
        if found is None:
            raise refused(f'Could not find endpoint "{self.records.arn("endpoint", name)}".')
        return found

    def _settled(self, name: str) -> Endpoint:
        found = self._endpoint(name)
        if found.progress.status != "InService":
            raise refused(f"Cannot update endpoint {name} while it is in the status {found.progress.status}")
        return found

    def _component(self, name: str) -> tuple[Endpoint, Component]:
        for endpoint in self._platform.endpoints.values():
            if name in endpoint.components:
                return endpoint, endpoint.components[name]
        raise refused(f'Could not find inference component "{self.records.arn("inference-component", name)}".')

    def _known(self, what: str, there: Mapping[str, Members], name: str) -> str:
        found = name_in(name)
        if found not in there:
            kind = "model" if what == "model" else "endpoint-config"
            raise refused(f'Could not find {what} "{self.records.arn(kind, found)}".')
        return found

    def _note(self, kind: str, name: str, members: Members) -> None:
        self.records.created_at[kind, name] = self._platform.clock()
        self._tag("model" if kind == "model" else "endpoint-config", name, members)

    def _tag(self, kind: str, name: str, members: Members) -> None:
        self.records.tags[self.records.arn(kind, name)] = _tags(members)


def _live_count(component: Component) -> dict[str, Any]:
    """Return the copies that an update keeps where it names none; of one that has never served, there are none."""
    if component.definition.base is not None or component.progress.status != "InService":
        return {}
    return {"RuntimeConfig": {"CopyCount": component.desired_copies}}


def _tags(members: Members) -> dict[str, str]:
    tags = members.get("Tags")
    return {str(one["Key"]): str(one["Value"]) for one in tags} if isinstance(tags, list) else {}
