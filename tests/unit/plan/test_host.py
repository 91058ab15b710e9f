"""RAM, NVMe and the tiers."""

from __future__ import annotations

import pytest

from tests.unit.plan.specs import VLLM, planned
from warmstack.plan.host import tier_bytes
from warmstack.spec import TierSize
from warmstack.units import GIB, TIB

BIG = {"endpoint": {"instance_type": "ml.p4de.24xlarge"}, "model": {"id": "Qwen/Qwen2.5-72B-Instruct"}}


def tiers(cpu: str, disk: str = "none") -> dict[str, object]:
    return {"cache": {"tiers": {"cpu": cpu, "disk": disk}}}


def test_tiers_of_the_published_set_up_are_near_lmis_own_sizes() -> None:
    """LMI's own test files give 66 GB a worker for eight workers on p4de; 60 % of what is left gives 65."""
    host = planned(BIG, tiers("60%")).models[0].host
    assert [tier.bytes_per_worker // GIB for tier in host.tiers] == [65]


def test_everything_adds_up_to_no_more_than_the_instance() -> None:
    host = planned(BIG, tiers("100%", "100%")).models[0].host
    cpu, disk = host.tiers
    assert host.system_bytes + host.staging_bytes + host.process_bytes + cpu.bytes_per_instance <= host.memory_bytes
    assert host.nvme_bytes is not None
    assert host.nvme_weights_bytes + disk.bytes_per_instance <= host.nvme_bytes
    for tier in host.tiers:
        assert tier.bytes_per_worker * 8 <= tier.bytes_per_instance
        assert tier.bytes_per_worker % GIB == 0


def test_a_tier_pays_beyond_what_is_above_it() -> None:
    model = planned(BIG, tiers("60%", "4TiB")).models[0]
    cpu, disk = model.host.tiers
    assert cpu.pays_beyond_tokens == model.memory.kv_tokens
    assert disk.pays_beyond_tokens == max(model.memory.kv_tokens, cpu.tokens_per_copy)
    assert cpu.tokens_per_copy == cpu.bytes_per_worker * 8 // model.memory.kv_bytes_per_token


def test_copies_of_an_instance_share_the_tier() -> None:
    one = planned(tiers("80GiB"), {"components": [{"name": "one", "accelerators": 4}]}).models[0].host.tiers[0]
    two = planned(tiers("80GiB"), {"components": [{"name": "one", "accelerators": 2}]}).models[0].host.tiers[0]
    assert one.bytes_per_instance == two.bytes_per_instance == 80 * GIB
    assert one.bytes_per_worker * 4 == 80 * GIB
    assert two.bytes_per_worker * 2 == 40 * GIB


def test_the_memory_request_of_all_copies_fits_the_instance() -> None:
    for accelerators in (1, 2, 4):
        model = planned(tiers("60%"), {"components": [{"name": "one", "accelerators": accelerators}]}).models[0]
        used = model.memory_request_mb * 2**20 * model.copies_per_instance
        assert used <= model.host.memory_bytes - model.host.system_bytes
        assert model.memory_request_mb * 2**20 >= model.memory.weight_bytes


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (TierSize(kind="none"), 0),
        (TierSize(kind="auto"), 600),
        (TierSize(kind="percent", value=25), 250),
        (TierSize(kind="bytes", value=5 * TIB), 5 * TIB),
    ],
)
def test_tier_bytes(size: TierSize, expected: int) -> None:
    assert tier_bytes(size, 1000, 0.60) == expected


def test_sglang_and_vllm_count_the_same_tier() -> None:
    vllm = planned(VLLM, tiers("60GiB")).models[0].host.tiers
    assert [tier.bytes_per_instance for tier in vllm] == [60 * GIB]


def test_lmis_second_workers_share_the_ram() -> None:
    """28 heads split over four of eight GPUs: LMI starts a second engine, and each worker has its own pool."""
    change = {"endpoint": {"instance_type": "ml.g5.48xlarge"}, "cache": {"tiers": {"cpu": "400GiB"}}}
    lmi = planned(change).models[0]
    vllm = planned(change, VLLM).models[0]
    assert lmi.memory.tensor_parallel_degree == vllm.memory.tensor_parallel_degree == 4
    assert lmi.host.tiers[0].bytes_per_worker == 50 * GIB
    assert vllm.host.tiers[0].bytes_per_worker == 100 * GIB
    assert lmi.host.staging_bytes == 2 * vllm.host.staging_bytes
    sessions = planned(change, {"endpoint": {"sessions": {"ttl": "20m"}}}).models[0]
    assert sessions.host.tiers[0].bytes_per_worker == 100 * GIB  # sessions force one worker group


def test_staging_is_what_is_stored() -> None:
    plain = planned(BIG).models[0].host
    loaded = planned(BIG, {"model": {"quantization": "fp8"}}).models[0].host
    assert loaded.staging_bytes == plain.staging_bytes
    assert loaded.nvme_weights_bytes == plain.nvme_weights_bytes


def test_data_parallel_ranks_share_the_tier() -> None:
    """Each rank is a process with a pool of its own."""
    ranks = {"engine": {**VLLM["engine"], "tensor_parallel_degree": 1, "options": {"data_parallel_size": 4}}}
    one, four = planned(VLLM, tiers("80GiB")).models[0], planned(ranks, tiers("80GiB")).models[0]
    assert one.host.tiers[0].bytes_per_worker == four.host.tiers[0].bytes_per_worker == 20 * GIB
    assert one.host.process_bytes == four.host.process_bytes
