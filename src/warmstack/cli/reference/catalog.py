"""The page of the catalog: instance types, images and models, each with its source and date."""

from __future__ import annotations

from collections.abc import Iterable

from warmstack.catalog import ModelShape, load_catalog
from warmstack.catalog._data import read_json
from warmstack.cli.reference.markdown import code, page, table
from warmstack.plan.kv import kv_bytes_per_token
from warmstack.plan.parameters import parameter_count
from warmstack.units import GIB, format_bytes, format_count

_INTRODUCTION = """\
Plans are made from these facts. Each has a source and a date; what no source states is "not known", and a plan treats
it as unknown. `warmstack catalog instances`, `warmstack catalog images`, `warmstack catalog models` and
`warmstack catalog flags` print the same, with `--json` in full. Numbers in brackets refer to the list of sources below
each table."""


def catalog_page() -> str:
    """Return the page with the tables of the catalog."""
    return page("Catalog", _INTRODUCTION, _instances(), _images(), _models(), _flags())


class _Notes:
    """Numbers texts in the order in which they are first used."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, text: str) -> str:
        """Return the number of a text in brackets."""
        return f"[{self._numbers.setdefault(text, len(self._numbers) + 1)}]"

    def lines(self) -> Iterable[str]:
        """Return the numbered texts."""
        return (f"{number}. {text}" for text, number in self._numbers.items())


def _section(title: str, file: str, body: str, notes: _Notes | None = None) -> str:
    facts = read_json(file)
    about = f"Source: {facts['source']}. As of {facts['as_of']}."
    parts = [f"## {title}", about, body]
    if notes is not None:
        parts.append("\n".join(notes.lines()))
    return "\n\n".join(parts)


def _instances() -> str:
    notes = _Notes()
    rows = []
    for one in load_catalog().instances.values():
        price = "not known" if one.usd_per_hour is None else f"{one.usd_per_hour:.2f}"
        dated = one.price_basis if one.price_as_of is None else f"{one.price_basis}, {one.price_as_of}"
        rows.append(
            (
                code(one.name),
                str(one.gpu_count),
                one.gpu,
                f"{one.gpu_memory_bytes / GIB:.1f} GiB {notes.mark('GPU memory: ' + one.gpu_memory_basis)}",
                f"{one.memory_bytes // GIB} GiB",
                "not known" if one.nvme_bytes is None else f"{one.nvme_bytes // 10**9} GB",
                f"{price} {notes.mark('price: ' + dated)}",
            )
        )
    headings = ("instance type", ">GPUs", "GPU", ">memory of a GPU", ">RAM", ">NVMe", ">US dollars an hour")
    return _section("Instance types", "instances.json", table(headings, rows), notes)


def _images() -> str:
    notes = _Notes()
    rows = [
        (
            one.server,
            code(one.version),
            one.engine_version or "not known",
            one.cuda or "not known",
            _yes(one.supports_sessions),
            _yes(one.supports_adapters),
            _yes(one.supports_lmcache_auto_config),
            one.inference_ami_version or "the platform's default",
            str(len(one.registries)),
            f"{one.as_of} {notes.mark(one.source)}",
        )
        for one in load_catalog().images
    ]
    headings = (
        "server",
        "`engine.version`",
        "engine inside",
        "CUDA",
        "sessions",
        "adapters",
        "`auto_config`",
        "AMI",
        ">Regions",
        "as of",
    )
    return _section("Images", "images.json", table(headings, rows), notes)


def _models() -> str:
    headings = ("model", ">parameters", ">KV of a token", ">context", ">heads", ">KV heads")
    rows = [_model(shape) for shape in load_catalog().models.values()]
    about = (
        "KV of a token is that of a 16-bit cache on one GPU, without windowed layers. A model that is not here needs "
        "its `config.json`: `model.config` names it."
    )
    return _section("Models", "models.json", f"{about}\n\n{table(headings, rows)}")


def _model(shape: ModelShape) -> tuple[str, ...]:
    known = shape.complete
    return (
        code(shape.id),
        format_count(parameter_count(shape)) if known else f"not known: {shape.incomplete_reason}",
        format_bytes(kv_bytes_per_token(shape)) if known else "not known",
        f"{shape.max_position_embeddings:,}" if shape.max_position_embeddings else "not known",
        str(shape.num_attention_heads),
        str(shape.num_key_value_heads),
    )


def _flags() -> str:
    rows = [
        (code(server), one.version, str(len({flag.name for flag in one.flags.values()})), one.source)
        for server, one in load_catalog().flags.items()
    ]
    headings = ("server", "flags of", ">options", "source")
    intro = "`engine.options` is checked against these flag lists; `warmstack catalog flags SERVER` prints one of them."
    return f"## Engine flags\n\n{intro}\n\n{table(headings, rows)}"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
