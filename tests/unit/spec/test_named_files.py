"""The files that a spec names: what is wrong with them is said at the place that names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.plan.specs import FILES, VLLM, loaded
from warmstack.spec import SpecError, load_spec, render

GOOD = {
    "chat.jinja": "{% for m in messages %}{% generation %}{{ m }}{% endgeneration %}{% continue %}{% endfor %}",
    "formatters.py": "from warmstack_formatters import input_formatter as first\n\n\n@first\ndef f(x): return x\n",
    "draft.json": '{"architectures": ["LlamaForCausalLMEagle3"], "hidden_size": 3584}',
}


def spec(**files: str) -> dict[str, Any]:
    return {
        "model": {"chat_template": "chat.jinja", "formatters": "formatters.py"},
        "engine": {"speculative": {"method": "eagle3", "draft": "d/", "draft_config": "draft.json"}},
        FILES: GOOD | files,
    }


def complaint(**files: str) -> str:
    with pytest.raises(SpecError) as caught:
        loaded(VLLM, spec(**files))
    (one,) = caught.value.diagnostics
    return one.message


def test_files_that_can_be_used_are_read() -> None:
    texts = loaded(VLLM, spec()).texts
    assert texts == {
        ("model", "chat_template"): GOOD["chat.jinja"],
        ("model", "formatters"): GOOD["formatters.py"],
        ("engine", "speculative", "draft_config"): GOOD["draft.json"],
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "it holds no JSON object"),
        ("hello", "Expecting value"),
        ("[" * 200_000, "nested too deeply"),
        ('{"hidden_size": "4096"}', "hidden_size is '4096'; it must be a whole number"),
        ('{"architectures": "Llama"}', "architectures is 'Llama'; it must be a list of names"),
        ('{"text_config": {"vocab_size": true}}', "vocab_size is True"),
        ("{}", "neither architectures nor sizes"),
    ],
)
def test_a_drafts_config_is_one(text: str, says: str) -> None:
    assert says in complaint(**{"draft.json": text})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def f(:\n", "line 1:"),
        ("x = 1\n", "no function in it is decorated"),
        (
            "from w import input_formatter as i\n@i\nasync def f(x): return x\n",
            "f in line 3 is async; a formatter is a plain function",
        ),
        (
            "from w import *\n@input_formatter\ndef f(x): ...\n@input_formatter\ndef g(x): ...\n",
            "f and g are both @input",
        ),
        ("import functools\n\n\n@functools.cache\ndef f(): ...\n", "no function in it is decorated"),
    ],
)
def test_formatters_parse_and_are_some(text: str, says: str) -> None:
    assert says in complaint(**{"formatters.py": text})


@pytest.mark.parametrize(
    "text",
    [
        "from djl_python.output_formatter import output_formatter\n@output_formatter\ndef f(x): return x\n",
        "import warmstack_formatters as w\n@w.output_formatter\ndef f(x): return x\n",
        "from w import *\n@input_formatter\ndef f(x): ...\n@input_formatter\ndef f(x): return x\n",
    ],
)
def test_formatters_by_any_name_are_some(text: str) -> None:
    assert loaded(VLLM, spec(**{"formatters.py": text})).texts[("model", "formatters")] == text


def test_a_chat_template_parses() -> None:
    assert "line 2: Unexpected end of template" in complaint(**{"chat.jinja": "x\n{% if x %}"})


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"\xff\xfe\x00", "it is not UTF-8"), (b"", "it is empty"), (b"a\0b", "zero byte"), (b"x" * 1_100_000, "1 MiB")],
)
def test_what_is_no_text_is_named(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "chat.jinja").write_bytes(content)
    path = tmp_path / "spec.yaml"
    path.write_text(
        "name: a\nmodel: {id: Qwen/Qwen3-8B, chat_template: chat.jinja}\nendpoint: {instance_type: ml.g5.2xlarge}\n",
        encoding="utf-8",
    )
    with pytest.raises(SpecError, match=says) as caught:
        load_spec(path)
    (one,) = caught.value.diagnostics
    assert (one.mark.line, one.mark.column) == (2, 43)


def test_a_missing_file_says_what_a_path_is_relative_to(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(
        "name: a\nmodel: {id: Qwen/Qwen3-8B, chat_template: https://user:pass@host/x}\n"
        "endpoint: {instance_type: ml.g5.2xlarge}\n",
        encoding="utf-8",
    )
    with pytest.raises(SpecError) as caught:
        load_spec(path)
    shown = render(caught.value.diagnostics, caught.value.lines)
    assert "write the path of a file, relative to" in shown
    assert "user:pass" not in shown


def test_a_component_with_a_draft_of_its_own_names_its_config(tmp_path: Path) -> None:
    (tmp_path / "draft.json").write_text(GOOD["draft.json"], encoding="utf-8")
    path = tmp_path / "spec.yaml"
    path.write_text(
        "name: a\nmodel: {id: Qwen/Qwen3-8B}\n"
        "engine: {speculative: {method: eagle3, draft: a/b, draft_config: draft.json}}\n"
        "endpoint: {instance_type: ml.g5.12xlarge}\n"
        "components:\n  - {name: one, engine: {speculative: {draft: c/d}}}\n"
        "  - {name: two, engine: {speculative: {draft: c/d, draft_config: null}}}\n",
        encoding="utf-8",
    )
    with pytest.raises(SpecError, match="names a draft of its own") as caught:
        load_spec(path)
    assert [one.mark.line for one in caught.value.diagnostics] == [6]
