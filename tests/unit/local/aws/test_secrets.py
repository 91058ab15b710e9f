"""Hidden values are in nothing that is shown."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.local.aws.running import Running
from tests.unit.local.aws.templates import text
from warmstack.local.aws.stacks.secrets import masked

SECRETS = {"hunter2", "hunter2secret", "1"}


def test_a_reason_has_no_hidden_value(aws: Running) -> None:
    buckets = {
        one: {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": {"Ref": "Name"}}} for one in ("One", "Two")
    }
    buckets["Two"]["DependsOn"] = "One"
    aws.create(
        text(buckets, Parameters={"Name": {"Type": "String", "NoEcho": True}}),
        Parameters=[{"ParameterKey": "Name", "ParameterValue": "hunter2secret"}],
    )
    assert aws.reasons()["Two CREATE_FAILED"] == "**** already exists"
    assert not [one for one in aws.reports if "hunter2secret" in one]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("hunter2", "****"),
        ("token=hunter2secret;", "token=****;"),
        (
            {"Count": "1", "Of": ["hunter2", 1, "ml.g5.12xlarge"]},
            {"Count": "****", "Of": ["****", 1, "ml.g5.12xlarge"]},
        ),
    ],
)
def test_a_part_of_a_text_is_hidden_unless_it_is_everywhere(value: Any, shown: Any) -> None:
    assert masked(value, SECRETS) == shown
