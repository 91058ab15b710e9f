"""Reading never fails in another way than by a message."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from warmstack.spec import SpecError, load_spec
from warmstack.spec.reader import MAX_BYTES, read_tree
from warmstack.spec.tree import MappingNode, find, to_plain


@given(data=st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    result = read_tree(data, "x.yaml")
    assert result.root is not None or result.diagnostics
    for one in result.diagnostics:
        assert one.mark.line >= 1
        assert one.mark.column >= 1


@given(text=st.text(alphabet=st.sampled_from("ab: \n-{}[],#&*!|>'\"%@`\t?~\x85\u2028"), max_size=60))
def test_any_yaml_like_text(text: str) -> None:
    result = read_tree(text.encode(), "x.yaml")
    for one in result.diagnostics:
        assert one.mark.line <= len(result.lines) or not result.lines


@given(
    value=st.dictionaries(
        st.from_regex(r"\A[a-z]{1,5}\Z"),
        st.recursive(
            st.integers(-(10**9), 10**9) | st.booleans() | st.text(alphabet="abc: #-'\"{}\n\u00e9", max_size=12),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.from_regex(r"\A[a-z]{1,5}\Z"), inner, max_size=3)
            ),
            max_leaves=6,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_what_yaml_writes_is_read_back(value: dict[str, object]) -> None:
    result = read_tree(yaml.safe_dump(value, allow_unicode=True).encode(), "x.yaml")
    words = {"on", "off", "yes", "no"}
    if any(str(key) in words for key in _keys(value)):
        return
    assert result.diagnostics == []
    assert isinstance(result.root, MappingNode)
    assert to_plain(result.root) == _tuples(value)


def _keys(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*(_keys(one) for one in value.values()))
    return set().union(*(_keys(one) for one in value)) if isinstance(value, list) else set()


def _tuples(value: object) -> object:
    if isinstance(value, dict):
        return {key: _tuples(one) for key, one in value.items()}
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-7", -7),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("1_000", "1_000"),  # YAML 1.1 would make a number of it
        ("0x1F", "0x1F"),
        ("12:30:45", "12:30:45"),  # YAML 1.1 would make 45045 of it
        ("2026-11-30", "2026-11-30"),  # YAML 1.1 would make a date of it
        ("0.38.0-lmi29.0.0-cu130", "0.38.0-lmi29.0.0-cu130"),
        ("true", True),
        ('"true"', "true"),
        ("~", None),
        ("", None),
        ("y", "y"),
        ("'yes'", "yes"),
        ("|\n  two\n  lines\n", "two\nlines\n"),
    ],
)
def test_scalars(text: str, value: object) -> None:
    result = read_tree(f"key: {text}".encode(), "x.yaml")
    assert result.diagnostics == []
    assert result.root is not None
    node = find(result.root, ("key",))
    assert node is not None
    got = to_plain(node)
    assert got == value
    assert type(got) is type(value)


def test_a_byte_order_mark_is_no_content() -> None:
    result = read_tree(b"\xef\xbb\xbfname: chat\n", "x.yaml")
    assert result.diagnostics == []
    assert result.root is not None
    assert result.root.entries["name"].key_mark.column == 1


def test_windows_line_breaks() -> None:
    result = read_tree(b"name: chat\r\nmodel:\r\n  id: a\r\n", "x.yaml")
    assert result.root is not None
    node = find(result.root, ("model", "id"))
    assert node is not None
    assert (node.mark.line, node.mark.column) == (3, 7)


def test_a_file_over_one_mebibyte() -> None:
    result = read_tree(b"a: 1\n" + b"#" * MAX_BYTES, "x.yaml")
    assert [one.message for one in result.diagnostics] == [
        "the file is too large; a spec has at most 1,048,576 bytes (1 MiB)"
    ]
    assert result.root is None


def test_a_large_file_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as stream:
        stream.truncate(10 * 1024**3)  # sparse: reading it whole would take 10 GiB of memory
    with pytest.raises(SpecError, match="at most 1,048,576"):
        load_spec(path)


def test_absent_file_folder_and_device(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"there is no file .*none.yaml"):
        load_spec(tmp_path / "none.yaml")
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "sticky-chat.yaml").write_text("name: a\n", encoding="utf-8")
    for wrong in ("sticky-chat", "specs/sticky-chatt.yaml", "stickychat.yaml"):
        with pytest.raises(SpecError, match=r"did you mean .*/specs/sticky-chat\.yaml\?"):
            load_spec(tmp_path / wrong)
    with pytest.raises(SpecError, match="it is a folder"):
        load_spec(tmp_path)
    with pytest.raises(SpecError, match="it is not a regular file"):
        load_spec("/dev/null")


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(SpecError, match="cannot be read"):
        load_spec("x" * 5000)
