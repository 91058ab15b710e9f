"""`warmstack verify|preflight`: the commands' arguments. What they do is imported when a command runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from warmstack.local.defaults import DEFAULT_PORT

operate_app = typer.Typer(no_args_is_help=True, add_completion=False)
_ABSENT: Any = None
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON for scripts.")]
Region = Annotated[str, typer.Option("--region", help="The Region, instead of the environment's.")]
LocalPort = Annotated[int, typer.Option("--port", "-p", help="The port of the local one.", min=1, max=65535)]
Profile = Annotated[str, typer.Option("--profile", help="A profile of the AWS configuration.")]


@operate_app.command("preflight")
def preflight(
    specs: Annotated[list[Path], typer.Argument(metavar="SPEC...", help="Spec files.", show_default=False)],
    *,
    region: Region = _ABSENT,
    profile: Profile = _ABSENT,
    endpoint_url: Annotated[
        str, typer.Option("--endpoint-url", metavar="URL", help="One address for all of AWS, such as a local one.")
    ] = _ABSENT,
    local: Annotated[bool, typer.Option("--local", help="The local AWS: no credentials needed.")] = False,
    port: Annotated[
        int, typer.Option("--port", "-p", help="The port of the local AWS.", min=1, max=65535)
    ] = DEFAULT_PORT,
    strict: Annotated[
        bool, typer.Option("--strict", help="Warnings, and what could not be seen, count as errors.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look for what a deploy will need: quotas, images, weights, adapters, secrets, the right account.

    It reads, and changes nothing. What the credentials may not see is said with the permission that it takes, and is no
    failure.
    """
    from warmstack.cli.client_output import errors_for_scripts
    from warmstack.cli.client_target import refuse_empty
    from warmstack.cli.preflight import PreflightOptions, run_preflight

    with errors_for_scripts(as_json=as_json):
        refuse_empty({"--region": region, "--profile": profile, "--endpoint-url": endpoint_url})
        where = port if local else None
        options = PreflightOptions(region=region, profile=profile, endpoint_url=endpoint_url, port=where, strict=strict)
        code = run_preflight(specs, options, as_json=as_json)
    raise typer.Exit(code)


@operate_app.command("verify")
def verify(
    target: Annotated[
        str, typer.Argument(metavar="[TARGET]", help="An endpoint's name, or a JSON file of a deploy's outputs.")
    ] = _ABSENT,
    *,
    stack: Annotated[
        str, typer.Option("--stack", help="A deployed stack, instead of TARGET; or the one in the file or assembly.")
    ] = _ABSENT,
    assembly: Annotated[
        str, typer.Option("--assembly", metavar="PATH", help="What it is to be: a cdk.out or a template.")
    ] = _ABSENT,
    region: Region = _ABSENT,
    profile: Profile = _ABSENT,
    endpoint_url: Annotated[
        str, typer.Option("--endpoint-url", metavar="URL", help="The address of SageMaker and its runtime.")
    ] = _ABSENT,
    local: Annotated[bool, typer.Option("--local", help="The local endpoint or AWS: no credentials needed.")] = False,
    port: LocalPort = DEFAULT_PORT,
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="TIME", help="How long to wait until all is there, such as 90s.")
    ] = "20m",
    no_canary: Annotated[bool, typer.Option("--no-canary", help="Send nothing that generates.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Warnings, and what could not be seen, count as failures.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look whether a deploy has made what it should; exit code 1 says that something is wrong.

    The endpoint is in service and runs the configuration and the models that are defined, components have their copies,
    each of them answers, sessions hold, and prefixes find their cache.
    """
    from warmstack.cli.client_output import errors_for_scripts
    from warmstack.cli.client_target import TargetOrder, refuse_empty
    from warmstack.cli.verify import VerifyOptions, run_verify

    path: str | None = assembly
    named = {"--stack": stack, "--assembly": path, "--region": region, "--profile": profile}
    with errors_for_scripts(as_json=as_json):
        refuse_empty({"TARGET": target, **named, "--endpoint-url": endpoint_url})
        where = TargetOrder(target, stack, None, None, region, profile, endpoint_url, port if local else None)
        definition = None if path is None else Path(path)
        options = VerifyOptions(assembly=definition, timeout=timeout, canary=not no_canary, strict=strict)
        code = run_verify(where, options, as_json=as_json)
    raise typer.Exit(code)
