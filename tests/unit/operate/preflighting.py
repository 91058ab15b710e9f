"""An account of moto with everything that a spec needs, and the preflight of that spec."""

from __future__ import annotations

import io
import json
import struct
import tarfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import boto3

from tests.unit.operate.fakes import Scripted
from tests.unit.operate.verifying import one
from warmstack.cli.load import plan_file
from warmstack.operate import Account, Report, Result, preflight
from warmstack.plan import Plan

ACCOUNT, REGION = "123456789012", "us-west-2"
BUCKET = "acme-models"
PREFIX = "llama-3.1-8b-instruct/"
SPEC = """\
name: tenants
environment: prod
target: {account: "123456789012", region: us-west-2}
model:
  id: meta-llama/Llama-3.1-8B-Instruct
  weights: {s3: s3://acme-models/llama-3.1-8b-instruct/}
  max_model_len: 8192
engine:
  server: lmi
  version: 0.38.0-lmi29.0.0-cu130
endpoint:
  instance_type: ml.g5.12xlarge
  instances: {min: 1, max: 3}
components:
  - name: base
    accelerators: 2
    copies: {min: 2, max: 4, target_concurrency: 16}
    adapters:
      - {name: legal, artifact: s3://acme-models/adapters/legal.tar.gz, rank: 16}
"""
QUOTAS = {
    "ml.g5.12xlarge for endpoint usage": ("L-65C4BD00", 4.0),
    "Number of instances across active endpoints": ("L-7A3DF611", 20.0),
}
SHARDS = {f"model-{number:05}-of-00004.safetensors": 4_015_130_624 for number in range(1, 5)}
CONFIG = {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32}


@dataclass(slots=True)
class Stage:
    """The account: its services, of moto but for what moto does not have."""

    s3: Any
    ecr: Any
    secrets: Any
    quotas: Any
    sts: Any

    def account(self) -> Account:
        services = {
            "s3": self.s3,
            "ecr": self.ecr,
            "secretsmanager": self.secrets,
            "service-quotas": self.quotas,
            "sts": self.sts,
        }
        return Account(region=REGION, make=services.__getitem__)

    def put(self, key: str, body: bytes) -> None:
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=body)

    def delete(self, key: str) -> None:
        self.s3.delete_object(Bucket=BUCKET, Key=key)


def stage(**changes: tuple[str, float] | None) -> Stage:
    """Return an account in which everything is there; to be called within ``mock_aws``."""
    session = boto3.Session(aws_access_key_id="testing", aws_secret_access_key="testing", region_name=REGION)
    made = Stage(
        s3=session.client("s3"),
        ecr=session.client("ecr"),
        secrets=session.client("secretsmanager"),
        quotas=quotas(QUOTAS),
        sts=session.client("sts"),
    )
    made.s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    made.put(f"{PREFIX}config.json", json.dumps(CONFIG).encode())
    made.put(f"{PREFIX}tokenizer.json", b"{}")
    index = {"metadata": {}, "weight_map": {f"layer{number}": name for number, name in enumerate(SHARDS)}}
    made.put(f"{PREFIX}model.safetensors.index.json", json.dumps(index).encode())
    for name in SHARDS:
        made.put(PREFIX + name, b"weights")
    made.put("adapters/legal.tar.gz", archive())
    made.ecr = Scripted(batch_get_image={"images": [{"imageId": {"imageDigest": "sha256:0123456789abcdef"}}]})
    return made


def quotas(values: dict[str, tuple[str, float]], defaults: dict[str, tuple[str, float]] | None = None) -> Scripted:
    """Service Quotas: moto 5.2.5 has none of SageMaker's."""

    def pages(found: dict[str, tuple[str, float]]) -> dict[str, Any]:
        listed = [{"QuotaName": name, "QuotaCode": code, "Value": value} for name, (code, value) in found.items()]
        return {"Quotas": listed}

    return Scripted(list_service_quotas=pages(values), list_aws_default_service_quotas=pages(defaults or {}))


def archive(
    rank: int = 16, *, config_last: bool = False, extra: dict[str, bytes] | None = None, padding: int = 0
) -> bytes:
    """Return a small adapter of Llama 3.1 8B as a .tar.gz; ``padding`` makes it larger, by bytes that do not shrink."""
    shapes = {
        "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight": [rank, 4096],
        "base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight": [4096, rank],
    }
    header: dict[str, Any] = {}
    at = 0
    for name, shape in shapes.items():
        size = 2 * shape[0] * shape[1]
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": "meta-llama/Llama-3.1-8B-Instruct",
        "r": rank,
        "lora_alpha": 32,
        "bias": "none",
        "target_modules": ["q_proj"],
    }
    members = {
        "adapter_config.json": json.dumps(config).encode(),
        "adapter_model.safetensors": struct.pack("<Q", len(text)) + text + bytes(at),
    }
    if config_last:
        members = dict(reversed(members.items()))
    if padding:
        import random

        members["notes.bin.txt"] = random.Random(0).randbytes(padding)
    members |= extra or {}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def plan_of(folder: Path, text: str = SPEC) -> Plan:
    path = folder / "tenants.yaml"
    path.write_text(text, encoding="utf-8")
    outcome = plan_file(path)
    assert outcome.plan is not None, outcome.diagnostics
    return outcome.plan


def look(made: Stage, plan: Plan, **options: Any) -> Report:
    return preflight(plan, made.account(), **options)


def fitted(plan: Plan) -> Plan:
    """Return a plan that expects the few bytes that the tests' weights have."""
    models = [replace(one, memory=replace(one.memory, weight_bytes=28)) for one in plan.models]
    return replace(plan, models=tuple(models))


def seen(made: Stage, plan: Plan, check: str) -> Result:
    return one(look(made, plan), check)
