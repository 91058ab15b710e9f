"""What is refused, or told loudly, before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.local.definitions import component, endpoint, model, variant
from warmstack.assembly import Assembly
from warmstack.local.errors import LocalError
from warmstack.local.order import UpOrder
from warmstack.local.platform.start_plan import Room, plan_start
from warmstack.local.real.replacements import fatal_settings, is_fatal
from warmstack.local.sanity import check_start

ORDER = UpOrder(source=Path("cdk.out"))


def checked(assembly: Assembly, copies: int) -> None:
    check_start(ORDER, assembly, plan_start(assembly.endpoints, Room(copies=copies, instances=copies)))


def test_an_endpoint_without_any_copy_is_refused() -> None:
    assembly = Assembly(endpoints=tuple(endpoint(name) for name in ("one", "two", "three")), notices=())
    with pytest.raises(LocalError) as raised:
        checked(assembly, 2)
    assert str(raised.value) == (
        "cdk.out defines 3 endpoints, and 1 of them would have no copy: three. Name one stack with --stack (stack), "
        "start more with --copies, or take --engine simulated"
    )
    checked(assembly, 3)


def test_a_component_without_a_copy_is_a_reduction_and_one_that_asks_for_none_is_fine() -> None:
    checked(Assembly(endpoints=(endpoint(components=(component("a"), component("b"))),), notices=()), 1)
    checked(Assembly(endpoints=(endpoint(components=(component("a", copies=0),)),), notices=()), 1)


def test_settings_with_which_a_container_would_not_start_are_found() -> None:
    misspelt = model(environment={"SM_VLLM_MAX_MODEL_LENGHT": "4096", "SM_VLLM_MAX_NUM_SEQS": "8"})
    (told,) = fatal_settings(Assembly(endpoints=(endpoint(variants=(variant(model=misspelt),)),), notices=()))
    assert told.startswith("model: SM_VLLM_MAX_MODEL_LENGHT=4096: not used; vLLM does not know it, and the container")
    assert is_fatal(told)
    assert fatal_settings(Assembly(endpoints=(endpoint(),), notices=())) == ()
