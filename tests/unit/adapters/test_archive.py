"""Archives are read in one pass, and a hostile or broken one ends in a finding."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.adapters.makers import Member, adapter, archive, member
from warmstack.adapters import AdapterError, Problem, check_adapter, read_archive, read_folder


def found(path: Path) -> dict[str, Problem]:
    return {one.id: one for one in check_adapter(read_archive(path))}


def test_a_good_archive_and_its_folder_have_no_problems(tmp_path: Path) -> None:
    contents = read_archive(archive(tmp_path / "a.tar.gz"))
    assert check_adapter(contents) == ()
    assert [one.name for one in contents.entries] == ["adapter_config.json", "adapter_model.safetensors"]
    assert contents.packed_bytes == (tmp_path / "a.tar.gz").stat().st_size
    folder = read_folder(adapter(tmp_path / "legal"))
    assert check_adapter(folder) == ()
    assert folder.tables == contents.tables


def test_names_as_tar_writes_them_for_a_dot(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "dot.tar.gz", "w:gz") as tar:
        tar.add(adapter(tmp_path / "legal"), arcname=".")
    assert found(tmp_path / "dot.tar.gz") == {}


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        (member("../evil.py"), ("path", "../evil.py")),
        (member("/etc/passwd"), ("path", "/etc/passwd")),
        (member("a/../../evil"), ("path", "a/../../evil")),
        (member("a\\evil"), ("path", "a\\evil")),
        (member("link", kind=tarfile.SYMTYPE, link="/etc/passwd"), ("link", "link")),
        (member("hard", kind=tarfile.LNKTYPE, link="adapter_config.json"), ("link", "hard")),
        (member("device", kind=tarfile.CHRTYPE), ("kind", "device")),
        (member("pipe", kind=tarfile.FIFOTYPE), ("kind", "pipe")),
        (member("adapter_config.json", b"{}"), ("duplicate", "adapter_config.json")),
    ],
)
def test_members_that_do_not_belong(tmp_path: Path, extra: Member, expected: tuple[str, str]) -> None:
    problem = found(archive(tmp_path / "a.tar.gz", extra))[expected[0]]
    assert (problem.severity, problem.place) == ("error", expected[1])


def test_a_folder_inside_is_named(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        tar.add(adapter(tmp_path / "legal"), arcname="legal")
    problems = found(tmp_path / "a.tar.gz")
    assert problems["folder"].place == "legal/adapter_config.json"
    assert "warmstack adapter pack" in problems["folder"].fix


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "no tar archive"),
        (b"no gzip at all", "no whole gzip file"),
        (gzip.compress(b"no tar at all" * 100), "no tar archive"),
        (gzip.compress(b""), "no tar archive"),
        (gzip.compress(bytes(10240))[:-4], "too early"),
    ],
    ids=["empty", "no gzip", "no tar", "nothing inside", "no end"],
)
def test_files_that_are_no_archives(tmp_path: Path, data: bytes, expected: str) -> None:
    path = tmp_path / "a.tar.gz"
    path.write_bytes(data)
    assert expected in found(path)["damaged"].value


def test_an_archive_cut_anywhere_is_damaged(tmp_path: Path) -> None:
    whole = archive(tmp_path / "a.tar.gz").read_bytes()
    for end in range(0, len(whole) - 1, 37):
        (tmp_path / "cut.tar.gz").write_bytes(whole[:end])
        problems = found(tmp_path / "cut.tar.gz")
        assert problems["damaged"].severity == "error"
    (tmp_path / "sum.tar.gz").write_bytes(whole[:-8] + b"\0" * 8)
    assert "no whole gzip file" in found(tmp_path / "sum.tar.gz")["damaged"].value


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(place=st.integers(0, 3000), data=st.binary(min_size=1, max_size=40))
def test_any_damage_ends_in_findings(tmp_path: Path, place: int, data: bytes) -> None:
    path = archive(tmp_path / "a.tar.gz")
    plain = bytearray(gzip.decompress(path.read_bytes()))
    plain[place : place + len(data)] = data
    path.write_bytes(gzip.compress(bytes(plain), 1))
    check_adapter(read_archive(path))


def test_a_bomb_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "bomb.tar.gz"
    info = tarfile.TarInfo("zeros.txt")
    info.size = 64 * 1024**2
    with gzip.open(path, "wb", 9) as stream:
        stream.write(info.tobuf())
        for _ in range(64):
            stream.write(bytes(1024**2))
        stream.write(bytes(1024))
    assert "unpack" in found(path)["damaged"].value


def test_a_header_that_claims_all_memory_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "pax.tar.gz"
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 5 * 1024**2
    path.write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(6 * 1024**2)))
    assert "a header claims" in found(path)["damaged"].value


def test_declared_sizes_beyond_all_limits(tmp_path: Path) -> None:
    info = tarfile.TarInfo("huge")
    info.size = 8**11 - 1
    path = tmp_path / "huge.tar.gz"
    path.write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(2048)))
    assert "damaged" in found(path)


def test_large_files_are_passed_over(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.tar.gz", member("large.txt", os.urandom(3 * 1024**2)), member("after.txt", b"x"))
    contents = read_archive(path)
    assert contents.damage is None
    assert [(one.name, one.size) for one in contents.entries[2:]] == [("large.txt", 3 * 1024**2), ("after.txt", 1)]
    cut = gzip.compress(gzip.decompress(path.read_bytes())[: 2 * 1024**2], 1)
    path.write_bytes(cut)
    assert "too early" in found(path)["damaged"].value


def test_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warmstack.adapters.archive._MOST_ENTRIES", 1)
    assert "more than 1 members" in found(archive(tmp_path / "a.tar.gz"))["damaged"].value
    monkeypatch.setattr("warmstack.adapters.folder._MOST_ENTRIES", 1)
    with pytest.raises(AdapterError, match="holds more than 1 files"):
        read_folder(adapter(tmp_path / "legal"))


def test_odd_names(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT, encoding="latin-1") as tar:
        tar.addfile(*[member("\xff\xfe\x1b.txt")[0], io.BytesIO()])
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(stream.getvalue()))
    assert "config" in found(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(AdapterError, match=r"none\.tar\.gz cannot be read: No such file"):
        read_archive(tmp_path / "none.tar.gz")
    with pytest.raises(AdapterError, match="cannot be listed"):
        read_folder(tmp_path / "none")


def test_links_in_a_folder(tmp_path: Path) -> None:
    folder = adapter(tmp_path / "legal")
    (folder / "inside.json").symlink_to("adapter_config.json")
    (folder / "outside").symlink_to("/etc/passwd")
    (folder / "dangling").symlink_to("nothing")
    (folder / "sub").mkdir()
    kinds = {one.name: one.kind for one in read_folder(folder).entries}
    assert kinds["inside.json"] == "file"
    assert kinds["outside"] == kinds["dangling"] == "link"
    assert kinds["sub"] == "folder"
