"""One local AWS, bootstrapped once, and emptied after each test but for what the CDK needs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.deploy.toolkit import Toolkit
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
