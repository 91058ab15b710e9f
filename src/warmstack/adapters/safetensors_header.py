"""The header of a safetensors file: what tensors it holds and where, without their values.

A file is 8 bytes with the header's length (little endian), the header as JSON, and the tensors' bytes. Source:
the format's description in github huggingface/safetensors, ``README.md``, read 2026-11-30; it limits the header to
100 MB.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

LARGEST_HEADER_BYTES = 100_000_000
_LENGTH_BYTES = 8
_LARGEST = 2**63
_BYTES = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0"), 1),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 2),
    **dict.fromkeys(("U32", "I32", "F32"), 4),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 8),
}


class HeaderError(ValueError):
    """A file that is no safetensors file; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """One tensor.

    Args:
        dtype: its type, in safetensors' words.
        shape: its sizes.
        begin: where its bytes begin, counted from the end of the header.
        end: where they end.
    """

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorTable:
    """The tensors of one file by their names, in the order of their bytes."""

    tensors: Mapping[str, Tensor]


def read_header(read: Callable[[int], bytes], file_bytes: int) -> TensorTable:
    """Read and check the header of a file.

    Args:
        read: gives the next bytes of the file, fewer at its end.
        file_bytes: the file's size.

    Raises:
        HeaderError: the file is too short, the header is no JSON of the right form, or a tensor does not fit.
    """
    prefix = read(_LENGTH_BYTES)
    if len(prefix) < _LENGTH_BYTES:
        raise HeaderError(f"it has {len(prefix)} bytes, fewer than the {_LENGTH_BYTES} of a header's length")
    length = int.from_bytes(prefix, "little")
    # Guard: both limits before the read: a hostile length would ask for all memory.
    if length > LARGEST_HEADER_BYTES or length > file_bytes - _LENGTH_BYTES:
        raise HeaderError(f"its header claims {length} bytes, in a file of {file_bytes}")
    text = read(length)
    if len(text) < length:
        raise HeaderError(f"it ends inside its header, after {len(text)} of {length} bytes")
    try:
        # Guard: json.loads guesses the encoding of bytes; the format is UTF-8.
        header = json.loads(text.decode("utf-8"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise HeaderError(f"its header is no JSON: {error}") from error
    if not isinstance(header, dict):
        raise HeaderError("its header is no JSON object")
    _check_metadata(header.get("__metadata__"))
    tensors = {name: _tensor(name, entry) for name, entry in header.items() if name != "__metadata__"}
    ordered = dict(sorted(tensors.items(), key=lambda one: (one[1].begin, one[1].end)))
    _check_places(ordered, file_bytes - _LENGTH_BYTES - length)
    return TensorTable(tensors=ordered)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a key stands twice")
    return document


def _check_metadata(metadata: object) -> None:
    # Null is what the library takes for none; it reads the rest as a map from text to text.
    if metadata is None:
        return
    if not isinstance(metadata, dict):
        raise HeaderError("its __metadata__ is no JSON object")
    for key, value in metadata.items():
        if not isinstance(value, str):
            raise HeaderError(f"its __metadata__ has {key[:200]} with a value that is no text")


def _tensor(name: str, entry: object) -> Tensor:
    shown = name[:200]
    if not isinstance(entry, dict):
        raise HeaderError(f"tensor {shown} is no JSON object")
    dtype, shape, offsets = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
    if not isinstance(dtype, str):
        raise HeaderError(f"tensor {shown} has no dtype")
    if not _whole_numbers(shape):
        raise HeaderError(f"tensor {shown} has no shape of whole numbers")
    if not _whole_numbers(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise HeaderError(f"tensor {shown} has no data_offsets of two rising whole numbers")
    expected = _BYTES.get(dtype)
    if expected is not None and math.prod(shape) * expected != offsets[1] - offsets[0]:
        size = "x".join(map(str, shape)) or "1"
        raise HeaderError(f"tensor {shown} is {size} of {dtype}, but has {offsets[1] - offsets[0]} bytes")
    return Tensor(dtype=dtype, shape=tuple(shape), begin=offsets[0], end=offsets[1])


def _whole_numbers(value: Any) -> TypeGuard[list[int]]:
    # Guard: a bool is an int in Python, and thousands of digits are a number, too.
    return (
        isinstance(value, list) and len(value) <= 16 and all(type(one) is int and 0 <= one < _LARGEST for one in value)
    )


def _check_places(tensors: Mapping[str, Tensor], data_bytes: int) -> None:
    at = 0
    for name, tensor in tensors.items():
        if tensor.begin != at:
            raise HeaderError(f"tensor {name[:200]} begins at {tensor.begin}, where the one before ends at {at}")
        at = tensor.end
    if at != data_bytes:
        raise HeaderError(f"its tensors have {at} bytes, but {data_bytes} follow the header")
