"""One deployment as a stack: composition only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from aws_cdk import Annotations, CfnOutput, Environment, Stack, Tags
from constructs import Construct

from stacks.adapter_index import AdapterIndex
from stacks.components import AdapterComponent, BaseComponent
from stacks.endpoint_resource import EndpointResource
from stacks.execution_role import ExecutionRole
from stacks.images import Images
from stacks.model_resource import ModelResource
from stacks.registry import Registry
from warmstack.outputs import COMPONENT_PREFIX, DIALECT, ENDPOINT_NAME, SESSION_SECONDS, component_value
from warmstack.plan import Plan


class EndpointStack(Stack):
    """Role, models, endpoint, components, adapters, scaling and outputs of one plan.

    Creation: role, models, endpoint configuration, endpoint, base components, adapters. Deletion is the reverse:
    every step refers to the one before, or depends on it where SageMaker gives no reference.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        plan: Plan,
        contexts: Mapping[str, Path] = MappingProxyType({}),
        **kwargs: Any,
    ) -> None:
        """Define the stack.

        Args:
            scope: the app.
            construct_id: the stack's id.
            plan: the plan.
            contexts: the folders of the build contexts, by the name of the image in the plan.
            kwargs: for ``Stack``.
        """
        env = Environment(account=plan.account, region=plan.region) if plan.region else None
        super().__init__(scope, construct_id, env=env, stack_name=plan.stack_name, **kwargs)
        self.plan = plan
        registry = Registry(self, "Registry", plan=plan)
        images = Images(self, "Images", plan=plan, registry=registry, contexts=contexts)
        self.role = ExecutionRole(self, "ExecutionRole", plan=plan, images=images)
        models = {
            served.component: ModelResource(
                self._scope("Models"),
                served.component or "Variant",
                served=served,
                images=images,
                role_arn=self.role.arn,
                network_isolation=plan.endpoint.network_isolation,
            )
            for served in plan.models
        }
        self.endpoint = EndpointResource(self, "Endpoint", plan=plan, model=models.get(None), role_arn=self.role.arn)
        self.components: dict[str, BaseComponent] = {}
        for served in plan.models:
            if served.component is not None:
                self._component(served.component, models[served.component])
        self._outputs()
        for key, value in plan.tags.items():
            Tags.of(self).add(key, value)
        for one in plan.findings:
            if one.severity == "warning" and one.acknowledged is None:
                Annotations.of(self).add_warning_v2(
                    f"warmstack:{one.check}",
                    f"{one.check}: {one.message} (accept it in the spec: acknowledge: {{{one.check}: reason}})",
                )

    def _scope(self, name: str) -> Construct:
        found = self.node.try_find_child(name)
        return found if isinstance(found, Construct) else Construct(self, name)

    def _component(self, name: str, model: ModelResource) -> None:
        served = next(one for one in self.plan.models if one.component == name)
        base = BaseComponent(
            self._scope("Components"),
            name,
            served=served,
            endpoint=self.endpoint,
            plan=self.plan.endpoint,
            model=model,
        )
        self.components[name] = base
        adapters = Construct(base, "Adapters")
        for adapter in served.adapters:
            AdapterComponent(adapters, adapter.name, adapter=adapter, base=base, endpoint=self.endpoint, role=self.role)
        AdapterIndex(base, "AdapterIndex", served=served, endpoint=self.plan.endpoint)

    def _outputs(self) -> None:
        CfnOutput(self, ENDPOINT_NAME, value=self.endpoint.name, description="The endpoint's name")
        servers = sorted({one.server for one in self.plan.models})
        CfnOutput(self, DIALECT, value=",".join(servers), description="The server's request forms")
        seconds = str(self.plan.endpoint.session_ttl_seconds or 0)
        CfnOutput(self, SESSION_SECONDS, value=seconds, description="A session's life in seconds; 0: no sessions")
        for name, base in self.components.items():
            CfnOutput(
                self._scope(COMPONENT_PREFIX),
                name,
                value=component_value(base.served),
                description="An inference component, as JSON",
            )
