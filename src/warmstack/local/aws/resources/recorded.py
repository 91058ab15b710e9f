"""Resources that are recorded and described, and do nothing here.

What ``Ref`` and ``Fn::GetAtt`` answer, and which properties replace: the CloudFormation template reference (read
2026-11-30).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warmstack.assembly.identities import partition_of
from warmstack.local.aws.errors import ResourceError
from warmstack.local.aws.resources.handler import Existing, Made, Order

RECORDED = "recorded only: it does nothing in the local AWS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A handler of a type without behaviour.

    Args:
        replaces: The properties whose change makes another resource.
        name_property: The property that gives the name.
        ref: The id, of ``name``, ``arn`` parts, and properties by their names.
        given: What ``Fn::GetAtt`` answers, in the same form.
        note: What the events say.
        longest: How long a generated name can be.
    """

    replaces: frozenset[str] = frozenset()
    name_property: str | None = None
    ref: str = "{name}"
    given: Mapping[str, str] = field(default_factory=dict)
    note: str = RECORDED
    longest: int = 63

    @property
    def attributes(self) -> frozenset[str]:
        """What ``Fn::GetAtt`` can ask for."""
        return frozenset(self.given)

    async def create(self, order: Order) -> Made:
        """Record it.

        Raises:
            ResourceError: There is one with that name or id, of this stack, of another one, or left behind by one.
        """
        partition, _ = partition_of(order.region)
        name = order.name(self.name_property or "", longest=self.longest)
        values = {key: one for key, one in order.properties.items() if isinstance(one, str | int | float)}
        values |= {"name": name, "partition": partition, "region": order.region, "account": order.around.account}
        made = Made(
            physical_id=self.ref.format(**values),
            attributes={key: one.format(**values) for key, one in self.given.items()},
            note=self.note,
        )
        if (key := _key(order, made.physical_id)) in order.around.recorded:
            # CloudFormation's own words.
            raise ResourceError(f"Resource of type '{order.kind}' with identifier '{made.physical_id}' already exists.")
        order.around.recorded.add(key)
        return made

    async def update(self, order: Order, before: Existing) -> Made:  # noqa: ARG002  (the form of every handler)
        """Record what it is now."""
        return Made(physical_id=before.physical_id, attributes=before.attributes, note=self.note)

    async def delete(self, order: Order, existing: Existing) -> None:
        """Forget it: its name is free again."""
        order.around.recorded.discard(_key(order, existing.physical_id))


def _key(order: Order, physical_id: str) -> tuple[str, str, str]:
    return order.kind, order.region, physical_id


CUSTOM_RESOURCE = Recorded(
    replaces=frozenset({"ServiceToken"}),
    note=(
        "recorded only: functions do not run in the local AWS, so nothing was built or changed by this custom resource"
    ),
)
"""Of ``AWS::CloudFormation::CustomResource`` and ``Custom::…``: their attributes come from a function."""

TYPES: Mapping[str, Recorded] = {
    "AWS::ApplicationAutoScaling::ScalableTarget": Recorded(
        replaces=frozenset({"ResourceId", "ScalableDimension", "ServiceNamespace"}),
        ref="{ResourceId}|{ScalableDimension}|{ServiceNamespace}",
        given={"Id": "{ResourceId}|{ScalableDimension}|{ServiceNamespace}"},
        note="recorded only: nothing scales in the local AWS",
    ),
    "AWS::ApplicationAutoScaling::ScalingPolicy": Recorded(
        replaces=frozenset({"PolicyName", "ResourceId", "ScalableDimension", "ScalingTargetId", "ServiceNamespace"}),
        ref="arn:{partition}:autoscaling:{region}:{account}:scalingPolicy:{name}:policyName/{PolicyName}",
        given={"Arn": "arn:{partition}:autoscaling:{region}:{account}:scalingPolicy:{name}:policyName/{PolicyName}"},
        note="recorded only: nothing scales in the local AWS",
    ),
    "AWS::CDK::Metadata": Recorded(note="recorded only"),
    "AWS::CloudWatch::Alarm": Recorded(
        replaces=frozenset({"AlarmName"}),
        name_property="AlarmName",
        given={"Arn": "arn:{partition}:cloudwatch:{region}:{account}:alarm:{name}"},
        note="recorded only: there are no metrics in the local AWS, so it never sounds",
        longest=255,
    ),
    "AWS::CloudWatch::Dashboard": Recorded(replaces=frozenset({"DashboardName"}), name_property="DashboardName"),
    "AWS::CodeBuild::Project": Recorded(
        replaces=frozenset({"Name"}),
        name_property="Name",
        given={"Arn": "arn:{partition}:codebuild:{region}:{account}:project/{name}"},
        note="recorded only: no build runs in the local AWS, and local copies do not start from the image",
        longest=150,
    ),
    "AWS::KMS::Alias": Recorded(replaces=frozenset({"AliasName"}), name_property="AliasName", longest=256),
    "AWS::KMS::Key": Recorded(
        given={"Arn": "arn:{partition}:kms:{region}:{account}:key/{name}", "KeyId": "{name}"},
        note="recorded only: nothing is encrypted in the local AWS",
    ),
    "AWS::Lambda::Function": Recorded(
        replaces=frozenset({"FunctionName", "PackageType", "TenancyConfig"}),
        name_property="FunctionName",
        given={"Arn": "arn:{partition}:lambda:{region}:{account}:function:{name}"},
        note="recorded only: functions do not run in the local AWS",
        longest=64,
    ),
    "AWS::Logs::LogGroup": Recorded(
        replaces=frozenset({"LogGroupName"}),
        name_property="LogGroupName",
        given={
            "Arn": "arn:{partition}:logs:{region}:{account}:log-group:{name}:*",
            "LogGroupArn": "arn:{partition}:logs:{region}:{account}:log-group:{name}",
        },
        note="recorded only: logs of local copies are files",
        longest=512,
    ),
    "AWS::S3::BucketPolicy": Recorded(
        replaces=frozenset({"Bucket"}),
        ref="{Bucket}",
        note="recorded only: the local AWS checks no permissions",
    ),
}
