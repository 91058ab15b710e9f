"""The same files become the same bytes; what is left out is named; nothing half-written stays."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import io
import os
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.adapters.makers import CONFIG, adapter
from warmstack.adapters import (
    AdapterError,
    Target,
    adapter_name,
    archive_name,
    check_adapter,
    pack,
    read_archive,
    select,
)
from warmstack.adapters.bundled import formatter_file
from warmstack.adapters.stored_gzip import StoredGzip

CODE = "from warmstack_formatters import input_formatter\n@input_formatter\ndef f(payload):\n    return payload\n"
# Of two small files, packed once. A change of these bytes changes the name of everyone's archives.
DIGEST = "8d961ded23fd"


def code(tmp_path: Path, text: str = CODE) -> Path:
    path = tmp_path / "my_formatters.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_archive_holds_the_files_and_nothing_of_the_machine(tmp_path: Path) -> None:
    folder = adapter(tmp_path / "legal")
    os.chmod(folder / "adapter_config.json", 0o600)  # noqa: PTH101 - as plain as it gets
    packed = pack(select(folder, code(tmp_path)).files, tmp_path, "legal")
    assert packed.path.name == archive_name("legal", packed.sha256) == f"legal-{packed.sha256[:12]}.tar.gz"
    data = packed.path.read_bytes()
    assert (hashlib.sha256(data).hexdigest(), len(data)) == (packed.sha256, packed.size)
    assert data[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
    with tarfile.open(packed.path) as tar:
        members = tar.getmembers()
        assert [one.name for one in members] == [
            "adapter_config.json", "adapter_model.safetensors", "formatters.py", "model.py", "warmstack_formatters.py",
        ]  # fmt: skip
        assert {(one.mode, one.uid, one.gid, one.uname, one.gname, one.mtime) for one in members} == {
            (0o644, 0, 0, "", "", 0)
        }
        bridge = tar.extractfile("model.py")
        assert bridge is not None
        assert bridge.read() == formatter_file("lmi_model.py").read_bytes()
    assert check_adapter(read_archive(packed.path)) == ()
    assert oct(packed.path.stat().st_mode & 0o777) in ("0o644", "0o640", "0o600")


def test_equal_files_are_equal_bytes(tmp_path: Path) -> None:
    small = {"b.json": b"{}", "a.txt": b"text" * 5}
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        for name, data in small.items():
            (tmp_path / folder / name).write_bytes(data)
    os.utime(tmp_path / "two" / "a.txt", (1, 1))
    packed = [
        pack({name: tmp_path / folder / name for name in sorted(small)}, tmp_path / folder, "x")
        for folder in ("one", "two")
    ]
    assert packed[0].sha256 == packed[1].sha256
    assert packed[0].sha256.startswith(DIGEST)


def test_packing_again_changes_nothing(tmp_path: Path) -> None:
    files = select(adapter(tmp_path / "legal"), None).files
    first = pack(files, tmp_path, "legal")
    before = first.path.stat()
    again = pack(files, tmp_path, "legal")
    assert (first.existed, again.existed) == (False, True)
    after = again.path.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    named = pack(files, tmp_path / "named.tar.gz", "legal")
    assert (named.path.name, named.sha256) == ("named.tar.gz", first.sha256)
    named.path.write_bytes(b"old")
    assert pack(files, named.path, "legal").existed is False
    assert named.path.stat().st_size == first.size
    assert sorted(one.name for one in tmp_path.iterdir()) == ["legal", first.path.name, "named.tar.gz"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_pack_leaves_nothing(tmp_path: Path, stop: type[BaseException]) -> None:
    files = select(adapter(tmp_path / "legal"), None).files
    (tmp_path / "out").mkdir()

    def interrupt(count: int) -> None:
        raise stop

    with pytest.raises(stop):
        pack(files, tmp_path / "out", "legal", interrupt)
    assert list((tmp_path / "out").iterdir()) == []


def test_files_that_change_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for data, expected in ((b"x" * 3_000_000, "grew"), (b"", "shrank")):
        path.write_bytes(b"x" * 2_500_000)

        def change(count: int, data: bytes = data) -> None:
            path.write_bytes(data)

        with pytest.raises(AdapterError, match=f"a.txt {expected} while it was packed"):
            pack({"a.txt": path}, tmp_path, "x", change)


def test_places_that_cannot_be_used(tmp_path: Path) -> None:
    files = select(adapter(tmp_path / "legal"), None).files
    with pytest.raises(AdapterError, match="none cannot be written to: No such file"):
        pack(files, tmp_path / "none" / "a.tar.gz", "legal")
    with pytest.raises(AdapterError, match="cannot be read: No such file"):
        pack({"gone": tmp_path / "gone"}, tmp_path, "legal")
    with pytest.raises(AdapterError, match="is no folder"):
        select(tmp_path / "none", None)
    with pytest.raises(AdapterError, match="it must be a file of formatters"):
        select(tmp_path / "legal", tmp_path / "none.py")


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    folder = adapter(
        tmp_path / "legal", README__md="x", tokenizer__json="x", training_args__bin="x", optimizer__pt="x",
        other__pkl="x", formatters__py="x", model__py="x", added_tokens__json="{}",
    )  # fmt: skip
    (folder / ".git").mkdir()
    (folder / "checkpoint-500").mkdir()
    (folder / "checkpoint-500" / "deep.txt").write_text("x", encoding="utf-8")
    (folder / "data").mkdir()
    (folder / "secret").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe")
    selection = select(folder, None)
    assert list(selection.files) == ["adapter_config.json", "adapter_model.safetensors"]
    reasons = {
        ".git": "hidden",
        "README.md": "no server reads it",
        "added_tokens.json": "the base model's tokenizer is used",
        "checkpoint-500": "the state of a training",
        "data": "a folder; SageMaker needs the files at the root",
        "formatters.py": "code is packed when --code names it",
        "model.py": "--code brings this file's own version",
        "optimizer.pt": "the state of a training",
        "other.pkl": "a pickle, which can run code when it is read",
        "pipe": "no plain file",
        "secret": "a link that leads outside the folder, to /etc/passwd; copy the folder with cp -rL first",
        "tokenizer.json": "the base model's tokenizer is used",
        "training_args.bin": "the state of a training",
    }
    assert dict(selection.left_out) == reasons
    assert "formatters.py" not in select(folder, code(tmp_path)).left_out


def test_weights_as_a_pickle_are_refused(tmp_path: Path) -> None:
    folder = adapter(tmp_path / "legal")
    (folder / "adapter_model.safetensors").rename(folder / "adapter_model.bin")
    found = check_adapter(select(folder, None).contents)
    assert [(one.id, one.severity) for one in found] == [("pickle", "error")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@input_formatter\nasync def f(p): ...\n", ["error"]),
        ("def f(:\n", ["error"]),
        ("x = 1\n", ["warning"]),
        ("import w\n@w.input_formatter\ndef f(p): ...\n@w.input_formatter\ndef g(p): ...\n", ["error"]),
        ("x = '\\d'\n@w.output_formatter\ndef f(p): ...\n", []),
        ("x = '\0'\n", ["error"]),
        ("raise SystemExit\n@w.output_formatter\ndef f(p): ...\n", []),
        ("#" * 1_000_001, ["error"]),
    ],
)
def test_code_is_read_and_never_run(tmp_path: Path, text: str, expected: list[str]) -> None:
    selection = select(adapter(tmp_path / "legal"), code(tmp_path, text))
    found = check_adapter(selection.contents)
    assert [one.severity for one in found if one.id == "code"] == expected


def test_code_that_lmi_does_not_find(tmp_path: Path) -> None:
    folder = adapter(tmp_path / "legal", formatters__py=CODE)

    def found(*names: str) -> list[str]:
        files = {name: folder / name for name in ("adapter_config.json", "adapter_model.safetensors", *names)}
        return [f"{one.severity} {one.value}" for one in check_adapter(read_archive(pack(files, tmp_path, "x").path))]

    assert found("formatters.py") == ["error model.py and warmstack_formatters.py are not beside it"]
    (folder / "model.py").write_text("x = 1\n", encoding="utf-8")
    assert found("formatters.py", "model.py") == ["error warmstack_formatters.py is not beside it"]
    assert found("model.py") == ["note formatters.py is not beside it"]
    (folder / "warmstack_formatters.py").write_text("old = 1\n", encoding="utf-8")
    assert found("formatters.py", "model.py", "warmstack_formatters.py") == [
        "note it is of another version of Warmstack"
    ]


@pytest.mark.parametrize(("release", "expected"), [(17, ["error"]), (18, ["warning"]), (19, ["warning"]), (20, [])])
def test_code_needs_a_release_of_lmi_that_reads_it(
    tmp_path: Path, target: Target, release: int, expected: list[str]
) -> None:
    contents = select(adapter(tmp_path / "legal"), code(tmp_path)).contents
    old = dataclasses.replace(target, lmi_release=release)
    assert [one.severity for one in check_adapter(contents, old)] == expected
    assert check_adapter(contents, dataclasses.replace(target, server="vllm", lmi_release=None, built=True)) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("legal", "legal"),
        ("Legal_v2 (final)", "legal-v2-final"),
        ("x" * 50, "x" * 40),
        ("a--b", "a-b"),
        ("1", None),
        ("ü", None),
    ],
)
def test_names_are_those_a_spec_takes(text: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(AdapterError, match="name it with --name"):
            adapter_name(text)
    else:
        assert adapter_name(text) == expected


@given(st.lists(st.binary(max_size=50) | st.integers(65_530, 65_540).map(bytes), max_size=4))
def test_stored_gzip_is_gzip_however_it_was_cut(parts: list[bytes]) -> None:
    def written(pieces: list[bytes]) -> bytes:
        out = io.BytesIO()
        packed = StoredGzip(out.write)
        for one in pieces:
            packed.write(one)
        packed.close()
        return out.getvalue()

    whole = b"".join(parts)
    assert gzip.decompress(written(parts)) == whole
    assert written(parts) == written([whole])


def test_the_static_files_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert formatter_file("lmi_model.py").parent.parent.name == "container"
    package = tmp_path / "site" / "warmstack"
    data = package / "_data" / "container" / "formatters"
    data.mkdir(parents=True)
    (data / "lmi_model.py").write_text("x", encoding="utf-8")
    monkeypatch.setattr("warmstack.authored._PACKAGE", package)
    assert formatter_file("lmi_model.py") == data / "lmi_model.py"
    with pytest.raises(AdapterError, match="not in this installation"):
        formatter_file("none.py")


def test_the_configuration_is_packed_as_it_is(tmp_path: Path) -> None:
    assert CONFIG["r"] == 2
    folder = adapter(tmp_path / "legal")
    packed = pack(select(folder, None).files, tmp_path, "legal")
    assert read_archive(packed.path).texts["adapter_config.json"] == (folder / "adapter_config.json").read_bytes()
