"""Hidden values are in nothing that is shown."""

from __future__ import annotations

from typing import Any

import pytest

from warmstack.local.aws.stacks.secrets import masked

SECRETS = {"hunter2", "hunter2secret", "1"}


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
