"""What every test shares: the repository's place, golden files, and a quiet CDK."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Before the first import of aws_cdk: its own validation takes seconds for each synthesis.
os.environ.setdefault("CDK_VALIDATION", "false")
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")

# Whether an example takes 200 ms says how busy the machine is, and nothing about the code.
settings.register_profile("warmstack", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("warmstack")

ROOT = Path(__file__).parents[1]

# The CDK CLI hands the app the context of cdk.json this way, and asks for path metadata; both change templates.
_CONTEXT = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
os.environ["CDK_CONTEXT_JSON"] = json.dumps(_CONTEXT | {"aws:cdk:enable-path-metadata": True})


def pytest_addoption(parser: pytest.Parser) -> None:
    """`pytest --update-goldens` writes the expected files anew; read the diff before committing it."""
    parser.addoption("--update-goldens", action="store_true", help="write golden files instead of comparing")


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def engine_python() -> Path:
    """The Python of the environment that `make test-engine` installs: vLLM for the CPU, LMCache, SGLang's parser."""
    python = ROOT / ".venv-engine" / "bin" / "python"
    assert python.exists(), "there is no engine environment; run `make test-engine`"
    return python


@pytest.fixture(scope="session")
def tiny_model(engine_python: Path) -> Path:
    """The folder of a small random model that vLLM serves on a CPU."""
    # Here, and not above: tests that need no engine need none of its packages.
    from warmstack.local import engines

    return engines.tiny_model(engines.EngineEnvironment(folder=engine_python.parents[1])).folder


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare a text with a golden file, byte for byte."""

    def compare(path: Path, text: str) -> None:
        if request.config.getoption("--update-goldens"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path} is missing; run pytest --update-goldens"
        assert text == path.read_text(encoding="utf-8"), f"{path.name} differs; see pytest --update-goldens"

    return compare
