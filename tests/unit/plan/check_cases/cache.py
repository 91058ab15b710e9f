"""Cases of the checks of the tiers."""

from __future__ import annotations

from tests.unit.plan.check_cases.case import HERE, Case, Change, options
from tests.unit.plan.specs import SGLANG, VLLM

BUCKET: Change = {"cache": {"tiers": {"remote": {"url": "s3://acme-kv/", "region": "us-west-2"}}}}
DEEPSEEK: Change = {
    "model": {"id": "deepseek-ai/DeepSeek-V3"},
    "endpoint": {"instance_type": "ml.p5en.48xlarge"},
}

CASES = (
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
        good=[SGLANG, {"cache": {"tiers": {"cpu": "60%", "disk": "1TiB"}}}],
        path=("cache", "tiers", "disk"),
        says="sglang",
    ),
    Case(
        check="WS043",
        label="remote",
        bad=[SGLANG, BUCKET],
        good=[VLLM, BUCKET],
        path=("cache", "tiers", "remote"),
        says="LMCache's",
    ),
    Case(
        check="WS120",
        bad=[BUCKET, {"endpoint": {"network_isolation": True}}],
        good=[BUCKET],
        path=("cache", "tiers", "remote"),
        says="s3://acme-kv/",
    ),
    Case(
        check="WS121",
        bad=[{"cache": {"tiers": {"remote": {"url": "s3://acme-kv/"}}}}],
        good=[{"cache": {"tiers": {"remote": {"url": "s3://acme-kv/"}}}}, HERE],
        path=("cache", "tiers", "remote"),
        says="Region",
    ),
    Case(
        check="WS122",
        bad=[{"cache": {"tiers": {"cpu": "60%"}}}],
        good=[{"cache": {"tiers": {"cpu": "60%"}, "lmcache": {"enable_blending": True}}}],
        path=("cache",),
        says="prefixes",
    ),
    Case(
        check="WS123",
        bad=[{"cache": {"tiers": {"cpu": "60%"}, "lmcache": {"enable_blending": True}}}],
        good=[{"cache": {"tiers": {"cpu": "60%"}}}],
        path=("cache", "lmcache", "enable_blending"),
        says="untried",
    ),
    Case(
        check="WS124",
        bad=[BUCKET, {"cache": {"lmcache": {"enable_blending": True}}}],
        good=[{"cache": {"tiers": {"cpu": "60%"}, "lmcache": {"enable_blending": True}}}],
        path=("cache", "lmcache", "enable_blending"),
        says="save_unfull_chunk",
    ),
    Case(
        check="WS124",
        label="latent attention",
        bad=[VLLM, DEEPSEEK, {"cache": {"tiers": {"cpu": "60%"}, "lmcache": {"enable_blending": True}}}],
        good=[VLLM, DEEPSEEK, {"cache": {"tiers": {"cpu": "60%"}}}],
        path=("cache", "lmcache", "enable_blending"),
        says="latent attention",
    ),
    Case(
        check="WS125",
        bad=[{"cache": {"tiers": {"remote": {"url": "redis://kv.acme.internal:6379"}}}}],
        good=[BUCKET],
        path=("cache", "tiers", "remote", "url"),
        says="public addresses",
    ),
    Case(
        check="WS126",
        bad=[SGLANG, {"cache": {"tiers": {"cpu": "60%", "disk": "1TiB"}}}],
        good=[SGLANG, {"cache": {"tiers": {"cpu": "60%"}}}],
        path=("cache", "tiers", "disk"),
        says="/tmp/hicache",
    ),
    Case(
        check="WS047",
        label="blending without a tier",
        bad=[{"cache": {"lmcache": {"enable_blending": True}}}],
        good=[{"cache": {"tiers": {"cpu": "60%"}, "lmcache": {"enable_blending": True}}}],
        path=("cache", "lmcache", "enable_blending"),
        says="no tier",
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
)
