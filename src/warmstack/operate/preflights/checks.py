"""What `warmstack preflight` looks at."""

from __future__ import annotations

from typing import Final

from warmstack.operate.results import Check

IDENTITY: Final = Check(
    id="identity",
    reason="a deploy goes to the account and Region of its credentials; a target that is another one stops it",
    fix="choose the credentials of the target with --profile, or correct target in the spec",
)
QUOTA: Final = Check(
    id="quota",
    reason="an endpoint above a quota fails after the stack has begun, and an update takes more than the steady state",
    fix="ask for more in Service Quotas",
)
IMAGE: Final = Check(
    id="image",
    reason="an image that is not there, or in another Region, fails when the first instance has been started",
    fix="correct engine.version or image.base, or push the image",
)
BUCKET: Final = Check(
    id="bucket",
    reason="SageMaker reads models from buckets of its own Region only",
    fix="copy the files into a bucket of the target's Region",
)
WEIGHTS: Final = Check(
    id="weights",
    reason="what is missing beside the weights shows when a copy starts, minutes after the deploy has begun",
    fix="upload the model's whole folder (aws s3 sync)",
)
SHARDS: Final = Check(
    id="weights-shards",
    reason="a weights file that is missing ends the engine's start",
    fix="upload the missing files (aws s3 sync)",
)
SIZE: Final = Check(
    id="weights-size",
    reason="memory, time-outs and tiers of the plan follow from the weights' size",
    fix="look whether the prefix holds the model of the spec, in its stored type",
)
PROPERTIES: Final = Check(
    id="serving-properties",
    reason="a serving.properties beside the weights wins over the Model's environment, without a word",
    fix="delete it from the prefix, or render it with warmstack render --serving-properties",
)
DRAFT: Final = Check(
    id="draft",
    reason="speculative decoding loads its draft from a folder inside the weights' prefix",
    fix="upload the draft's folder, or correct engine.speculative.draft",
)
HUB: Final = Check(
    id="hub",
    reason="weights of the hub are downloaded by each copy when it starts, and this command never asks the hub",
    fix="put the weights into S3",
)
ADAPTER: Final = Check(
    id="adapter",
    reason="an adapter that cannot be loaded fails its component, or answers as the base does",
    fix="check the folder and pack it again: warmstack adapter check, warmstack adapter pack",
)
SECRET: Final = Check(
    id="secret",
    reason="a container that cannot read its hub token fails at its start",
    fix="create the secret in the target's account and Region, and name its whole ARN",
)

PREFLIGHT_CHECKS: Final = (
    IDENTITY,
    QUOTA,
    IMAGE,
    BUCKET,
    WEIGHTS,
    SHARDS,
    SIZE,
    PROPERTIES,
    DRAFT,
    HUB,
    ADAPTER,
    SECRET,
)
