"""`warmstack chat|invoke|client-config`: the commands' arguments. What they do is imported when a command runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from warmstack.local.defaults import DEFAULT_PORT

client_app = typer.Typer(no_args_is_help=True)
_ABSENT: Any = None
TargetName = Annotated[
    str, typer.Argument(metavar="[TARGET]", help="An endpoint's name, or a JSON file of a deploy's outputs.")
]
Stack = Annotated[str, typer.Option("--stack", help="A deployed stack, instead of TARGET; or the stack in the file.")]
Component = Annotated[str, typer.Option("--component", help="A component: its name in the spec, or its physical name.")]
Adapter = Annotated[str, typer.Option("--adapter", help="An adapter of the component, by its name in the spec.")]
Region = Annotated[str, typer.Option("--region", help="The Region, instead of the environment's.")]
Profile = Annotated[str, typer.Option("--profile", help="A profile of the AWS configuration.")]
Url = Annotated[str, typer.Option("--endpoint-url", metavar="URL", help="The runtime's address, instead of AWS's.")]
Local = Annotated[bool, typer.Option("--local", help="The local endpoint: no credentials needed.")]
Port = Annotated[int, typer.Option("--port", "-p", help="The port of the local endpoint.", min=1, max=65535)]
MaxTokens = Annotated[int, typer.Option("--max-tokens", help="The most tokens of an answer.", min=1)]
Temperature = Annotated[float, typer.Option("--temperature", help="0 for the likeliest tokens.", min=0)]
System = Annotated[str, typer.Option("--system", help="A system message; @FILE reads it from a file.")]
Message = Annotated[str, typer.Argument(metavar="[MESSAGE]", help="The user's message; @FILE or - reads it.")]
Prompt = Annotated[str, typer.Option("--prompt", help="A text to be continued; @FILE reads it from a file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON for scripts.")]


@client_app.command("chat")
def chat(
    target: TargetName = _ABSENT,
    *,
    stack: Stack = _ABSENT,
    component: Component = _ABSENT,
    adapter: Adapter = _ABSENT,
    region: Region = _ABSENT,
    profile: Profile = _ABSENT,
    endpoint_url: Url = _ABSENT,
    local: Local = False,
    port: Port = DEFAULT_PORT,
    system: System = _ABSENT,
    max_tokens: MaxTokens = _ABSENT,
    temperature: Temperature = _ABSENT,
    ttl: Annotated[float, typer.Option("--ttl", help="Renew the session after so many seconds at most.")] = _ABSENT,
    no_session: Annotated[bool, typer.Option("--no-session", help="Open no session.")] = False,
    as_json: AsJson = False,
) -> None:
    """Chat with an endpoint on a session: answers as they come, cached tokens and TTFT of each turn.

    A line is a turn. /reset forgets the turns, /quit or Ctrl-D ends; Ctrl-C stops an answer. Lines can also come from
    a pipe.
    """
    from warmstack.cli.chat import ChatOrder, run_chat
    from warmstack.cli.client_target import TargetOrder

    where = TargetOrder(target, stack, component, adapter, region, profile, endpoint_url, port if local else None)
    order = ChatOrder(system=system, max_tokens=max_tokens, temperature=temperature, ttl=ttl, session=not no_session)
    raise typer.Exit(run_chat(where, order, as_json=as_json))


@client_app.command("invoke")
def invoke(
    target: TargetName = _ABSENT,
    message: Message = _ABSENT,
    *,
    stack: Stack = _ABSENT,
    component: Component = _ABSENT,
    adapter: Adapter = _ABSENT,
    region: Region = _ABSENT,
    profile: Profile = _ABSENT,
    endpoint_url: Url = _ABSENT,
    local: Local = False,
    port: Port = DEFAULT_PORT,
    prompt: Prompt = _ABSENT,
    body: Annotated[Path, typer.Option("--body", help="A whole request as JSON; - reads it.")] = _ABSENT,
    verbatim: Annotated[bool, typer.Option("--verbatim", help="Send the body's bytes as they are.")] = False,
    system: System = _ABSENT,
    max_tokens: MaxTokens = _ABSENT,
    temperature: Temperature = _ABSENT,
    stream: Annotated[bool, typer.Option("--stream", help="Write the answer as it comes.")] = False,
    session_id: Annotated[str, typer.Option("--session-id", help="A session that is open.")] = _ABSENT,
    prefix_aware_id: Annotated[str, typer.Option("--prefix-aware-id", help="PrefixAwareId.")] = _ABSENT,
    as_json: AsJson = False,
) -> None:
    """Send one request, and write the answer's text, for scripts; a whole body is answered as it is."""
    from warmstack.cli.client_target import TargetOrder
    from warmstack.cli.invoke import InvokeOrder, run_invoke

    where = TargetOrder(target, stack, component, adapter, region, profile, endpoint_url, port if local else None)
    order = InvokeOrder(
        message=message,
        prompt=prompt,
        body=body,
        verbatim=verbatim,
        system=system,
        max_tokens=max_tokens,
        temperature=temperature,
        stream=stream,
        session_id=session_id,
        prefix_aware_id=prefix_aware_id,
    )
    raise typer.Exit(run_invoke(where, order, as_json=as_json))


@client_app.command("client-config")
def client_config(
    target: TargetName = _ABSENT,
    *,
    stack: Stack = _ABSENT,
    component: Component = _ABSENT,
    adapter: Adapter = _ABSENT,
    region: Region = _ABSENT,
    profile: Profile = _ABSENT,
    endpoint_url: Url = _ABSENT,
    local: Local = False,
    port: Port = DEFAULT_PORT,
    only: Annotated[str, typer.Option("--for", metavar="CLIENT", help="One client; all of them by default.")] = _ABSENT,
    as_json: AsJson = False,
) -> None:
    """Write ready settings for LiteLLM, LangChain, OpenAI and boto3, and what each of them sends before the prompt."""
    from warmstack.cli.client_config import show_config
    from warmstack.cli.client_target import TargetOrder

    where = TargetOrder(target, stack, component, adapter, region, profile, endpoint_url, port if local else None)
    raise typer.Exit(show_config(where, only, as_json=as_json))
