"""Plans that between them use every setting that is rendered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.examples import EXAMPLES
from tests.unit.plan.check_cases.case import ADAPTERS, HERE, component
from tests.unit.plan.check_cases.speculative import drafting
from tests.unit.plan.specs import FILES, SGLANG, VLLM, planned
from warmstack.cli.load import plan_file
from warmstack.plan import ServedModel

Change = dict[str, Any]
LMI: Change = {}
P4DE: Change = {"endpoint": {"instance_type": "ml.p4de.24xlarge"}}
CPU: Change = {"cache": {"tiers": {"cpu": "40%"}}}
DISK: Change = {"cache": {"tiers": {"cpu": "40%", "disk": {"size": "2TiB", "direct_io": True}}}}
ONLY_DISK: Change = {"cache": {"tiers": {"disk": "2TiB"}}}
REDIS: Change = {"cache": {"tiers": {"remote": {"url": "rediss://kv.example.com:6380/1"}}}}
BUCKET: Change = {"cache": {"tiers": {"cpu": "20%", "remote": {"url": "s3://acme-kv/", "region": "eu-west-1"}}}}
BLENDING: Change = {"cache": {"tiers": {"cpu": "40%"}, "lmcache": {"enable_blending": True, "chunk_size": 512}}}
SESSIONS: Change = {"endpoint": {"sessions": {"ttl": "20m"}, "instances": {"min": 2}}}
TEMPLATE: Change = {"model": {"chat_template": "chat.jinja"}, FILES: {"chat.jinja": "x"}}
BUILT: Change = {"image": {"build": "docker"}}

CASES: dict[str, tuple[Change, ...]] = {
    "plain": (),
    "cpu": (CPU,),
    "cpu and disk": (DISK,),
    "disk": (ONLY_DISK,),
    "redis": (REDIS,),
    "bucket": (BUCKET,),
    "blending": (BLENDING,),
    "sessions": (SESSIONS,),
    "chat template": (TEMPLATE,),
    "adapters": (component(adapters=ADAPTERS),),
    "eagle": (drafting("eagle"),),
    "eagle3": (drafting("eagle3", num_speculative_tokens=3),),
    "ngram": (drafting("ngram", num_speculative_tokens=5),),
    "draft model": (drafting("draft_model"),),
    "quantization": ({"model": {"quantization": "fp8", "dtype": "bfloat16"}},),
    "auto config": ({"cache": {"lmcache": {"auto_config": True}}},),
}
SERVERS: dict[str, Change] = {"lmi": LMI, "vllm": VLLM, "sglang": SGLANG}


def served_models() -> dict[str, ServedModel]:
    """Return a served model for each server, case and kind of image; and those of the examples."""
    found: dict[str, ServedModel] = {}
    for server, change in SERVERS.items():
        for name, changes in CASES.items():
            for image in ("none", "docker"):
                plan = planned(HERE, P4DE, change, *changes, {"image": {"build": image}})
                for one in plan.models:
                    found[f"{server}, {name}, {image}"] = one
    for path in EXAMPLES:
        example = plan_file(Path(path)).plan
        assert example is not None
        found |= {f"{path.stem}, {one.component}": one for one in example.models}
    return found
