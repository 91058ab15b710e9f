"""Cases of the checks of what fits."""

from __future__ import annotations

from tests.unit.plan.check_cases.case import P4DE, SESSIONS, TWO, Case, component, options, routing
from tests.unit.plan.specs import SGLANG, VLLM

CASES = (
    Case(
        check="WS017",
        bad=[component(copies={"min": 2}), routing(strategy="RANDOM"), TWO],
        good=[component(copies={"min": 5}), routing(strategy="RANDOM"), TWO],
        path=("endpoint", "instances", "min"),
        says="at their maximum need 1",
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
        check="WS025",
        label="with data parallel ranks",
        bad=[VLLM, P4DE, {"engine": {"tensor_parallel_degree": 2}}, options(data_parallel_size=2)],
        good=[
            VLLM,
            P4DE,
            component(accelerators=4, copies={"min": 2}),
            {"engine": {"tensor_parallel_degree": 2}},
            options(data_parallel_size=2),
        ],
        path=("engine", "tensor_parallel_degree"),
        says="accelerators: 4, copies: {min: 2}",
    ),
    Case(
        check="WS025",
        label="sessions keep one worker",
        bad=[P4DE, SESSIONS, TWO],
        good=[{"endpoint": {"instance_type": "ml.g5.12xlarge"}}, SESSIONS, TWO],
        path=("engine", "tensor_parallel_degree"),
        says="they stay idle; an instance type with 4 GPUs",
    ),
    Case(
        check="WS028",
        label="ranks",
        bad=[VLLM, component(), {"engine": {"tensor_parallel_degree": 4}}, options(data_parallel_size=2)],
        good=[VLLM, component(), {"engine": {"tensor_parallel_degree": 2}}, options(data_parallel_size=2)],
        path=("components", 0, "engine", "tensor_parallel_degree"),
        says="4 x 2 data parallel ranks is 8",
    ),
    Case(
        check="WS031",
        label="LMI's workers",
        bad=[{"engine": {"tensor_parallel_degree": 2}}, options(data_parallel_size=2)],
        good=[{"engine": {"tensor_parallel_degree": 2}}, options(data_parallel_size=2), SESSIONS, TWO],
        path=("engine", "options"),
        says="each would",
    ),
    Case(
        check="WS031",
        label="SGLang's attention ranks lie inside the degree",
        bad=[SGLANG, options(dp_size=3, enable_dp_attention=True)],
        good=[SGLANG, options(dp_size=4, enable_dp_attention=True)],
        path=("engine", "options", "dp_size"),
        says="must divide tensor_parallel_degree, 4",
    ),
)
