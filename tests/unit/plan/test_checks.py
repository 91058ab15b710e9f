"""Each check: a spec that it speaks of, at that place, and a nearby spec that it is silent about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.unit.plan.specs import SGLANG, VLLM, found
from warmstack.catalog import load_catalog
from warmstack.plan import CHECKS
from warmstack.plan.options import TYPED

Change = dict[str, Any]
ADAPTERS = [{"name": "legal", "artifact": "s3://acme/legal.tar.gz"}]
TWO = {"endpoint": {"instances": {"min": 2}}}


def component(**keys: Any) -> Change:
    return {"components": [{"name": "one", **keys}]}


def routing(**keys: Any) -> Change:
    return {"endpoint": {"routing": keys}}


def options(**keys: Any) -> Change:
    return {"engine": {"options": keys}}


SESSIONS: Change = {"endpoint": {"sessions": {"ttl": "20m"}}}
PREFIX = routing(strategy="PREFIX_AWARE")
MIRROR: Change = {"image": {"base": "111122223333.dkr.ecr.us-east-1.amazonaws.com/lmi:1"}}
FLAGS = load_catalog().flags["vllm"].flags
FREE = {name: flag for name, flag in FLAGS.items() if name == flag.name and name not in TYPED["vllm"]}
FLOATS = [name for name, flag in FREE.items() if flag.kind == "float" and not flag.choices]
MANY = {name: True for name, flag in FREE.items() if flag.kind == "bool"} | dict.fromkeys(FLOATS, 0.5)
TEXTS = [name for name, flag in FREE.items() if flag.kind == "str" and not flag.choices][:40]


@dataclass(frozen=True, kw_only=True)
class Case:
    check: str
    bad: list[Change]
    good: list[Change]
    path: tuple[str | int, ...]
    says: str
    severity: str | None = None
    label: str = field(default="")


CASES = [
    Case(
        check="WS001",
        bad=[{"endpoint": {"instance_type": "ml.g5.13xlarge"}}],
        good=[],
        path=("endpoint", "instance_type"),
        says="ml.g5.12xlarge",
    ),
    Case(
        check="WS002",
        bad=[{"model": {"id": "Qwen/Qwen2.5-7B-Instrct"}}],
        good=[],
        path=("model", "id"),
        says="Qwen/Qwen2.5-7B-Instruct",
    ),
    Case(
        check="WS003",
        bad=[{"engine": {"version": "0.38.0-lmi30.0.0-cu130"}}],
        good=[],
        path=("engine", "version"),
        says="0.38.0-lmi29.0.0-cu130",
    ),
    Case(check="WS004", bad=[{"engine": {"version": None}}], good=[], path=("engine",), says="0.38.0-lmi29.0.0-cu130"),
    Case(
        check="WS005",
        bad=[{"image": {"build": "codebuild"}}],
        good=[{"image": {"build": "none"}}],
        path=("image", "build"),
        says="codebuild",
    ),
    Case(
        check="WS006",
        bad=[{"target": {"account": "111122223333", "region": "cn-north-1"}}, VLLM],
        good=[{"target": {"account": "111122223333", "region": "us-west-2"}}, VLLM],
        path=("target", "region"),
        says="cn-north-1",
    ),
    Case(
        check="WS006",
        label="base",
        bad=[
            {
                "target": {"account": "111122223333", "region": "us-west-2"},
                "image": {"base": "111122223333.dkr.ecr.us-east-1.amazonaws.com/lmi:1"},
            }
        ],
        good=[
            {
                "target": {"account": "111122223333", "region": "us-east-1"},
                "image": {"base": "111122223333.dkr.ecr.us-east-1.amazonaws.com/lmi:1"},
            }
        ],
        path=("image", "base"),
        says="us-east-1",
    ),
    Case(
        check="WS007",
        bad=[{"endpoint": {"inference_ami_version": "al2-ami-sagemaker-inference-gpu-3-1"}}],
        good=[{"endpoint": {"inference_ami_version": "al2023-ami-sagemaker-inference-gpu-4-1"}}],
        path=("endpoint", "inference_ami_version"),
        says="CUDA 13.0",
    ),
    Case(
        check="WS008",
        bad=[{"image": {"base": "111122223333.dkr.ecr.us-east-1.amazonaws.com/lmi:1"}}],
        good=[],
        path=("image", "base"),
        says="engine.version",
    ),
    Case(
        check="WS009",
        bad=[{"endpoint": {"instance_type": "ml.p5e.48xlarge"}}],
        good=[],
        path=("endpoint", "instance_type"),
        says="ml.p5e.48xlarge",
    ),
    Case(
        check="WS010",
        bad=[
            {
                "components": [
                    {"name": "a", "adapters": [{"name": "b-c", "artifact": "s3://acme/x.tar.gz"}]},
                    {"name": "a-b", "adapters": [{"name": "c", "artifact": "s3://acme/y.tar.gz"}]},
                ]
            }
        ],
        good=[
            {
                "components": [
                    {"name": "a", "adapters": [{"name": "b-c", "artifact": "s3://acme/x.tar.gz"}]},
                    {"name": "a-b", "adapters": [{"name": "d", "artifact": "s3://acme/y.tar.gz"}]},
                ]
            }
        ],
        path=("components", 1, "adapters", 0, "name"),
        says="chat-dev-a-b-c",
    ),
    Case(
        check="WS011",
        bad=[{"acknowledge": {"WS004": "we upgrade by hand"}}],
        good=[{"acknowledge": {"WS004": "we upgrade by hand"}, "engine": {"version": None}}],
        path=("acknowledge", "WS004"),
        says="WS004",
    ),
    Case(
        check="WS011",
        label="no such check",
        bad=[{"acknowledge": {"WS999": "never mind"}}],
        good=[],
        path=("acknowledge", "WS999"),
        says="no check",
    ),
    Case(
        check="WS012",
        bad=[{"acknowledge": {"WS005": "later"}, "image": {"build": "docker"}}],
        good=[{"acknowledge": {"WS004": "later"}, "engine": {"version": None}}],
        path=("acknowledge", "WS005"),
        says="cannot be acknowledged",
    ),
    Case(
        check="WS013",
        bad=[{"engine": {"server": "vllm", "version": "server-v2.6"}}],
        good=[
            {"engine": {"server": "vllm", "version": "server-v2.6"}},
            {"endpoint": {"inference_ami_version": "al2023-ami-sagemaker-inference-gpu-4-1"}},
        ],
        path=("engine", "version"),
        says="server-v2.6",
    ),
    Case(
        check="WS014",
        bad=[
            component(
                adapters=[
                    {"name": f"a{i}", "artifact": f"s3://acme-adapters/tenant-{i:05}/legal.tar.gz"} for i in range(190)
                ]
            )
        ],
        good=[
            component(
                adapters=[{"name": f"a{i}", "artifact": f"s3://acme-adapters/tenants/a{i}.tar.gz"} for i in range(190)]
            )
        ],
        path=("components",),
        says="IAM takes 10,240",
    ),
    Case(
        check="WS015",
        bad=[component(adapters=[{"name": f"a{i}", "artifact": f"s3://acme/t/a{i}.tar.gz"} for i in range(496)])],
        good=[component(adapters=[{"name": f"a{i}", "artifact": f"s3://acme/t/a{i}.tar.gz"} for i in range(494)])],
        path=("components",),
        says="CloudFormation takes 500",
    ),
    Case(
        check="WS016",
        bad=[
            MIRROR,
            {"components": [{"name": "one"}, {"name": "two", "engine": {"server": "vllm", "version": "0.30.0"}}]},
        ],
        good=[MIRROR, {"components": [{"name": "one"}, {"name": "two"}]}],
        path=("image", "base"),
        says="lmi 0.38.0-lmi29.0.0-cu130 and vllm 0.30.0",
    ),
    Case(
        check="WS017",
        bad=[component(copies={"min": 2}), routing(strategy="RANDOM"), TWO],
        good=[component(copies={"min": 5}), routing(strategy="RANDOM"), TWO],
        path=("endpoint", "instances", "min"),
        says="at their maximum need 1",
    ),
    Case(
        check="WS006",
        label="a base without a target",
        bad=[MIRROR],
        good=[MIRROR, {"target": {"account": "111122223333", "region": "us-east-1"}}],
        path=("image", "base"),
        says="another Region",
        severity="warning",
    ),
    Case(
        check="WS018",
        bad=[component()],
        good=[component(copies={"min": 1, "max": 4})],
        path=("components",),
        says="take 1 of the 4 GPUs",
    ),
    Case(
        check="WS020",
        label="the way out",
        bad=[{"model": {"id": "Qwen/Qwen3-32B"}, "endpoint": {"instance_type": "ml.g5.2xlarge"}}],
        good=[{"model": {"id": "Qwen/Qwen3-32B"}, "endpoint": {"instance_type": "ml.g7e.2xlarge"}}],
        path=("model", "id"),
        says="the cheapest that holds it and 8,192 tokens is ml.g7e.2xlarge",
    ),
    Case(
        check="WS020",
        bad=[{"model": {"id": "Qwen/Qwen2.5-72B-Instruct"}}],
        good=[],
        path=("model", "id"),
        says="GiB on each of 4 GPUs",
    ),
    Case(
        check="WS021",
        bad=[{"model": {"max_model_len": 65536}}],
        good=[{"model": {"max_model_len": 65536}}, options(hf_overrides={"rope_scaling": {"factor": 4.0}})],
        path=("model", "max_model_len"),
        says="32768",
    ),
    Case(
        check="WS022",
        bad=[
            {
                "model": {"id": "meta-llama/Llama-3.1-8B-Instruct", "max_model_len": 131072},
                "endpoint": {"instance_type": "ml.g5.xlarge"},
            }
        ],
        good=[
            {
                "model": {"id": "meta-llama/Llama-3.1-8B-Instruct", "max_model_len": 4096},
                "endpoint": {"instance_type": "ml.g5.xlarge"},
            }
        ],
        path=("model", "max_model_len"),
        says="one copy holds",
    ),
    Case(
        check="WS023",
        bad=[
            {
                "model": {"id": "meta-llama/Llama-3.1-8B-Instruct", "max_model_len": None},
                "endpoint": {"instance_type": "ml.g5.2xlarge"},
            }
        ],
        good=[{"model": {"max_model_len": None}}],
        path=("model", "max_model_len"),
        says="131,072",
    ),
    Case(
        check="WS024",
        bad=[{"engine": {"tensor_parallel_degree": 3}}],
        good=[{"engine": {"tensor_parallel_degree": 4}}],
        path=("engine", "tensor_parallel_degree"),
        says="2 or 4",
    ),
    Case(
        check="WS024",
        label="kv heads",
        bad=[component(accelerators=7), {"endpoint": {"instance_type": "ml.p4de.24xlarge"}}],
        good=[component(accelerators=4), {"endpoint": {"instance_type": "ml.p4de.24xlarge"}}],
        path=("components", 0, "accelerators"),
        says="4 KV heads",
    ),
    Case(
        check="WS025",
        bad=[{"endpoint": {"instance_type": "ml.p4de.24xlarge"}}],
        good=[{"endpoint": {"instance_type": "ml.p4de.24xlarge"}}, component(accelerators=4, copies={"min": 2})],
        path=("engine", "tensor_parallel_degree"),
        says="components: [{name: chat, accelerators: 4, copies: {min: 2}}]",
    ),
    Case(
        check="WS025",
        label="data parallel uses them",
        bad=[VLLM, {"engine": {"tensor_parallel_degree": 2}}],
        good=[VLLM, {"engine": {"tensor_parallel_degree": 2}}, options(data_parallel_size=2)],
        path=("engine", "tensor_parallel_degree"),
        says="2 of 4 GPUs",
    ),
    Case(
        check="WS026",
        bad=[SESSIONS, TWO, {"engine": {"tensor_parallel_degree": 2}}],
        good=[SESSIONS, TWO, {"engine": {"tensor_parallel_degree": 4}}],
        path=("engine", "tensor_parallel_degree"),
        says="so it must be 4",
    ),
    Case(
        check="WS026",
        label="auto config",
        bad=[{"cache": {"lmcache": {"auto_config": True}}, "engine": {"tensor_parallel_degree": 1}}],
        good=[{"cache": {"lmcache": {"auto_config": True}}}],
        path=("engine", "tensor_parallel_degree"),
        says="auto_config needs one worker",
    ),
    Case(
        check="WS027",
        bad=[component(accelerators=4), {"engine": {"tensor_parallel_degree": 2}}],
        good=[component(accelerators=2), {"engine": {"tensor_parallel_degree": 2}}],
        path=("components", 0, "engine", "tensor_parallel_degree"),
        says="must be equal",
    ),
    Case(
        check="WS028",
        bad=[component(accelerators=8), {"model": {"id": "meta-llama/Llama-3.1-8B-Instruct"}}],
        good=[component(accelerators=4), {"model": {"id": "meta-llama/Llama-3.1-8B-Instruct"}}],
        path=("components", 0, "accelerators"),
        says="has 4 GPUs",
    ),
    Case(
        check="WS029",
        bad=[component(accelerators=4, copies={"min": 3})],
        good=[component(accelerators=4, copies={"min": 3}), {"endpoint": {"instances": {"min": 3}}}],
        path=("endpoint", "instances"),
        says="3 x ml.g5.12xlarge",
    ),
    Case(
        check="WS029",
        label="no copy spans instances",
        bad=[
            {
                "components": [
                    {"name": "a", "accelerators": 2, "copies": {"min": 1}},
                    {"name": "b", "accelerators": 4, "copies": {"min": 1}},
                    {"name": "c", "accelerators": 2, "copies": {"min": 2}},
                ]
            },
            {"endpoint": {"instances": {"min": 2}}},
        ],
        good=[
            {
                "components": [
                    {"name": "a", "accelerators": 2, "copies": {"min": 1}},
                    {"name": "b", "accelerators": 4, "copies": {"min": 1}},
                    {"name": "c", "accelerators": 2, "copies": {"min": 1}},
                ]
            },
            {"endpoint": {"instances": {"min": 2}}},
        ],
        path=("endpoint", "instances"),
        says="10 GPUs",
    ),
    Case(
        check="WS030",
        bad=[{"model": {"id": "deepseek-ai/DeepSeek-V4-Pro"}}],
        good=[],
        path=("model", "id"),
        says="DeepSeek-V4-Pro",
    ),
    Case(
        check="WS031",
        bad=[VLLM, options(pipeline_parallel_size=2)],
        good=[VLLM, options(pipeline_parallel_size=1)],
        path=("engine", "options", "pipeline_parallel_size"),
        says="is 2",
    ),
    Case(
        check="WS031",
        label="data parallel",
        bad=[VLLM, {"engine": {"tensor_parallel_degree": 4}}, options(data_parallel_size=2)],
        good=[VLLM, options(data_parallel_size=2)],
        path=("engine", "options"),
        says="take 8; a copy has 4",
    ),
    Case(
        check="WS032",
        bad=[{"endpoint": {"instances": {"min": 1, "max": 2}}}],
        good=[component(), {"endpoint": {"instances": {"min": 1, "max": 2}}}],
        path=("endpoint", "instances", "max"),
        says="must be equal",
    ),
    Case(
        check="WS033",
        bad=[{"model": {"id": "Qwen/Qwen3-235B-A22B"}, "endpoint": {"instance_type": "ml.p5en.48xlarge"}}],
        good=[{"model": {"id": "Qwen/Qwen3-32B"}, "endpoint": {"instance_type": "ml.p5en.48xlarge"}}],
        path=("model",),
        says="3600 s",
    ),
    Case(
        check="WS034",
        bad=[component(accelerators=4), {"model": {"id": "Qwen/Qwen2.5-1.5B-Instruct"}}],
        good=[component(accelerators=2), {"model": {"id": "Qwen/Qwen2.5-1.5B-Instruct"}}],
        path=("components", 0, "engine", "tensor_parallel_degree"),
        says="held 2 times",
    ),
    Case(
        check="WS035",
        bad=[{"model": {"id": "Qwen/Qwen2.5-7B", "max_model_len": None}}],
        good=[{"model": {"id": "Qwen/Qwen2.5-7B", "max_model_len": 8192}}],
        path=("model", "max_model_len"),
        says="states no context length",
    ),
    Case(
        check="WS036",
        bad=[{"model": {"quantization": "awq"}}],
        good=[{"model": {"quantization": "fp8"}}],
        path=("model", "quantization"),
        says="says nothing of it",
    ),
    Case(
        check="WS036",
        label="quantized otherwise",
        bad=[
            VLLM,
            {
                "model": {"id": "Qwen/Qwen3-32B-FP8", "quantization": "gptq"},
                "endpoint": {"instance_type": "ml.g6e.12xlarge"},
            },
        ],
        good=[
            VLLM,
            {
                "model": {"id": "Qwen/Qwen3-32B-FP8", "quantization": "fp8"},
                "endpoint": {"instance_type": "ml.g6e.12xlarge"},
            },
        ],
        path=("model", "quantization"),
        says="says fp8",
    ),
    Case(
        check="WS033",
        label="a timeout below what the plan derives",
        bad=[{"endpoint": {"timeouts": {"download": "1m"}}}],
        good=[{"endpoint": {"timeouts": {"download": "10m"}}}],
        path=("endpoint", "timeouts", "download"),
        says="timeouts.download is 60 s",
    ),
    Case(
        check="WS040",
        bad=[{"cache": {"tiers": {"cpu": "180GiB"}}}],
        good=[{"cache": {"tiers": {"cpu": "100GiB"}}}],
        path=("cache", "tiers", "cpu"),
        says="180 GiB",
    ),
    Case(
        check="WS040",
        label="less than a GiB a worker",
        bad=[{"cache": {"tiers": {"cpu": "2GiB"}}}],
        good=[{"cache": {"tiers": {"cpu": "8GiB"}}}],
        path=("cache", "tiers", "cpu"),
        says="less than 1 GiB",
    ),
    Case(
        check="WS040",
        label="nothing left",
        bad=[
            {
                "cache": {"tiers": {"cpu": "auto"}},
                "model": {"max_model_len": 1024},
                "endpoint": {"instance_type": "ml.g5.xlarge"},
            }
        ],
        good=[{"cache": {"tiers": {"cpu": "auto"}}}],
        path=("cache", "tiers", "cpu"),
        says="nothing is left",
    ),
    Case(
        check="WS041",
        bad=[{"cache": {"tiers": {"disk": "6TiB"}}}],
        good=[{"cache": {"tiers": {"disk": "2TiB"}}}],
        path=("cache", "tiers", "disk"),
        says="6144 GiB",
    ),
    Case(
        check="WS041",
        label="no NVMe",
        bad=[{"cache": {"tiers": {"disk": "1TiB"}}, "endpoint": {"instance_type": "ml.p6e-gb200.36xlarge"}}],
        good=[{"cache": {"tiers": {"disk": "1TiB"}}, "endpoint": {"instance_type": "ml.p4de.24xlarge"}}],
        path=("cache", "tiers", "disk"),
        says="no NVMe",
    ),
    Case(
        check="WS042",
        bad=[VLLM, {"cache": {"lmcache": {"auto_config": True}}}],
        good=[{"cache": {"lmcache": {"auto_config": True}}}],
        path=("cache", "lmcache", "auto_config"),
        says="lmi",
    ),
    Case(
        check="WS042",
        label="too old",
        bad=[{"cache": {"lmcache": {"auto_config": True}}, "engine": {"version": "0.36.0-lmi18.0.0-cu128"}}],
        good=[{"cache": {"lmcache": {"auto_config": True}}, "engine": {"version": "0.36.0-lmi19.0.0-cu128"}}],
        path=("cache", "lmcache", "auto_config"),
        says="LMI 19",
    ),
    Case(
        check="WS042",
        label="and tiers",
        bad=[{"cache": {"lmcache": {"auto_config": True}, "tiers": {"cpu": "60%"}}}],
        good=[{"cache": {"tiers": {"cpu": "60%"}}}],
        path=("cache", "lmcache", "auto_config"),
        says="remove cache.tiers",
    ),
    Case(
        check="WS042",
        label="expert parallel",
        bad=[{"cache": {"lmcache": {"auto_config": True}}}, options(enable_expert_parallel=True)],
        good=[options(enable_expert_parallel=True)],
        path=("cache", "lmcache", "auto_config"),
        says="enable_expert_parallel",
    ),
    Case(
        check="WS043",
        bad=[SGLANG, {"cache": {"tiers": {"disk": "1TiB"}}}],
        good=[SGLANG, {"cache": {"tiers": {"cpu": "60%"}}}],
        path=("cache", "tiers", "disk"),
        says="sglang",
    ),
    Case(
        check="WS043",
        label="LMI before LMCache",
        bad=[{"engine": {"version": "0.34.0-lmi16.0.0-cu128"}, "cache": {"tiers": {"cpu": "60%"}}}],
        good=[{"engine": {"version": "0.35.0-lmi17.0.0-cu128"}, "cache": {"tiers": {"cpu": "60%"}}}],
        path=("cache", "tiers"),
        says="LMI 17",
    ),
    Case(
        check="WS044",
        bad=[{"cache": {"tiers": {"disk": {"size": "1TiB", "direct_io": True}}, "lmcache": {"chunk_size": 33}}}],
        good=[{"cache": {"tiers": {"disk": {"size": "1TiB", "direct_io": True}}, "lmcache": {"chunk_size": 34}}}],
        path=("cache", "lmcache", "chunk_size"),
        says="chunk_size 34 fits",
    ),
    Case(check="WS045", bad=[{"cache": {"tiers": {"cpu": "60%"}}}], good=[], path=("cache",), says="LMCache"),
    Case(
        check="WS046",
        bad=[
            VLLM,
            {
                "model": {"id": "Qwen/Qwen3.5-27B"},
                "cache": {"tiers": {"cpu": "60%"}},
                "endpoint": {"instance_type": "ml.g6e.12xlarge"},
            },
        ],
        good=[VLLM, {"model": {"id": "Qwen/Qwen3.5-27B"}, "endpoint": {"instance_type": "ml.g6e.12xlarge"}}],
        path=("cache",),
        says="Qwen3.5-27B",
    ),
    Case(
        check="WS047",
        bad=[{"cache": {"lmcache": {"chunk_size": 512}}}],
        good=[{"cache": {"lmcache": {"chunk_size": 512}, "tiers": {"cpu": "60%"}}}],
        path=("cache", "lmcache", "chunk_size"),
        says="no tier",
    ),
    Case(
        check="WS047",
        label="direct I/O without a disk",
        bad=[{"cache": {"tiers": {"disk": {"direct_io": True}}}}],
        good=[{"cache": {"tiers": {"disk": {"direct_io": True, "size": "1TiB"}}}}],
        path=("cache", "tiers", "disk"),
        says="disk.size is none",
    ),
    Case(
        check="WS048",
        bad=[SGLANG, {"cache": {"tiers": {"cpu": "40GiB"}}}],
        good=[SGLANG, {"cache": {"tiers": {"cpu": "100GiB"}}}],
        path=("cache", "tiers", "cpu"),
        says="10 GiB a rank",
    ),
    Case(
        check="WS049",
        bad=[{"endpoint": {"instance_type": "ml.g5.xlarge"}}],
        good=[{"endpoint": {"instance_type": "ml.g5.2xlarge"}}],
        path=("endpoint", "instance_type"),
        says="of RAM",
    ),
    Case(
        check="WS050",
        bad=[routing(strategy="RANDOM", prefix_length=2048)],
        good=[TWO, PREFIX, routing(prefix_length=2048)],
        path=("endpoint", "routing", "prefix_length"),
        says="RANDOM",
    ),
    Case(
        check="WS050",
        label="derived strategy",
        bad=[routing(concurrency_threshold=4)],
        good=[TWO, routing(concurrency_threshold=4)],
        path=("endpoint", "routing", "concurrency_threshold"),
        says="LEAST_OUTSTANDING_REQUESTS",
    ),
    Case(
        check="WS051",
        bad=[PREFIX],
        good=[PREFIX, TWO],
        path=("endpoint", "routing", "strategy"),
        says="instances.min: 2",
        severity="error",
    ),
    Case(
        check="WS051",
        label="scales",
        bad=[PREFIX, component(copies={"min": 2}), {"endpoint": {"instances": {"min": 1, "max": 2}}}],
        good=[PREFIX, component(copies={"min": 2}), {"endpoint": {"instances": {"min": 2, "max": 3}}}],
        path=("endpoint", "routing", "strategy"),
        says="instances.min is 1",
        severity="warning",
    ),
    Case(
        check="WS052",
        bad=[PREFIX, TWO, component()],
        good=[PREFIX, TWO, component(copies={"min": 2})],
        path=("components", 0, "copies", "min"),
        says="copies.min 1",
    ),
    Case(
        check="WS053",
        bad=[TWO, PREFIX, routing(concurrency_threshold=65), options(max_num_seqs=64)],
        good=[TWO, PREFIX, routing(concurrency_threshold=64), options(max_num_seqs=64)],
        path=("endpoint", "routing", "concurrency_threshold"),
        says="runs 64",
    ),
    Case(
        check="WS054",
        bad=[TWO, routing(strategy="KV_AWARE")],
        good=[TWO, VLLM, routing(strategy="KV_AWARE")],
        path=("endpoint", "routing", "strategy"),
        says="lmi",
    ),
    Case(
        check="WS055",
        bad=[TWO, VLLM, routing(strategy="KV_AWARE")],
        good=[TWO, VLLM, PREFIX],
        path=("endpoint", "routing", "strategy"),
        says="KV_AWARE",
    ),
    Case(
        check="WS056",
        bad=[TWO, PREFIX, VLLM, options(data_parallel_size=2)],
        good=[TWO, routing(strategy="RANDOM"), VLLM, options(data_parallel_size=2)],
        path=("engine", "options", "data_parallel_size"),
        says="is 2",
    ),
    Case(
        check="WS057",
        bad=[TWO, PREFIX, component(copies={"min": 2}, adapters=ADAPTERS)],
        good=[TWO, PREFIX, component(copies={"min": 2})],
        path=("endpoint", "routing"),
        says="adapters",
    ),
    Case(
        check="WS058",
        bad=[TWO, PREFIX, options(max_num_seqs=4)],
        good=[TWO, PREFIX, options(max_num_seqs=8)],
        path=("endpoint", "routing", "concurrency_threshold"),
        says="is 2 (half of",
    ),
    Case(
        check="WS060",
        bad=[TWO, SESSIONS, component(copies={"min": 2})],
        good=[TWO, SESSIONS],
        path=("endpoint", "sessions"),
        says="components",
    ),
    Case(
        check="WS061",
        bad=[TWO, SESSIONS, SGLANG],
        good=[TWO, SESSIONS, VLLM],
        path=("endpoint", "sessions"),
        says="sglang",
    ),
    Case(
        check="WS062",
        bad=[TWO, SESSIONS, component(copies={"min": 2, "max": 4})],
        good=[TWO, SESSIONS, component(copies={"min": 2})],
        path=("endpoint", "sessions"),
        says="20m",
    ),
    Case(check="WS063", bad=[SESSIONS], good=[SESSIONS, TWO], path=("endpoint", "sessions"), says="one instance"),
    Case(
        check="WS064",
        bad=[TWO, SESSIONS, {"engine": {"version": "0.33.0-lmi15.0.0-cu128"}}],
        good=[TWO, SESSIONS, {"engine": {"version": "0.34.0-lmi16.0.0-cu128"}}],
        path=("endpoint", "sessions"),
        says="lmi15",
    ),
    Case(
        check="WS065",
        bad=[TWO, SESSIONS, PREFIX],
        good=[TWO, SESSIONS, routing(strategy="RANDOM")],
        path=("endpoint", "sessions"),
        says="PREFIX_AWARE",
    ),
    Case(
        check="WS066",
        bad=[TWO, SESSIONS, VLLM, options(api_server_count=2)],
        good=[TWO, VLLM, options(api_server_count=2)],
        path=("engine", "options", "api_server_count"),
        says="session table",
    ),
    Case(check="WS070", bad=[component()], good=[], path=("components",), says="replaces the endpoint configuration"),
    Case(
        check="WS071",
        bad=[component(copies={"min": 1, "max": 2})],
        good=[component(copies={"min": 2})],
        path=("components", 0, "copies"),
        says="copies.min, 1",
    ),
    Case(
        check="WS072",
        bad=[component(accelerators=4)],
        good=[component(accelerators=2)],
        path=("endpoint", "instances"),
        says="4 of 4 GPUs",
    ),
    Case(
        check="WS080",
        bad=[options(max_num_sqs=64)],
        good=[options(max_num_seqs=64)],
        path=("engine", "options", "max_num_sqs"),
        says="max_num_seqs",
    ),
    Case(
        check="WS080",
        label="a front-end flag that LMI drops",
        bad=[options(enable_prompt_tokens_details=True)],
        good=[VLLM, options(enable_prompt_tokens_details=True)],
        path=("engine", "options", "enable_prompt_tokens_details"),
        says="lmi has no option",
    ),
    Case(
        check="WS081",
        bad=[VLLM, options(swap_space=4)],
        good=[],
        path=("engine", "options", "swap_space"),
        says="swap_space",
    ),
    Case(
        check="WS082",
        bad=[options(tensor_parallel_degree=4)],
        good=[{"engine": {"tensor_parallel_degree": 4}}],
        path=("engine", "options", "tensor_parallel_degree"),
        says="engine.tensor_parallel_degree",
    ),
    Case(
        check="WS082",
        label="two names of one setting",
        bad=[options(max_num_seqs=4, max_rolling_batch_size=8)],
        good=[options(max_rolling_batch_size=8)],
        path=("engine", "options", "max_rolling_batch_size"),
        says="one setting",
    ),
    Case(
        check="WS083",
        bad=[options(max_num_seqs=True)],
        good=[options(max_num_seqs=8)],
        path=("engine", "options", "max_num_seqs"),
        says="whole number",
    ),
    Case(
        check="WS083",
        label="choices",
        bad=[VLLM, options(kv_cache_dtype="fp7")],
        good=[VLLM, options(kv_cache_dtype="fp8")],
        path=("engine", "options", "kv_cache_dtype"),
        says="one of",
    ),
    Case(
        check="WS083",
        label="boolean",
        bad=[options(enforce_eager="sometimes")],
        good=[options(enforce_eager=True)],
        path=("engine", "options", "enforce_eager"),
        says="true or false",
    ),
    Case(
        check="WS083",
        label="number",
        bad=[options(gpu_memory_utilization="most")],
        good=[options(gpu_memory_utilization=0.8)],
        path=("engine", "options", "gpu_memory_utilization"),
        says="a number",
    ),
    Case(
        check="WS083",
        label="JSON",
        bad=[VLLM, options(compilation_config="{")],
        good=[VLLM, options(compilation_config={"mode": 3})],
        path=("engine", "options", "compilation_config"),
        says="JSON",
    ),
    Case(
        check="WS083",
        label="a typed field's choices",
        bad=[SGLANG, {"model": {"quantization": "fp9"}}],
        good=[SGLANG, {"model": {"quantization": "fp8"}}],
        path=("model", "quantization"),
        says="fp8",
    ),
    Case(
        check="WS082",
        label="an alias of a typed field",
        bad=[SGLANG, options(speculative_draft_model="acme/draft")],
        good=[SGLANG],
        path=("engine", "options", "speculative_draft_model"),
        says="engine.speculative",
    ),
    Case(
        check="WS082",
        label="the platform's own",
        bad=[VLLM, options(ssl_keyfile="/k.pem")],
        good=[VLLM],
        path=("engine", "options", "ssl_keyfile"),
        says="port 8080",
    ),
    Case(
        check="WS082",
        label="a secret",
        bad=[VLLM, options(api_key="hunter2")],
        good=[VLLM],
        path=("engine", "options", "api_key"),
        says="plain text",
    ),
    Case(
        check="WS082",
        label="another handler",
        bad=[options(rolling_batch="auto")],
        good=[],
        path=("engine", "options", "rolling_batch"),
        says="asynchronous handler",
    ),
    Case(
        check="WS082",
        label="a tier is there already",
        bad=[
            VLLM,
            {"cache": {"tiers": {"cpu": "60%"}}},
            options(kv_transfer_config={"kv_connector": "NixlConnector", "kv_role": "kv_both"}),
        ],
        good=[VLLM, options(kv_transfer_config={"kv_connector": "NixlConnector", "kv_role": "kv_both"})],
        path=("engine", "options", "kv_transfer_config"),
        says="cache.tiers",
    ),
    Case(
        check="WS083",
        label="a number the plan reckons with",
        bad=[options(max_num_seqs="64")],
        good=[options(max_num_seqs=64)],
        path=("engine", "options", "max_num_seqs"),
        says="whole number",
    ),
    Case(
        check="WS083",
        label="out of range",
        bad=[options(max_num_seqs=0)],
        good=[options(max_num_seqs=1)],
        path=("engine", "options", "max_num_seqs"),
        says="from 1 to 65,536",
    ),
    Case(
        check="WS083",
        label="more than the GPU",
        bad=[options(gpu_memory_utilization=1.5)],
        good=[options(gpu_memory_utilization=0.95)],
        path=("engine", "options", "gpu_memory_utilization"),
        says="from 0.05 to 1",
    ),
    Case(
        check="WS083",
        label="fewer tokens than requests",
        bad=[VLLM, options(max_num_batched_tokens=16)],
        good=[VLLM, options(max_num_batched_tokens=8192)],
        path=("engine", "options", "max_num_batched_tokens"),
        says="at least max_num_seqs, 256",
    ),
    Case(
        check="WS083",
        label="fewer adapters on the CPU than on the GPU",
        bad=[component(adapters=ADAPTERS), options(max_cpu_loras=2)],
        good=[component(adapters=ADAPTERS), options(max_loras=64)],
        path=("components", 0, "engine", "options", "max_cpu_loras"),
        says="at least max_loras, 4",
    ),
    Case(
        check="WS084",
        bad=[{"engine": {"version": "0.36.0-lmi25.0.0-cu130"}}, options(enable_prefix_caching=False)],
        good=[{"engine": {"version": "0.36.0-lmi26.0.0-cu130"}}, options(enable_prefix_caching=False)],
        path=("engine", "options", "enable_prefix_caching"),
        says="lmi25",
    ),
    Case(
        check="WS085",
        bad=[VLLM, options(chat_template="{% for m in messages %}")],
        good=[VLLM, options(chat_template="chat.jinja")],
        path=("engine", "options", "chat_template"),
        says="percent",
    ),
    Case(
        check="WS085",
        label="line break",
        bad=[options(chat_template="a\nb")],
        good=[options(chat_template="a b")],
        path=("engine", "options", "chat_template"),
        says="line break",
    ),
    Case(
        check="WS085",
        label="a list the image cannot spread",
        bad=[{"engine": {"server": "vllm", "version": "0.26.0"}}, options(served_model_name=["a", "b"])],
        good=[VLLM, options(served_model_name=["a", "b"])],
        path=("engine", "options", "served_model_name"),
        says="a list",
    ),
    Case(
        check="WS086",
        bad=[options(chat_template="x" * 1025)],
        good=[options(chat_template="x" * 1024)],
        path=("engine", "options"),
        says="1025 characters",
    ),
    Case(
        check="WS086",
        label="too many entries",
        bad=[VLLM, options(**MANY)],
        good=[VLLM, options(**dict(list(MANY.items())[:80]))],
        path=("engine", "options"),
        says="entries; SageMaker accepts 100",
    ),
    Case(
        check="WS086",
        label="too many bytes",
        bad=[VLLM, options(**dict.fromkeys(TEXTS, "x" * 1000))],
        good=[VLLM, options(**dict.fromkeys(TEXTS, "x" * 100))],
        path=("engine", "options"),
        says="bytes; SageMaker accepts 32,768",
    ),
    Case(check="WS087", bad=[options(max_num_seqs=8)], good=[], path=("engine", "options"), says="0.28.0"),
    Case(
        check="WS088",
        bad=[VLLM, {"engine": {"speculative": {"method": "eagle3", "draft": "s3://acme/draft/"}}}],
        good=[VLLM, {"engine": {"speculative": {"method": "eagle3", "draft": "drafts/eagle3/"}}}],
        path=("engine", "speculative", "draft"),
        says="weights prefix",
    ),
    Case(
        check="WS088",
        label="no prefix on the hub",
        bad=[
            VLLM,
            {
                "model": {"weights": {"s3": None, "hub": {"revision": "main"}}},
                "engine": {"speculative": {"method": "eagle3", "draft": "drafts/eagle3/"}},
            },
        ],
        good=[
            VLLM,
            {
                "model": {"weights": {"s3": None, "hub": {"revision": "main"}}},
                "engine": {"speculative": {"method": "eagle3", "draft": "acme/eagle3"}},
            },
        ],
        path=("engine", "speculative", "draft"),
        says="no prefix",
    ),
    Case(
        check="WS088",
        label="neither folder nor id",
        bad=[VLLM, {"engine": {"speculative": {"method": "eagle", "draft": "draft"}}}],
        good=[VLLM, {"engine": {"speculative": {"method": "eagle", "draft": "draft/"}}}],
        path=("engine", "speculative", "draft"),
        says="owner/name",
    ),
    Case(
        check="WS089",
        bad=[SGLANG, {"engine": {"speculative": {"method": "ngram"}}}],
        good=[VLLM, {"engine": {"speculative": {"method": "ngram"}}}],
        path=("engine", "speculative"),
        says="sglang",
    ),
    Case(
        check="WS090",
        bad=[SGLANG, component(adapters=ADAPTERS)],
        good=[VLLM, component(adapters=ADAPTERS)],
        path=("components", 0, "adapters"),
        says="sglang",
    ),
    Case(
        check="WS090",
        label="switched off",
        bad=[component(adapters=ADAPTERS), options(enable_lora=False)],
        good=[component(adapters=ADAPTERS), options(enable_lora=True)],
        path=("components", 0, "engine", "options", "enable_lora"),
        says="enable_lora is false",
    ),
    Case(
        check="WS091",
        bad=[component(adapters=[{**ADAPTERS[0], "rank": 64}]), options(max_lora_rank=32)],
        good=[component(adapters=[{**ADAPTERS[0], "rank": 64}])],
        path=("components", 0, "adapters", 0, "rank"),
        says="rank 64",
    ),
    Case(
        check="WS092",
        bad=[component(adapters=[{**ADAPTERS[0], "name": f"a{i}"} for i in range(3)]), options(max_cpu_loras=2)],
        good=[component(adapters=[{**ADAPTERS[0], "name": f"a{i}"} for i in range(3)])],
        path=("components", 0, "adapters"),
        says="3 adapters",
    ),
    Case(
        check="WS094",
        bad=[TWO, PREFIX, options(enable_prefix_caching=False)],
        good=[TWO, routing(strategy="RANDOM"), options(enable_prefix_caching=False)],
        path=("engine", "options", "enable_prefix_caching"),
        says="nothing is reused",
    ),
    Case(
        check="WS094",
        label="sglang",
        bad=[TWO, PREFIX, SGLANG, options(disable_radix_cache=True)],
        good=[TWO, PREFIX, SGLANG, options(disable_radix_cache=False)],
        path=("engine", "options", "disable_radix_cache"),
        says="is true",
    ),
    Case(
        check="WS100",
        label="tokenizer",
        bad=[VLLM, {"endpoint": {"network_isolation": True}}, options(tokenizer="acme/tokenizer")],
        good=[VLLM, {"endpoint": {"network_isolation": True}}, options(tokenizer="/opt/ml/model")],
        path=("engine", "options", "tokenizer"),
        says="acme/tokenizer",
    ),
    Case(
        check="WS100",
        bad=[
            {"endpoint": {"network_isolation": True}, "model": {"weights": {"s3": None, "hub": {"revision": "main"}}}}
        ],
        good=[{"endpoint": {"network_isolation": True}}],
        path=("model", "weights"),
        says="network_isolation",
    ),
    Case(
        check="WS100",
        label="draft",
        bad=[
            VLLM,
            {
                "endpoint": {"network_isolation": True},
                "engine": {"speculative": {"method": "eagle3", "draft": "acme/eagle3"}},
            },
        ],
        good=[
            VLLM,
            {
                "endpoint": {"network_isolation": True},
                "engine": {"speculative": {"method": "eagle3", "draft": "eagle3/"}},
            },
        ],
        path=("engine", "speculative", "draft"),
        says="acme/eagle3",
    ),
    Case(
        check="WS101",
        bad=[
            {
                "model": {
                    "weights": {
                        "s3": None,
                        "hub": {"token_secret": "arn:aws:secretsmanager:us-west-2:111122223333:secret:hub-AbCdEf"},
                    }
                }
            }
        ],
        good=[{"model": {"weights": {"s3": None, "hub": {"revision": "main"}}}}],
        path=("model", "weights", "hub", "token_secret"),
        says="token",
    ),
    Case(
        check="WS102",
        bad=[{"model": {"weights": None}}],
        good=[{"model": {"weights": {"s3": None, "hub": {"revision": "a1b2"}}}}],
        path=("model", "weights"),
        says="hub",
    ),
    Case(
        check="WS103",
        bad=[{"model": {"id": "meta-llama/Llama-3.1-8B-Instruct", "weights": None}}],
        good=[{"model": {"weights": None}}],
        path=("model", "weights"),
        says="a stock image has no token",
    ),
]


def _name(case: Case) -> str:
    return f"{case.check} {case.label}".strip()


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_finds(case: Case) -> None:
    findings = [one for one in found(*case.bad) if one.check == case.check]
    assert findings, f"{case.check} is silent"
    assert case.path in [one.path for one in findings]
    one = next(one for one in findings if one.path == case.path)
    assert case.says in one.message
    assert one.severity == (case.severity or CHECKS[case.check].severity)


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_is_silent_where_it_should_be(case: Case) -> None:
    assert case.check not in [one.check for one in found(*case.good)]


def test_every_check_has_a_case() -> None:
    assert {case.check for case in CASES} == set(CHECKS)


def test_the_base_has_no_findings() -> None:
    assert found() == ()


@pytest.mark.parametrize("check", sorted(CHECKS))
def test_every_check_is_explained(check: str) -> None:
    one = CHECKS[check]
    assert one.id == check
    for text in (one.reason, one.fix):
        assert text.endswith("."), text
    assert one.source


def test_the_component_form_uses_every_gpu() -> None:
    """What WS025 offers, taken literally, leaves nothing idle."""
    change = [{"endpoint": {"instance_type": "ml.p4de.24xlarge", "instances": {"min": 2}}}]
    (idle,) = [one for one in found(*change) if one.check == "WS025"]
    assert "copies: {min: 4}" in idle.message
    form = {"components": [{"name": "chat", "accelerators": 4, "copies": {"min": 4}}]}
    assert not {"WS017", "WS018", "WS025"} & {one.check for one in found(*change, form)}
