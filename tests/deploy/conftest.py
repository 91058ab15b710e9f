"""One local AWS, bootstrapped once, and emptied after each test but for what the CDK needs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.toolkit import REGION, Toolkit
from tests.ports import kept_port
from tests.unit.local.aws.running import running

BOOTSTRAP = "CDKToolkit"


@pytest.fixture(scope="session")
def bootstrapped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolkit]:
    with running() as aws:
        toolkit = Toolkit(aws=aws, folder=tmp_path_factory.mktemp("deploy"))
        outcome = toolkit.run("bootstrap", "aws://111122223333/us-west-2")
        assert outcome.status == 0, outcome.text
        assert aws.stack(BOOTSTRAP)["StackStatus"] == "CREATE_COMPLETE"
        yield toolkit


@pytest.fixture
def toolkit(bootstrapped: Toolkit) -> Iterator[Toolkit]:
    try:
        yield bootstrapped
    finally:
        bootstrapped.aws.empty(kept=BOOTSTRAP)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What a process of its own gets of this one's environment."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
    return kept | {"XDG_STATE_HOME": str(tmp_path / "state"), "TMPDIR": str(tmp_path), "AWS_REGION": REGION}


@pytest.fixture
def port() -> Iterator[int]:
    """A port that is free."""
    with kept_port() as number:
        yield number
