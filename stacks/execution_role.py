"""The role that SageMaker assumes to start the models."""

from __future__ import annotations

from aws_cdk import Acknowledgment, Aws, Validations
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.images import Images
from warmstack.plan import Permission, Plan


class ExecutionRole(Construct):
    """One role with the plan's statements inline.

    Inline, because then the role is complete when it exists: a Model or an Endpoint that refers to it can neither
    start before its permissions nor outlive them.
    """

    def __init__(self, scope: Construct, construct_id: str, *, plan: Plan, images: Images) -> None:
        super().__init__(scope, construct_id)
        document = iam.PolicyDocument(statements=[_statement(one, images) for one in plan.permissions], minimize=False)
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal(
                "sagemaker.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            ),
            description=f"Starts the models of endpoint {plan.endpoint.name}",
            inline_policies={"StartModels": document},
        )
        self._acknowledge_wildcards(plan)

    @property
    def arn(self) -> str:
        """The role's ARN."""
        return self.role.role_arn

    @property
    def resource(self) -> iam.CfnRole:
        """The role's resource, to depend on."""
        role = self.role.node.default_child
        assert isinstance(role, iam.CfnRole)
        return role

    def _acknowledge_wildcards(self, plan: Plan) -> None:
        """Give cdk-nag the reason of each wildcard, by the one resource it stands for."""
        reasons: dict[str, list[str]] = {}
        for one in plan.permissions:
            for resource in one.resources:
                if "*" in resource:
                    reasons.setdefault(f"AwsSolutions-IAM5[Resource::{_as_reported(resource)}]", []).append(one.reason)
        for rule, given in reasons.items():
            # Several statements may need the same wildcard: each has its own reason.
            Validations.of(self.role).acknowledge(Acknowledgment(id=rule, reason="; ".join(given)))


def _statement(one: Permission, images: Images) -> iam.PolicyStatement:
    conditions = {
        operator: {key: list(values) for key, values in keys.items()} for operator, keys in one.condition.items()
    }
    return iam.PolicyStatement(
        sid=one.sid,
        actions=list(one.actions),
        # Sorted, so that the order of the components in the spec is not a change of the role.
        resources=[images.resolve(resource) for resource in sorted(one.resources)],
        conditions=conditions or None,
    )


def _as_reported(resource: str) -> str:
    """Return a resource as cdk-nag writes it: pseudo parameters as <AWS::Region>."""
    return resource.replace("${", "<").replace("}", ">")
