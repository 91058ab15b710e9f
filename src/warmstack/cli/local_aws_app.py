"""`warmstack local aws …`: the commands' arguments. What they do is in cli/local_aws.py, imported when one runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from warmstack.local.defaults import DEFAULT_HOST, DEFAULT_PORT

aws_app = typer.Typer(
    help="An AWS on this machine that `cdk deploy` deploys to, with endpoints that serve.", no_args_is_help=True
)
_ABSENT: Any = None
_NONE: Any = ()
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON for scripts.")]
Port = Annotated[int, typer.Option("--port", "-p", help="The port of the local AWS.", min=1, max=65535)]


@aws_app.command("up")
def up(
    *,
    region: Annotated[str, typer.Option("--region", help="The Region, instead of the environment's.")] = _ABSENT,
    account: Annotated[str, typer.Option("--account", help="The account's number.")] = _ABSENT,
    engine: Annotated[
        str, typer.Option("--engine", metavar="vllm|simulated", help="What computes the answers.")
    ] = "vllm",
    copies: Annotated[
        int, typer.Option("--copies", help="The most copies that start in all: else 2 of vllm, 512 simulated.", min=1)
    ] = _ABSENT,
    instances: Annotated[
        int, typer.Option("--instances", help="The most instances that start in all.", min=1)
    ] = _ABSENT,
    model: Annotated[
        Path, typer.Option("--model", metavar="DIR", help="A model's folder, instead of a small random one.")
    ] = _ABSENT,
    adapters: Annotated[
        list[str], typer.Option("--adapter", metavar="NAME=PATH", help="An adapter's folder or archive.")
    ] = _NONE,
    kv_cache: Annotated[
        str, typer.Option("--kv-cache", metavar="SIZE", help="The KV cache of each copy of vllm.")
    ] = "256MiB",
    cache_blocks: Annotated[
        int, typer.Option("--cache-blocks", help="The prefix cache of each simulated copy, in blocks of 16.", min=1)
    ] = _ABSENT,
    latency: Annotated[
        str,
        typer.Option(
            "--latency",
            metavar="PREFILL:DECODE",
            help="Milliseconds of a simulated copy for 1,000 tokens of prompt, and for a token of the answer.",
        ),
    ] = _ABSENT,
    limits: Annotated[
        list[str], typer.Option("--limit", metavar="NAME=VALUE", help="A limit of the API: `local options` lists them.")
    ] = _NONE,
    choices: Annotated[
        list[str],
        typer.Option(
            "--choice", metavar="NAME=VALUE", help="What SageMaker leaves undocumented: `local options` lists them."
        ),
    ] = _NONE,
    model_code: Annotated[
        Path, typer.Option("--model-code", metavar="DIR", help="LMI's model.py, which lies beside the weights on AWS.")
    ] = _ABSENT,
    without_defects: Annotated[
        list[str],
        typer.Option(
            "--without-defect", metavar="NAME", help="A server's known defect to leave out: `local options` lists them."
        ),
    ] = _NONE,
    port: Port = DEFAULT_PORT,
    seed: Annotated[int, typer.Option("--seed", help="The seed of every random choice.")] = 0,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Return when it serves.")] = False,
    as_json: AsJson = False,
) -> None:
    """Serve a local AWS until Ctrl-C: stacks are kept in memory, and end with it.

    The stock CDK CLI and boto3 need the variables that `local aws env` prints, and nothing else.
    """
    from warmstack.cli.local_aws import serve_aws_here, serve_aws_in_background
    from warmstack.cli.local_order import read_order

    order = read_order(
        source=Path("the local AWS"),
        stack=None,
        parameters=(),
        region=region,
        account=account,
        engine=engine,
        copies=copies,
        instances=instances,
        model=model,
        adapters=adapters,
        kv_cache=kv_cache,
        cache_blocks=cache_blocks,
        latency=latency,
        cut="as-written",
        limits=limits,
        choices=choices,
        model_code=model_code,
        defects=without_defects,
        host=DEFAULT_HOST,
        port=port,
        seed=seed,
    )
    serve = serve_aws_in_background if detach else serve_aws_here
    raise typer.Exit(serve(order, as_json=as_json))


@aws_app.command("down")
def down(port: Port = DEFAULT_PORT) -> None:
    """Stop the local AWS on a port, and forget its stacks. It is no error if none runs there."""
    from warmstack.cli.local import stop_local

    raise typer.Exit(stop_local(port))


@aws_app.command("status")
def status(port: Port = DEFAULT_PORT, as_json: AsJson = False) -> None:
    """Show stacks, and what happened to them last. `local status` shows the copies behind them."""
    from warmstack.cli.local_aws import show_stacks

    raise typer.Exit(show_stacks(port, as_json=as_json))


@aws_app.command("env")
def env(port: Port = DEFAULT_PORT, as_json: AsJson = False) -> None:
    """Print the variables of a local AWS that runs, for `eval "$(warmstack local aws env)"`."""
    from warmstack.cli.local_aws import print_environment

    raise typer.Exit(print_environment(port, as_json=as_json))
