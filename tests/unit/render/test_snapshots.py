"""Without the engines' packages: what is rendered is in the snapshots of their flags and keys."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.engine.commands import LMI_OWN
from tests.engine.plans import served_models
from warmstack.catalog import load_catalog
from warmstack.plan import ServedModel

KEYS: dict[str, str] = json.loads(
    (Path(__file__).parents[2] / "data" / "lmcache_keys_0.5.6.json").read_text(encoding="utf-8")
)["keys"]
SERVED = served_models()
KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "str": (str,),
    "dict": (dict,),
    "list[int]": (tuple,),
    "list[float]": (tuple,),
}


@pytest.mark.parametrize("served", SERVED.values(), ids=SERVED)
def test_every_setting_is_a_flag_with_a_value_that_it_takes(served: ServedModel) -> None:
    table = load_catalog().flags[served.server]
    for name, value in served.engine_settings.items():
        assert name not in table.removed, name
        if served.server == "lmi" and name in LMI_OWN:
            continue
        assert name in table.flags, name
        flag = table.flags[name]
        if flag.choices:
            assert str(value) in flag.choices, name
        if flag.kind == "bool":
            assert isinstance(value, bool), name


@pytest.mark.parametrize("served", [one for one in SERVED.values() if one.carried.lmcache], ids=str)
def test_every_key_of_lmcache_is_known_and_of_its_kind(served: ServedModel) -> None:
    for key, value in served.carried.lmcache.items():
        kind = re.sub(r"^Optional\[(.*)\]$", r"\1", KEYS[key])
        assert isinstance(value, KINDS[kind]), key
        assert isinstance(value, bool) is (kind == "bool"), key


def test_lmcache_and_its_connector_come_together() -> None:
    for served in SERVED.values():
        if served.server == "sglang":
            assert not served.carried.lmcache
            continue
        assert bool(served.carried.lmcache) == ("kv_transfer_config" in served.engine_settings)
        if served.carried.lmcache or "lmcache_auto_config" in served.engine_settings:
            assert served.environment["PYTHONHASHSEED"] == "0"


def test_paths_have_three_slashes_and_sizes_are_for_one_worker() -> None:
    for served in SERVED.values():
        settings = served.carried.lmcache
        if "local_disk" in settings:
            assert str(settings["local_disk"]).startswith("file:///")
        for tier in served.host.tiers:
            workers = served.memory.tensor_parallel_degree
            assert tier.bytes_per_worker * workers <= tier.bytes_per_instance
