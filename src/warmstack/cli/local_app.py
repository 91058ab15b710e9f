"""`warmstack local …`: the commands' arguments. What they do is in cli/local*.py, imported when a command runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from warmstack.cli.local_aws_app import aws_app
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

local_app = typer.Typer(
    help="Serve a synthesized template on this machine, as SageMaker's runtime would.", no_args_is_help=True
)
local_app.add_typer(aws_app, name="aws")
_ABSENT: Any = None
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON for scripts.")]
Port = Annotated[int, typer.Option("--port", "-p", help="The port of the local endpoint.", min=1, max=65535)]
# Lists are made anew for each call: typer only reads these.
_NONE: Any = ()


@local_app.command("up")
def up(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="A cloud assembly, or a template: JSON or YAML.")
    ] = Path("cdk.out"),
    *,
    stack: Annotated[str, typer.Option("--stack", help="Serve this stack only.")] = _ABSENT,
    parameters: Annotated[
        list[str], typer.Option("--parameter", metavar="NAME=VALUE", help="A parameter of the template.")
    ] = _NONE,
    region: Annotated[str, typer.Option("--region", help="The Region, instead of the assembly's.")] = _ABSENT,
    account: Annotated[str, typer.Option("--account", help="The account, instead of the assembly's.")] = _ABSENT,
    engine: Engine = "vllm",
    copies: Copies = _ABSENT,
    instances: Instances = _ABSENT,
    model: Model = _ABSENT,
    adapters: Adapters = _NONE,
    kv_cache: KvCache = "256MiB",
    cache_blocks: CacheBlocks = _ABSENT,
    latency: Latencies = _ABSENT,
    cut: Annotated[
        str,
        typer.Option("--cut", metavar="as-written|every-byte|random", help="Where streamed answers are cut in parts."),
    ] = "as-written",
    limits: Limits = _NONE,
    choices: Choices = _NONE,
    model_code: ModelCode = _ABSENT,
    without_defects: WithoutDefects = _NONE,
    host: Annotated[
        str,
        typer.Option("--host", help="The address to listen on; others than the loopback are open to all."),
    ] = DEFAULT_HOST,
    port: Port = DEFAULT_PORT,
    seed: Seed = 0,
    outputs_file: Annotated[
        Path, typer.Option("--outputs-file", "-O", help="Write the stacks' outputs, as cdk deploy does.")
    ] = _ABSENT,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would start.")] = False,
    detach: Detach = False,
    as_json: AsJson = False,
) -> None:
    """Serve the endpoints of a template until Ctrl-C.

    Clients need no change but the address: AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME and AWS_ENDPOINT_URL_SAGEMAKER.
    """
    from warmstack.cli.local_order import read_order
    from warmstack.cli.local_up import serve_here, serve_in_background, show_plan

    order = read_order(
        source=source,
        stack=stack,
        parameters=parameters,
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
        cut=cut,
        limits=limits,
        choices=choices,
        model_code=model_code,
        defects=without_defects,
        host=host,
        port=port,
        seed=seed,
        outputs_file=outputs_file,
    )
    if dry_run:
        raise typer.Exit(show_plan(order, as_json=as_json))
    if detach:
        raise typer.Exit(serve_in_background(order, as_json=as_json))
    raise typer.Exit(serve_here(order, as_json=as_json))


@local_app.command("down")
def down(port: Port = DEFAULT_PORT) -> None:
    """Stop the local endpoint on a port. It is no error if none runs there."""
    from warmstack.cli.local import stop_local

    raise typer.Exit(stop_local(port))


@local_app.command("status")
def status(port: Port = DEFAULT_PORT, as_json: AsJson = False) -> None:
    """Show endpoints, instances, copies, sessions, hit rates, and why requests went where they went."""
    from warmstack.cli.local import show_status

    raise typer.Exit(show_status(port, as_json=as_json))


@local_app.command("fault")
def fault(
    name: Annotated[str, typer.Argument(metavar="FAULT", help="What: `local options` lists them.", show_default=False)],
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="A copy, component, session, instance or endpoint, or its start.", show_default=False
        ),
    ],
    *,
    seconds: Annotated[float, typer.Option("--seconds", help="How slow, for slow.")] = 1.0,
    pieces: Annotated[int, typer.Option("--pieces", help="After how many pieces, for cut.")] = 1,
    times: Annotated[
        int, typer.Option("--times", help="How many answers, for cut and unavailable; else all.", min=1)
    ] = _ABSENT,
    port: Port = DEFAULT_PORT,
) -> None:
    """Put a fault on a copy, component, session, instance or endpoint, and see what clients make of it."""
    from warmstack.cli.local import put_fault

    raise typer.Exit(put_fault(port, name, target, seconds=seconds, pieces=pieces, times=times))


@local_app.command("options")
def options(as_json: AsJson = False) -> None:
    """List limits, choices for what SageMaker leaves undocumented, and faults."""
    from warmstack.cli.local import list_options

    raise typer.Exit(list_options(as_json=as_json))


@local_app.command("install")
def install(
    *, check: Annotated[bool, typer.Option("--check", help="Only say whether it is installed.")] = False
) -> None:
    """Install vLLM for the CPU and LMCache, in an environment of their own (2.3 GB, x86-64 Linux, Python 3.11)."""
    from warmstack.cli.local_install import install_engines

    raise typer.Exit(install_engines(check_only=check))
