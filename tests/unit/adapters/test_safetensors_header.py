"""The header of a safetensors file is read within bounds, whatever the file claims."""

from __future__ import annotations

import contextlib
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.adapters.makers import safetensors
from warmstack.adapters.safetensors_header import HeaderError, read_header


def read(data: bytes, size: int | None = None) -> Any:
    return read_header(io.BytesIO(data).read, len(data) if size is None else size)


def with_header(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def test_tensors_are_read_in_the_order_of_their_bytes() -> None:
    table = read(safetensors({"b": (2, 3), "a": (4,), "scalar": ()}))
    assert [(name, one.dtype, one.shape, one.begin, one.end) for name, one in table.tensors.items()] == [
        ("b", "BF16", (2, 3), 0, 12),
        ("a", "BF16", (4,), 12, 20),
        ("scalar", "BF16", (), 20, 22),
    ]


def entry(**changes: Any) -> dict[str, Any]:
    return {"dtype": "F32", "shape": [1], "data_offsets": [0, 4], **changes}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "it has 0 bytes, fewer than the 8"),
        (b"1234567", "it has 7 bytes"),
        ((2**63).to_bytes(8, "little") + b"{}", "claims 9223372036854775808 bytes, in a file of 10"),
        ((3).to_bytes(8, "little") + b"{}", "claims 3 bytes, in a file of 10"),
        (with_header(b"{"), "is no JSON"),
        (with_header(b"\xff\xfe"), "is no JSON"),
        (with_header(b"[" * 100_000), "is no JSON"),
        (with_header(b'{"a": 1, "a": 2}'), "a key stands twice"),
        (with_header([]), "is no JSON object"),
        (with_header('{"ü": 1}'.encode("utf-16")), "is no JSON"),
        (with_header({"__metadata__": []}), "its __metadata__ is no JSON object"),
        (with_header({"__metadata__": "x"}), "its __metadata__ is no JSON object"),
        (with_header({"__metadata__": {"format": "pt", "step": 1}}), "its __metadata__ has step with a value that is"),
        (with_header({"__metadata__": {"format": None}}), "its __metadata__ has format with a value that is no text"),
        (with_header({"a": 1}), "tensor a is no JSON object"),
        (with_header({"a": entry(dtype=1)}), "tensor a has no dtype"),
        (with_header({"a": entry(shape="x")}), "tensor a has no shape of whole numbers"),
        (with_header({"a": entry(shape=[True])}), "tensor a has no shape of whole numbers"),
        (with_header({"a": entry(shape=[-1])}), "tensor a has no shape of whole numbers"),
        (with_header({"a": entry(shape=[1] * 17)}), "tensor a has no shape of whole numbers"),
        (with_header({"a": entry(shape=[10**40])}), "tensor a has no shape of whole numbers"),
        (with_header({"a": entry(data_offsets=[4, 0])}), "tensor a has no data_offsets of two rising"),
        (with_header({"a": entry(data_offsets=[0])}), "tensor a has no data_offsets of two rising"),
        (with_header({"a": entry(shape=[2, 3])}, bytes(4)), "tensor a is 2x3 of F32, but has 4 bytes"),
        (with_header({"a": entry(data_offsets=[1, 5])}, bytes(5)), "tensor a begins at 1, where the one before ends"),
        (with_header({"a": entry(), "b": entry()}, bytes(8)), "tensor b begins at 0, where the one before ends at 4"),
        (with_header({"a": entry()}, bytes(3)), "its tensors have 4 bytes, but 3 follow the header"),
        (with_header({"a": entry()}, bytes(5)), "its tensors have 4 bytes, but 5 follow the header"),
    ],
)  # fmt: skip
def test_files_that_are_none(data: bytes, expected: str) -> None:
    with pytest.raises(HeaderError) as caught:
        read(data)
    assert expected in str(caught.value)


def test_a_file_that_is_shorter_than_it_was(tmp_path: Any) -> None:
    whole = safetensors({"a": (1,)})
    with pytest.raises(HeaderError, match="ends inside its header, after 2 of"):
        read(whole[:10], len(whole))
    with pytest.raises(HeaderError, match="claims 100000001 bytes"):
        read((100_000_001).to_bytes(8, "little"), 10**10)


@pytest.mark.parametrize("metadata", [None, {}, {"format": "pt", "ü": ""}])
def test_metadata_of_texts_is_fine(metadata: Any) -> None:
    assert read(with_header({"__metadata__": metadata})).tensors == {}


def test_types_that_are_not_known_are_kept() -> None:
    assert read(with_header({"a": entry(dtype="F4")}, bytes(4))).tensors["a"].dtype == "F4"


@given(st.binary(max_size=200), st.integers(0, 400))
def test_any_bytes_are_a_header_or_an_error(data: bytes, cut: int) -> None:
    for candidate in (data, len(data).to_bytes(8, "little") + data, safetensors({"a": (2, 2)})[:cut] + data):
        with contextlib.suppress(HeaderError):
            read(candidate)
