"""What each package names as public is what it has."""

from __future__ import annotations

import importlib
import types

import pytest

PACKAGES = (
    "warmstack.adapters",
    "warmstack.assembly",
    "warmstack.catalog",
    "warmstack.client",
    "warmstack.local.engines",
    "warmstack.local.simulated",
    "warmstack.operate",
    "warmstack.payload",
    "warmstack.plan",
    "warmstack.prompts",
    "warmstack.render",
    "warmstack.routing",
    "warmstack.spec",
    "warmstack.workload",
)


@pytest.mark.parametrize("name", PACKAGES)
def test_all_is_the_public_names(name: str) -> None:
    module = importlib.import_module(name)
    public = {
        key
        for key, value in vars(module).items()
        if not key.startswith("_") and not isinstance(value, types.ModuleType) and key != "annotations"
    }
    assert set(module.__all__) == public
    assert list(module.__all__) == sorted(
        module.__all__, key=lambda one: (not one.isupper(), not one[0].isupper(), one)
    )


@pytest.mark.parametrize("name", PACKAGES)
def test_public_names_are_documented(name: str) -> None:
    module = importlib.import_module(name)
    for key in module.__all__:
        value = getattr(module, key)
        if isinstance(value, type | types.FunctionType):
            assert value.__doc__, f"{name}.{key}"


def test_importing_warmstack_is_light() -> None:
    """`import warmstack` names the version and loads nothing else of the package."""
    import subprocess
    import sys

    code = "import sys, warmstack; print([m for m in sys.modules if m.startswith('warmstack.')], warmstack.__version__)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.startswith("[] 0.")
