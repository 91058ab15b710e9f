"""Cases of the checks of the spec as a whole, limits and updates."""

from __future__ import annotations

from tests.unit.plan.check_cases.case import LONG_TAGS, MIRROR, Case, component
from tests.unit.plan.specs import VLLM

CASES = (
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
        bad=[{"acknowledge": {"WS110": "later"}, "image": {"build": "docker"}}],
        good=[{"acknowledge": {"WS004": "later"}, "engine": {"version": None}}],
        path=("acknowledge", "WS110"),
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
        check="WS006",
        label="a base without a target",
        bad=[MIRROR],
        good=[MIRROR, {"target": {"account": "111122223333", "region": "us-east-1"}}],
        path=("image", "base"),
        says="another Region",
        severity="warning",
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
        check="WS015",
        label="long names need more parameters",
        bad=[
            component(adapters=[{"name": f"{'a' * 36}{i:03}", "artifact": "s3://acme/t/a.tar.gz"} for i in range(492)])
        ],
        good=[
            component(adapters=[{"name": f"{'a' * 36}{i:03}", "artifact": "s3://acme/t/a.tar.gz"} for i in range(489)])
        ],
        path=("components",),
        says="CloudFormation takes 500",
    ),
    Case(
        check="WS015",
        label="tags fill the template",
        bad=[
            LONG_TAGS,
            component(adapters=[{"name": f"a{i}", "artifact": "s3://acme/t/a.tar.gz"} for i in range(300)]),
        ],
        good=[
            LONG_TAGS,
            component(adapters=[{"name": f"a{i}", "artifact": "s3://acme/t/a.tar.gz"} for i in range(100)]),
        ],
        path=("tags",),
        says="1,048,576",
    ),
)
