"""The commands: arguments in, one call, exit code out. Heavy imports happen inside the command that needs them."""

from __future__ import annotations

import enum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

# The module and the group of commands that are made when they are asked for; a name that is the group's own is the
# whole group, another one is a command of it.
_MADE_LATE = {
    "local": ("warmstack.cli.local_app", "local_app"),
    "chat": ("warmstack.cli.client_app", "client_app"),
    "invoke": ("warmstack.cli.client_app", "client_app"),
    "client-config": ("warmstack.cli.client_app", "client_app"),
    "preflight": ("warmstack.cli.operate_app", "operate_app"),
    "verify": ("warmstack.cli.operate_app", "operate_app"),
    "lint-prompts": ("warmstack.cli.lint_prompts", "lint_prompts_app"),
}


# typer carries its own click; the types of another one would neither fit nor come for free.
class _Root(TyperGroup):
    """The commands, some made when they are asked for: their many options would cost each other command 6 ms."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        return [*super().list_commands(ctx), *_MADE_LATE]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name."""
        if cmd_name not in _MADE_LATE:
            return super().get_command(ctx, cmd_name)
        module, group = _MADE_LATE[cmd_name]
        made = typer.main.get_command(getattr(import_module(module), group))
        made = getattr(made, "commands", {}).get(cmd_name, made)
        made.name = cmd_name
        return made


app = typer.Typer(
    name="warmstack",
    cls=_Root,
    help="One spec file becomes a SageMaker LLM endpoint whose KV cache stays warm.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
catalog_app = typer.Typer(help="List the facts that plans are made from.", no_args_is_help=True)
app.add_typer(catalog_app, name="catalog")
adapter_app = typer.Typer(help="Check LoRA adapters, and pack them for SageMaker.", no_args_is_help=True)
app.add_typer(adapter_app, name="adapter")


class Form(enum.StrEnum):
    """How messages are written."""

    text = "text"
    json = "json"
    github = "github"


class ServerName(enum.StrEnum):
    """The servers."""

    lmi = "lmi"
    vllm = "vllm"
    sglang = "sglang"


Specs = Annotated[list[Path], typer.Argument(metavar="SPEC...", help="Spec files.", show_default=False)]
Strict = Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON for scripts.")]
# The default of an option that may be left out: the reference page wants plain types in annotations.
_ABSENT: Any = None


def _version(wanted: bool) -> None:
    if wanted:
        from warmstack import __version__

        typer.echo(f"warmstack {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """One spec file becomes a SageMaker LLM endpoint whose KV cache stays warm."""


@app.command()
def init(
    name: Annotated[str, typer.Argument(help="The deployment's name.", show_default=False)],
    server: Annotated[ServerName, typer.Option("--server", help="lmi, vllm or sglang.")] = ServerName.lmi,
    model: Annotated[str, typer.Option("--model", help="The model's hub id.")] = "Qwen/Qwen2.5-7B-Instruct",
    instance_type: Annotated[str, typer.Option("--instance-type", help="The instance type.")] = "ml.g5.12xlarge",
    folder: Annotated[Path, typer.Option("--folder", help="Where to write NAME.yaml.")] = Path("specs"),
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Write a first spec, specs/NAME.yaml, with its versions pinned."""
    from warmstack.cli.init import write_spec

    raise typer.Exit(write_spec(name, server.value, model, instance_type, folder, force=force))


@app.command()
def validate(
    specs: Specs,
    form: Annotated[Form, typer.Option("--format", help="text, json, or github annotations.")] = Form.text,
    json: AsJson = False,
    strict: Strict = False,
) -> None:
    """Check spec files: the language, and every check of the plan."""
    from warmstack.cli.validate import validate_specs

    if json and form is Form.github:
        raise typer.BadParameter("--json and --format github exclude each other")
    raise typer.Exit(validate_specs(specs, "json" if json else form.value, strict=strict))


@app.command()
def plan(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="The spec file.", show_default=False)],
    json: AsJson = False,
    strict: Strict = False,
) -> None:
    """Show what fits where, each derived value and why, findings, quotas and cost."""
    from warmstack.cli.plan import show_plan

    raise typer.Exit(show_plan(spec, as_json=json, strict=strict))


@app.command()
def schema() -> None:
    """Write the JSON Schema of the spec language (draft 2020-12)."""
    from warmstack.spec import schema_text

    typer.echo(schema_text(), nl=False)


@app.command()
def render(
    specs: Specs,
    folder: Annotated[Path, typer.Option("--folder", "-o", help="Where to write, a folder for each stack.")] = Path(
        "build"
    ),
    *,
    properties: Annotated[
        bool,
        typer.Option("--serving-properties", help="Also write LMI's serving.properties, to lie beside the weights."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write the build context of every image: a Dockerfile and what it copies."""
    from warmstack.cli.render import render_specs

    raise typer.Exit(render_specs(specs, folder, properties=properties, as_json=as_json))


@app.command()
def explain(
    check: Annotated[str | None, typer.Argument(metavar="[ID]", help="A check's id, such as WS020.")] = None,
    json: AsJson = False,
) -> None:
    """Tell what a check looks for, the way out and the source; without ID, list all checks."""
    from warmstack.cli.explain import explain_check

    raise typer.Exit(explain_check(check, as_json=json))


@catalog_app.command("instances")
def catalog_instances(json: AsJson = False) -> None:
    """GPU instance types: GPUs, memory, NVMe, price and how it is known."""
    from warmstack.cli.catalog import list_instances

    list_instances(as_json=json)


@catalog_app.command("images")
def catalog_images(json: AsJson = False) -> None:
    """Server images: engine version, CUDA, sessions, adapters."""
    from warmstack.cli.catalog import list_images

    list_images(as_json=json)


@catalog_app.command("models")
def catalog_models(json: AsJson = False) -> None:
    """Model shapes: parameters, KV bytes per token."""
    from warmstack.cli.catalog import list_models

    list_models(as_json=json)


@catalog_app.command("flags")
def catalog_flags(
    server: Annotated[ServerName, typer.Argument(help="lmi, vllm or sglang.", show_default=False)],
    json: AsJson = False,
) -> None:
    """The engine flags that engine.options may set on a server."""
    from warmstack.cli.catalog import list_flags

    list_flags(server.value, as_json=json)


@adapter_app.command("pack")
def adapter_pack(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of save_pretrained.", show_default=False)],
    *,
    code: Annotated[Path, typer.Option("--code", help="A file of formatters to pack with it.")] = _ABSENT,
    output: Annotated[Path, typer.Option("--output", "-o", help="The archive, or the folder for it.")] = Path(),
    upload: Annotated[str, typer.Option("--upload", help="Store it in S3: s3://bucket/prefix/.")] = _ABSENT,
    name: Annotated[str, typer.Option("--name", help="The adapter's name, if not the folder's.")] = _ABSENT,
    json: AsJson = False,
) -> None:
    """Pack an adapter for SageMaker: equal files become equal bytes, named by their digest."""
    from warmstack.cli.adapter import PackOrder, pack_folder

    order = PackOrder(folder=folder, code=code, output=output, upload=upload, name=name)
    raise typer.Exit(pack_folder(order, as_json=json))


@adapter_app.command("check")
def adapter_check(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A folder or a .tar.gz.", show_default=False)],
    spec: Annotated[Path, typer.Option("--spec", help="The spec it is to run under.")] = _ABSENT,
    component: Annotated[str, typer.Option("--component", help="The component in the spec.")] = _ABSENT,
    json: AsJson = False,
    strict: Strict = False,
) -> None:
    """Check a LoRA adapter against what the server can load; nothing in it is run."""
    from warmstack.cli.adapter import check

    raise typer.Exit(check(path, spec, component, as_json=json, strict=strict))
