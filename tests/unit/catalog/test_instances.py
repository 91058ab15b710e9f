"""Instance types: what the table holds, in the right units, and what it does not know."""

from __future__ import annotations

import dataclasses

import pytest

from warmstack.catalog import InstanceType, load_catalog

GIB = 1024**3
INSTANCES = load_catalog().instances


def test_all_39_types_are_there_under_their_own_name() -> None:
    assert len(INSTANCES) == 39
    assert all(name == instance.name for name, instance in INSTANCES.items())


def test_p4de_in_full() -> None:
    p4de = INSTANCES["ml.p4de.24xlarge"]
    assert (p4de.gpu_count, p4de.gpu, p4de.vcpus, p4de.family) == (8, "A100-80", 96, "p4de")
    assert p4de.gpu_memory_bytes == 80 * GIB
    assert p4de.total_gpu_memory_bytes == 640 * GIB
    assert p4de.memory_bytes == 1152 * GIB
    # Vendors count NVMe in decimal: 8 x 1000 GB.
    assert p4de.nvme_bytes == 8_000 * 10**9
    assert p4de.bf16_tflops == 312
    assert p4de.hbm_bytes_per_second == 2039e9
    assert p4de.pcie_bytes_per_second == 32e9
    assert (p4de.usd_per_hour, p4de.price_as_of) == (31.5641, "2026")


@pytest.mark.parametrize(
    ("name", "gpu_memory_bytes"),
    [
        ("ml.g5.xlarge", 22_888 * 1024**2),
        ("ml.g6.xlarge", 22 * GIB),
        ("ml.g6e.xlarge", 46_068 * 1024**2),
        ("ml.g7e.2xlarge", 97_887 * 1024**2),
        ("ml.p4d.24xlarge", 40 * GIB),
        ("ml.p5.48xlarge", 80 * GIB),
        ("ml.p5en.48xlarge", 141 * GIB),
        ("ml.p6-b200.48xlarge", 179 * GIB),
        ("ml.p6-b300.48xlarge", 268 * GIB),
        ("ml.p6e-gb200.36xlarge", 185 * GIB),
    ],
)
def test_gpu_memory_is_what_the_system_lists_and_not_the_marketing_size(name: str, gpu_memory_bytes: int) -> None:
    assert INSTANCES[name].gpu_memory_bytes == gpu_memory_bytes
    assert INSTANCES[name].gpu_memory_basis


def test_what_no_source_states_is_none() -> None:
    gb200 = INSTANCES["ml.p6e-gb200.36xlarge"]
    assert (gb200.gpu_count, gb200.memory_bytes) == (4, 960 * GIB)
    for field in (
        "nvme_bytes",
        "vcpus",
        "bf16_tflops",
        "hbm_bytes_per_second",
        "pcie_bytes_per_second",
        "usd_per_hour",
        "price_as_of",
    ):
        assert getattr(gb200, field) is None, field
    assert INSTANCES["ml.p6-b300.48xlarge"].bf16_tflops is None


def test_a_price_is_never_without_its_basis_and_date() -> None:
    for instance in INSTANCES.values():
        assert instance.price_basis
        assert (instance.usd_per_hour is None) == (instance.price_as_of is None), instance.name


def test_a_derived_price_says_so() -> None:
    assert INSTANCES["ml.p5en.48xlarge"].price_basis.startswith("derived")
    assert INSTANCES["ml.p5.48xlarge"].price_basis.startswith("AWS Price List")
    assert INSTANCES["ml.p5e.48xlarge"].price_basis.startswith("unknown")


def test_the_table_cannot_be_changed() -> None:
    instance = INSTANCES["ml.g5.xlarge"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        instance.vcpus = 5  # type: ignore[misc]
    with pytest.raises(TypeError):
        INSTANCES["ml.new"] = instance  # type: ignore[index]


def test_family_is_the_part_between_the_points() -> None:
    assert INSTANCES["ml.p6-b200.48xlarge"].family == "p6-b200"
    assert isinstance(INSTANCES["ml.g5.xlarge"], InstanceType)
