"""The script that makes the flag tables, on small sources with every form that the real ones use."""

from __future__ import annotations

import ast
import zipfile
from pathlib import Path
from typing import Any

import pytest

import refresh_flags

FIELDS = '''
import argparse
NAMES = ["one", "two"]

class Memory(Base):
    """Namespace."""
    plain: A[int, "Help."] = 1
    wordy: A[Optional[float], "Help in " "two parts."] = None
    switch: A[bool, "Help."] = False
    both: A[bool, Arg(help="x", action=argparse.BooleanOptionalAction)] = True
    named: A[str, Arg(help="x", choices=NAMES, aliases=["--other-name"])] = "one"
    literal: A[Optional[Literal["a", "b"]], Arg(help="x")] = None
    many: A[Optional[List[str]], Arg(help="x", nargs="*")] = None
    parsed: A[Optional[Dict[str, Any]], Arg(help="x", type_parser=json.loads)] = None
    readable: A[Optional[int], Arg(help="x", type_parser=human_readable_int)] = None
    renamed: A[str, Arg(help="x", cli_name="--called-this")] = "x"
    hidden: A[int, Arg(no_cli=True)] = 0
    runtime: A[int, Derived(doc="x")]
    _private = 3
'''
ARGUMENTS = """
class ServerArgs:
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--reasoning-parser", type=str, choices=["auto"] + names())
        parser.add_argument("--old-switch", action=DeprecatedStoreTrueAction, new_flag="--new")
        parser.add_argument("--plain", type=str)
"""


def _wheel(folder: Path) -> Path:
    wheel = folder / "sglang-9.9.9-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("sglang/srt/arg_groups/fields/memory.py", FIELDS)
        archive.writestr("sglang/srt/server_args.py", ARGUMENTS)
        archive.writestr("sglang/srt/arg_groups/choices.py", 'BUILT = frozenset({"b", "a"})\nUSED = set(BUILT)\n')
        archive.writestr("sglang/srt/parser/reasoning_parser_names.py", 'REASONING_PARSER_NAMES = ["qwen3"]\n')
        archive.writestr("sglang/srt/function_call/parser_names.py", 'TOOL_CALL_PARSER_NAMES = ["hermes"]\n')
    return wheel


def test_every_form_of_a_declaration(tmp_path: Path) -> None:
    document = refresh_flags.sglang_document(_wheel(tmp_path), as_of="2026-01-01")
    assert document["version"] == "SGLang 9.9.9"
    assert document["flags"] == {
        "both": {"kind": "bool", "has_no_form": True},
        "called_this": {"kind": "str"},
        "literal": {"kind": "str", "choices": ["a", "b"]},
        "many": {"kind": "str", "repeated": True},
        "named": {"kind": "str", "choices": ["one", "two"], "aliases": ["other_name"]},
        "old_switch": {"kind": "bool"},
        "parsed": {"kind": "json"},
        # What a call adds does not replace what a field declares.
        "plain": {"kind": "int"},
        "readable": {"kind": "int"},
        "reasoning_parser": {"kind": "str", "choices": ["auto", "qwen3"]},
        "switch": {"kind": "bool"},
        "wordy": {"kind": "float"},
    }


def test_a_field_declared_twice_stops_the_script(tmp_path: Path) -> None:
    wheel = _wheel(tmp_path)
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("sglang/srt/arg_groups/fields/zz.py", 'class Z(B):\n    plain: A[int, "x"] = 1\n')
    with pytest.raises(SystemExit, match="plain is declared twice"):
        refresh_flags.sglang_document(wheel, as_of="2026-01-01")


def test_sets_of_names_come_sorted() -> None:
    assert refresh_flags.constants('A = frozenset({"b", "a"})\nB = set(A)\nC = 3\n') == {
        "A": ["a", "b"],
        "B": ["a", "b"],
    }


ENGINE = """
class EngineArgs:
    model: str = "x"
    max_loras: int | None = None
    hf_overrides: HfOverrides = None
    location: str | dict[str, str] = "cpu"
    speculative_config: SpeculativeConfig | None = None
    enable_x: bool = False
    method = 3
"""


def _action(dest: str, **more: Any) -> dict[str, Any]:
    return {"dest": dest, "action": "StoreAction", **more}


def test_vllm_types_come_from_the_annotation_where_argparse_hides_them() -> None:
    document = refresh_flags.vllm_document(
        {
            "-h": {"dest": "help", "action": "HelpAction"},
            "--model": _action("model", type="str"),
            "--max-loras": _action("max_loras", type="_optional_type"),
            "--hf-overrides": _action("hf_overrides", type="union_dict_and_str"),
            "--location": _action("location", type="union_dict_and_str"),
            "--speculative-config": _action("speculative_config", type="_optional_type", aliases=["-sc"]),
            "--enable-x": {
                "dest": "enable_x",
                "action": "BooleanOptionalAction",
                "aliases": ["--no-enable-x"],
            },
            "--api-key": _action("api_key", type="_optional_type", nargs="+"),
        },
        ENGINE,
        version="9.9.9",
        as_of="2026-01-01",
    )
    assert document["flags"] == {
        "api_key": {"kind": "str", "repeated": True},
        "enable_x": {"kind": "bool", "has_no_form": True},
        "hf_overrides": {"kind": "json"},
        "location": {"kind": "str"},
        "max_loras": {"kind": "int"},
        "model": {"kind": "str"},
        "speculative_config": {"kind": "json"},
    }
    assert document["front_end"] == ["api_key"]


def test_a_removed_name_that_comes_back_is_not_called_removed() -> None:
    source = "class EngineArgs:\n    task: str = 'x'\n"
    document = refresh_flags.vllm_document(
        {"--task": _action("task", type="str")}, source, version="9.9.9", as_of="2026-01-01"
    )
    assert "task" not in document["removed"]
    assert "swap_space" in document["removed"]


def test_a_vllm_without_engine_arguments_stops_the_script() -> None:
    with pytest.raises(SystemExit, match="no class EngineArgs"):
        refresh_flags.engine_annotations("x = 1\n")


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("int | None", ("int", False, ())),
        ("list[int] | None", ("int", True, ())),
        ("str | list[str] | None", ("str", True, ())),
        ("dict[str, int]", ("json", False, ())),
        ("Literal[1, 2]", ("int", False, ("1", "2"))),
        ("Literal['a']", ("str", False, ("a",))),
        ("Union[int, str]", ("str", False, ())),
        ("typing.Optional[float]", ("float", False, ())),
        ("CompilationConfig", ("json", False, ())),
    ],
)
def test_kinds_of_annotations(annotation: str, expected: tuple[str, bool, tuple[str, ...]]) -> None:
    node = ast.parse(annotation, mode="eval").body
    assert refresh_flags.kind_of_annotation(node) == expected


def test_a_rendered_file_has_one_flag_a_line_and_reads_back(tmp_path: Path) -> None:
    document = refresh_flags.sglang_document(_wheel(tmp_path), as_of="2026-01-01")
    text = refresh_flags.render(document)
    assert ast.literal_eval(text.replace("true", "True")) == document
    assert '  "switch": {"kind": "bool"}' in text
