"""`warmstack catalog`."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from warmstack.catalog import ModelShape, load_catalog
from warmstack.cli.console import console, print_json
from warmstack.plan.kv import kv_bytes_per_token
from warmstack.plan.parameters import parameter_count
from warmstack.units import GIB, format_bytes, format_count


def list_instances(*, as_json: bool) -> None:
    """Print the instance types."""
    rows = [
        {
            "instance_type": one.name,
            "gpus": one.gpu_count,
            "gpu": one.gpu,
            "gpu_memory_bytes": one.gpu_memory_bytes,
            "gpu_memory_basis": one.gpu_memory_basis,
            "vcpus": one.vcpus,
            "memory_bytes": one.memory_bytes,
            "nvme_bytes": one.nvme_bytes,
            "usd_per_hour": one.usd_per_hour,
            "price_basis": one.price_basis,
            "price_as_of": one.price_as_of,
        }
        for one in load_catalog().instances.values()
    ]
    if as_json:
        print_json(rows)
        return
    bases = list(dict.fromkeys(one.price_basis for one in load_catalog().instances.values()))
    table = _table("instance type", ">GPUs", "GPU", ">GPU memory", ">RAM", ">NVMe", ">$/h", "price basis")
    for one in load_catalog().instances.values():
        table.add_row(
            one.name,
            str(one.gpu_count),
            one.gpu,
            f"{one.gpu_memory_bytes / GIB:.1f} GiB",
            f"{one.memory_bytes // GIB} GiB",
            "not known" if one.nvme_bytes is None else f"{one.nvme_bytes / 1e9:.0f} GB",
            "not known" if one.usd_per_hour is None else f"{one.usd_per_hour:.2f}",
            escape(f"[{bases.index(one.price_basis) + 1}] {one.price_as_of or ''}".strip()),
        )
    out = console(140)
    out.print(table)
    for number, basis in enumerate(bases, 1):
        out.print(Text(f"[{number}] {basis}"))


def list_images(*, as_json: bool) -> None:
    """Print the server images, each server's newest first."""
    images = load_catalog().images
    if as_json:
        print_json(
            [
                {
                    "server": one.server,
                    "version": one.version,
                    "repository": one.repository,
                    "tag": one.tag,
                    "engine_version": one.engine_version,
                    "cuda": one.cuda,
                    "sessions": one.supports_sessions,
                    "adapters": one.supports_adapters,
                    "lmcache_auto_config": one.supports_lmcache_auto_config,
                    "false_booleans": one.renders_false_booleans,
                    "inference_ami_version": one.inference_ami_version,
                    "regions": sorted(one.registries),
                    "notes": list(one.notes),
                    "source": one.source,
                    "as_of": one.as_of,
                }
                for one in images
            ]
        )
        return
    table = _table("server", "engine.version", "engine inside", "CUDA", "sessions", "adapters", "AMI", ">Regions")
    for one in images:
        table.add_row(
            one.server,
            one.version,
            one.engine_version or "not known",
            one.cuda or "not known",
            "yes" if one.supports_sessions else "no",
            "yes" if one.supports_adapters else "no",
            one.inference_ami_version or "default",
            str(len(one.registries)),
        )
    console(150).print(table)


def list_models(*, as_json: bool) -> None:
    """Print the model shapes that the catalog holds."""
    models = load_catalog().models.values()
    if as_json:
        print_json([_model_row(shape) for shape in models])
        return
    table = _table("model", ">parameters", ">KV per token", ">context", ">heads", ">KV heads")
    for shape in models:
        table.add_row(
            shape.id,
            format_count(parameter_count(shape)) if shape.complete else "not known",
            format_bytes(kv_bytes_per_token(shape)) if shape.complete else "not known",
            str(shape.max_position_embeddings or "not known"),
            str(shape.num_attention_heads),
            str(shape.num_key_value_heads),
        )
    console(140).print(table)


def _model_row(shape: ModelShape) -> dict[str, object]:
    return {
        "id": shape.id,
        "parameter_count": parameter_count(shape) if shape.complete else None,
        "kv_bytes_per_token": kv_bytes_per_token(shape) if shape.complete else None,
        "max_position_embeddings": shape.max_position_embeddings,
        "num_attention_heads": shape.num_attention_heads,
        "num_key_value_heads": shape.num_key_value_heads,
        "complete": shape.complete,
        "incomplete_reason": shape.incomplete_reason,
        "source": shape.source,
    }


def list_flags(server: str, *, as_json: bool) -> None:
    """Print the engine flags of a server."""
    table_of = load_catalog().flags[server]
    own = [flag for name, flag in table_of.flags.items() if name == flag.name]
    if as_json:
        print_json(
            {
                "server": server,
                "version": table_of.version,
                "source": table_of.source,
                "flags": [{"name": one.name, "kind": one.kind, "choices": list(one.choices)} for one in own],
                "removed": dict(table_of.removed),
            }
        )
        return
    table = _table("option", "kind")
    table.add_column("choices", overflow="fold")
    for one in own:
        table.add_row(one.name, one.kind, ", ".join(one.choices))
    out = console()
    out.print(f"{server}: flags of {table_of.version}")
    out.print(table)


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name.removeprefix(">"), justify="right" if name.startswith(">") else "left", no_wrap=True)
    return table
