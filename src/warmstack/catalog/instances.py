"""GPU instance types of SageMaker: what an instance has, and what an hour of it costs where that is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from warmstack.catalog._data import read_json
from warmstack.units import GB, GIB

_FILE = "instances.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceType:
    """One instance type. ``None`` means that no source states the value.

    Attributes:
        name: the SageMaker name, ``ml.p4de.24xlarge``.
        gpu_count: GPUs in the instance.
        gpu: the GPU model, ``A100-80``.
        gpu_memory_bytes: memory of one GPU, as EC2 or the driver lists it.
        gpu_memory_basis: where ``gpu_memory_bytes`` comes from, in words.
        vcpus: virtual CPUs.
        memory_bytes: host memory.
        nvme_bytes: local NVMe of the whole instance (vendors count it in decimal GB).
        bf16_tflops: dense bfloat16 peak of one GPU, in 10**12 operations a second.
        hbm_bytes_per_second: memory bandwidth of one GPU.
        pcie_bytes_per_second: one-way host-to-GPU bandwidth of one GPU's link (peak).
        gpu_source: where the peak and the bandwidths come from.
        usd_per_hour: on-demand hosting price of one instance, never live.
        price_basis: how the price is known.
        price_as_of: the date of the price (a year, or a day).
    """

    name: str
    gpu_count: int
    gpu: str
    gpu_memory_bytes: int
    gpu_memory_basis: str
    vcpus: int | None
    memory_bytes: int
    nvme_bytes: int | None
    bf16_tflops: float | None
    hbm_bytes_per_second: float | None
    pcie_bytes_per_second: float | None
    gpu_source: str
    usd_per_hour: float | None
    price_basis: str
    price_as_of: str | None

    @property
    def family(self) -> str:
        """The instance family, ``p4de`` of ``ml.p4de.24xlarge``."""
        return self.name.split(".")[1]

    @property
    def total_gpu_memory_bytes(self) -> int:
        """Memory of all GPUs together."""
        return self.gpu_count * self.gpu_memory_bytes


def load_instances() -> Mapping[str, InstanceType]:
    """Return the instance types of the catalog by name, in the order of the data file."""
    document = read_json(_FILE)
    gpus, prices = document["gpus"], document["prices"]
    return MappingProxyType(
        {
            name: _instance(name, row, gpus[row["gpu"]], prices[row["price"]])
            for name, row in document["instances"].items()
        }
    )


def _instance(name: str, row: Mapping[str, Any], gpu: Mapping[str, Any], price: Mapping[str, Any]) -> InstanceType:
    return InstanceType(
        name=name,
        gpu_count=row["gpu_count"],
        gpu=row["gpu"],
        gpu_memory_bytes=gpu["memory_bytes"],
        gpu_memory_basis=gpu["memory_basis"],
        vcpus=row["vcpus"],
        memory_bytes=row["memory_gib"] * GIB,
        nvme_bytes=None if row["nvme_gb"] is None else row["nvme_gb"] * GB,
        bf16_tflops=gpu["bf16_tflops"],
        hbm_bytes_per_second=_per_second(gpu["hbm_gb_per_second"]),
        pcie_bytes_per_second=_per_second(gpu["pcie_gb_per_second"]),
        gpu_source=gpu["source"],
        usd_per_hour=row["usd_per_hour"],
        price_basis=price["basis"],
        price_as_of=price["as_of"],
    )


def _per_second(gb_per_second: float | None) -> float | None:
    return None if gb_per_second is None else gb_per_second * GB
