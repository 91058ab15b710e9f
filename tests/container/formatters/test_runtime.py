"""The runtime calls a user's functions in one way, and says everything that is wrong with them."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests.container.formatters.conftest import Write
from warmstack_formatters import FormatterError, Formatters, load

FOLDER = Path(__file__).parents[3] / "container" / "formatters"


def failure(path: Path, name: str = "legal") -> str:
    with pytest.raises(FormatterError) as caught:
        load(path, name)
    return str(caught.value)


def test_both_formatters_change_what_passes(write: Write) -> None:
    formatters = load(
        write("""
        @input_formatter
        def to_model(payload):
            return {**payload, "temperature": 0}

        @output_formatter
        def to_client(response, *, stream):
            if response.get("drop"):
                return None
            return "text" if response.get("text") else {**response, "stream": stream}
        """),
        "legal",
    )
    assert (formatters.has_input, formatters.has_output) == (True, True)
    assert formatters.input({"messages": []}) == {"messages": [], "temperature": 0}
    assert formatters.output({"a": 1}) == {"a": 1, "stream": False}
    assert formatters.chunk({"a": 1}) == {"a": 1, "stream": True}
    assert formatters.output({"text": True}) == formatters.chunk({"text": True}) == "text"
    assert formatters.chunk({"drop": True}) is None


def test_a_missing_kind_changes_nothing(write: Write) -> None:
    only_input = load(write("@input_formatter\ndef f(payload):\n    return {}\n", "a"), "a")
    assert (only_input.has_input, only_input.has_output) == (True, False)
    assert only_input.output({"b": 1}) == only_input.chunk({"b": 1}) == {"b": 1}
    only_output = load(write("@output_formatter\ndef f(response):\n    return {}\n", "b"), "b")
    assert (only_output.has_input, only_output.has_output) == (False, True)
    assert only_output.input({"b": 1}) == {"b": 1}


def test_a_formatter_is_given_what_it_asks_for(write: Write) -> None:
    text = """
    @input_formatter
    def to_model(payload, tokenizer=None, **kwargs):
        return {"tokenizer": tokenizer, **kwargs}

    @output_formatter
    def to_client(response, adapter, stream=None):
        return {"adapter": adapter, "stream": stream}
    """
    path = write(text)
    own = load(path, "legal", adapter="legal")
    assert own.input({}) == {"tokenizer": None, "adapter": "legal"}
    assert own.chunk({}) == {"adapter": "legal", "stream": True}
    assert load(path, "chat").output({}) == {"adapter": None, "stream": False}


@pytest.mark.parametrize(
    ("signature", "answer", "expected"),
    [
        ("r, stream=None, /", "stream", None),
        ("stream, **more", "sorted(more)", ["adapter"]),
        ("stream, /, **more", "sorted(more)", ["adapter", "stream"]),
        ("r, *adapter", "list(adapter)", []),
    ],
)
def test_only_what_can_be_passed_by_its_name_is_passed(
    write: Write, signature: str, answer: str, expected: object
) -> None:
    path = write(f"@output_formatter\ndef f({signature}):\n    return {{'got': {answer}}}\n")
    assert load(path, "legal", adapter="legal").output({}) == {"got": expected}


def test_objects_can_be_formatters(write: Write) -> None:
    path = write("""
    class Adding:
        def __call__(self, payload):
            return {**payload, "a": 1}

    to_model = also = input_formatter(Adding())
    """)
    assert load(path, "x").input({}) == {"a": 1}


def test_files_for_lmi_work_where_there_is_no_lmi(write: Write) -> None:
    header = "".join(
        f"from djl_python.{module} import {name}\n"
        for module, name in (("input_parser", "input_formatter"), ("output_formatter", "output_formatter"))
    )
    path = write(
        "@input_formatter\ndef f(payload):\n    return {'a': 1}\n@output_formatter\ndef g(r):\n    return r\n",
        header=header,
    )
    assert load(path, "x").input({}) == {"a": 1}
    assert [one for one in sys.modules if one.partition(".")[0] == "djl_python"] == []


def test_two_names_are_two_modules(write: Write) -> None:
    path = write("""
    from __future__ import annotations
    import dataclasses

    @dataclasses.dataclass
    class State:
        count: int = 0

    state = State()

    @input_formatter
    def counted(payload):
        state.count += 1
        return {"count": state.count}
    """, header="")  # fmt: skip
    text = path.read_text(encoding="utf-8").replace(
        "import dataclasses", "import dataclasses\nfrom warmstack_formatters import input_formatter"
    )
    path.write_text(text, encoding="utf-8")
    one, other = load(path, "a-b"), load(path, "a.b")
    assert [one.input({}), one.input({}), other.input({})] == [{"count": 1}, {"count": 2}, {"count": 1}]
    before = {name for name in sys.modules if name.startswith("warmstack_user_formatters_")}
    del one, other
    assert len({name for name in sys.modules if name.startswith("warmstack_user_formatters_")}) == len(before) - 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(:\n", "have a syntax error in line 2: "),
        ("x = 1\n", "have none: put @input_formatter or @output_formatter above a function"),
        ("import no_such_module\n", "No module named 'no_such_module' (formatters.py, line 2)"),
        ("def helper():\n    return 1 / 0\nhelper()\n", "ZeroDivisionError: division by zero (formatters.py, line 3)"),
        ("raise SystemExit(3)\n", "do not load: SystemExit: 3 (formatters.py, line 2)"),
        ("raise ValueError()\n", "do not load: ValueError: no message"),
        ("raise KeyboardInterrupt\n", "do not load: KeyboardInterrupt: no message (formatters.py, line 2)"),
        ("raise GeneratorExit\n", "do not load: GeneratorExit: no message (formatters.py, line 2)"),
        ("class B(BaseException): ...\nraise B('b')\n", "do not load: B: b (formatters.py, line 3)"),
        ("@input_formatter\ndef f(p): ...\n@input_formatter\ndef g(p): ...\n", "two input formatters, f and g; keep"),
        ("@input_formatter\nasync def f(p): ...\n", "input formatter f of legal is async; write a plain function"),
        ("@output_formatter\nasync def f(p):\n    yield p\n", "output formatter f of legal is async"),
        ("@output_formatter\ndef f(p):\n    yield p\n", "is a generator; write a function that is called once"),
        ("@input_formatter\ndef f(): ...\n", "takes no argument; the first one is the payload or the response"),
        ("@input_formatter\ndef f(p, tokenizer): ...\n", "requires tokenizer; beside its first argument it can have"),
        ("@input_formatter\ndef f(p, *, stream): ...\n", "requires stream; beside its first argument it can have"),
        ("@output_formatter\ndef f(p, stream, /): ...\n", "requires stream; beside its first argument"),
        ("x = '\0'\n", "null bytes"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_used(write: Write, text: str, expected: str) -> None:
    path = write(text)
    message = failure(path)
    assert expected in message
    assert "legal" in message
    assert "formatters.py" in message
    assert "Traceback" not in message
    assert "\n" not in message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert failure(tmp_path / "none.py").endswith("none.py) cannot be read: No such file or directory")
    assert "cannot be read" in failure(tmp_path)


FAULTY = """
@input_formatter
def to_model(payload):
    return payload["what"]

@output_formatter
def to_client(response):
    return make(response)

def make(response):
    kind = response["kind"]
    class Odd(Exception):
        def __str__(self):
            raise RuntimeError
    if kind == "odd":
        raise Odd
    if kind == "exit":
        raise SystemExit("now")
    if kind == "long":
        raise KeyError("x" * 9999)
    if kind == "async":
        async def late(): ...
        return late()
    good = {"none": None, "list": [], "set": {"a": {1}}, "nan": {"a": float("nan")}}
    return {**good, "half": "\\ud800", "keys": {(1,): 1}}[kind]
"""


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("none", "output formatter to_client of legal returned None for a whole response; allowed is dict or str"),
        ("list", "returned list for a whole response; allowed is dict or str (formatters.py)"),
        ("async", "returned coroutine for a whole response"),
        ("set", "returned what cannot be sent as JSON: Object of type set is not JSON serializable"),
        ("nan", "returned what cannot be sent as JSON: Out of range float values"),
        ("half", "returned what cannot be sent as JSON: 'utf-8' codec can't encode"),
        ("keys", "returned what cannot be sent as JSON: keys must be str"),
        ("missing", "failed: KeyError: 'missing' (formatters.py, line 26)"),
        ("odd", "failed: Odd: no message (formatters.py, line 17)"),
        ("exit", "failed: SystemExit: now (formatters.py, line 19)"),
        ("long", "x… (formatters.py, line 21)"),
    ],
)
def test_calls_that_fail(write: Write, kind: str, expected: str) -> None:
    formatters = load(write(FAULTY), "legal")
    with pytest.raises(FormatterError) as caught:
        formatters.output({"kind": kind})
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


def test_what_a_request_and_a_chunk_may_become(write: Write) -> None:
    formatters = load(write(FAULTY), "legal")
    with pytest.raises(
        FormatterError, match="input formatter to_model of legal returned str for a request; allowed is dict"
    ):
        formatters.input({"what": "text"})
    with pytest.raises(FormatterError, match="returned list for a chunk; allowed is dict or str or None"):
        formatters.chunk({"kind": "list"})
    assert formatters.chunk({"kind": "none"}) is None


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda one: one.name)
def test_the_files_are_python_3_10(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 10))
    imported = {
        name.name if isinstance(node, ast.Import) else str(node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }
    own = {one.stem for one in FOLDER.glob("*.py")}
    assert {one.partition(".")[0] for one in imported} - own <= sys.stdlib_module_names


def test_formatters_of_nothing_change_nothing() -> None:
    nothing = Formatters({})
    assert (nothing.has_input, nothing.has_output) == (False, False)
