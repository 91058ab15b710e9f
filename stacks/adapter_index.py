"""The list of a component's adapters, for clients."""

from __future__ import annotations

from constructs import Construct

from warmstack.outputs import adapter_lists, adapter_parameter_name
from warmstack.plan import EndpointPlan, ServedModel


class AdapterIndex(Construct):
    """SSM parameters with the adapters' names in the spec; the physical names follow from the rule."""

    def __init__(self, scope: Construct, construct_id: str, *, served: ServedModel, endpoint: EndpointPlan) -> None:
        super().__init__(scope, construct_id)
        # Late: most stacks have no adapters, and need not wait for the module to load.
        from aws_cdk import aws_ssm as ssm

        for part, names in enumerate(adapter_lists([one.name for one in served.adapters])):
            ssm.CfnParameter(
                self,
                f"Part{part}",
                type="StringList",
                name=adapter_parameter_name(endpoint.name, str(served.component), part),
                value=",".join(names),
                description=f"Adapters on component {served.component} of endpoint {endpoint.name}",
            )
