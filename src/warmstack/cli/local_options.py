"""Options that `local up` and `local aws up` have alike: how copies run, whatever they are started from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Engine = Annotated[str, typer.Option("--engine", metavar="vllm|simulated", help="What computes the answers.")]
Copies = Annotated[
    int, typer.Option("--copies", help="The most copies that start in all: else 2 of vllm, 512 simulated.", min=1)
]
Instances = Annotated[int, typer.Option("--instances", help="The most instances that start in all.", min=1)]
Model = Annotated[Path, typer.Option("--model", metavar="DIR", help="A model's folder, instead of a small random one.")]
Adapters = Annotated[list[str], typer.Option("--adapter", metavar="NAME=PATH", help="An adapter's folder or archive.")]
KvCache = Annotated[str, typer.Option("--kv-cache", metavar="SIZE", help="The KV cache of each copy of vllm.")]
CacheBlocks = Annotated[
    int, typer.Option("--cache-blocks", help="The prefix cache of each simulated copy, in blocks of 16.", min=1)
]
Latencies = Annotated[
    str,
    typer.Option(
        "--latency",
        metavar="PREFILL:DECODE",
        help="Milliseconds of a simulated copy for 1,000 tokens of prompt, and for a token of the answer.",
    ),
]
Limits = Annotated[
    list[str], typer.Option("--limit", metavar="NAME=VALUE", help="A limit of the API: `local options` lists them.")
]
Choices = Annotated[
    list[str],
    typer.Option(
        "--choice", metavar="NAME=VALUE", help="What SageMaker leaves undocumented: `local options` lists them."
    ),
]
ModelCode = Annotated[
    Path, typer.Option("--model-code", metavar="DIR", help="LMI's model.py, which lies beside the weights on AWS.")
]
WithoutDefects = Annotated[
    list[str],
    typer.Option(
        "--without-defect", metavar="NAME", help="A server's known defect to leave out: `local options` lists them."
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="The seed of every random choice.")]
Detach = Annotated[bool, typer.Option("--detach", "-d", help="Return when it serves.")]
