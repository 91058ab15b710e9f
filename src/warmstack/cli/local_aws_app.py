"""`warmstack local aws …`: the commands' arguments. What they do is in cli/local_aws.py, imported when one runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from warmstack.cli.local_options import (
    Adapters,
    CacheBlocks,
    Choices,
    Copies,
    Detach,
    Engine,
    Instances,
    KvCache,
    Latencies,
    Limits,
    Model,
    ModelCode,
    Seed,
    WithoutDefects,
)
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
    engine: Engine = "vllm",
    copies: Copies = _ABSENT,
    instances: Instances = _ABSENT,
    model: Model = _ABSENT,
    adapters: Adapters = _NONE,
    kv_cache: KvCache = "256MiB",
    cache_blocks: CacheBlocks = _ABSENT,
    latency: Latencies = _ABSENT,
    limits: Limits = _NONE,
    choices: Choices = _NONE,
    model_code: ModelCode = _ABSENT,
    without_defects: WithoutDefects = _NONE,
    port: Port = DEFAULT_PORT,
    seed: Seed = 0,
    detach: Detach = False,
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
    from warmstack.cli.local_aws import stop_aws

    raise typer.Exit(stop_aws(port))


@aws_app.command("status")
def status(port: Port = DEFAULT_PORT, as_json: AsJson = False) -> None:
    """Show stacks, and what happened to them last. `local status` shows the copies behind them."""
    from warmstack.cli.local_aws import show_stacks

    raise typer.Exit(show_stacks(port, as_json=as_json))


@aws_app.command("env")
def env(
    port: Port = DEFAULT_PORT,
    unset: Annotated[bool, typer.Option("--unset", help="Take them out of the shell again; none has to run.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the variables of a local AWS that runs, for `eval "$(warmstack local aws env)"`."""
    from warmstack.cli.local_aws import print_environment, print_way_back

    if unset:
        raise typer.Exit(print_way_back(as_json=as_json))
    raise typer.Exit(print_environment(port, as_json=as_json))
