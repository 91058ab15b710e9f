"""Archives of adapters that were not made with good intent, or not made well."""

from __future__ import annotations

import io
import tarfile
from collections import namedtuple
from pathlib import Path

import pytest

from warmstack.local.adapter_files import AdapterFiles, write_stand_in
from warmstack.local.errors import LocalError

Usage = namedtuple("Usage", "total used free")


def archive(path: Path, *members: tuple[str, bytes, bytes, str]) -> Path:
    with tarfile.open(path, "w:gz") as made:
        for name, kind, data, link in (("adapter_config.json", tarfile.REGTYPE, b"{}", ""), *members):
            member = tarfile.TarInfo(name)
            member.size, member.type, member.linkname = len(data), kind, link
            made.addfile(member, io.BytesIO(data))
    return path


def files(tmp_path: Path, given: Path) -> Path:
    return AdapterFiles(tmp_path / "run", {"legal": given}, write_stand_in).folder_of("legal")


@pytest.mark.parametrize(
    "member",
    [
        ("../../out", tarfile.REGTYPE, b"x", ""),
        ("link", tarfile.SYMTYPE, b"", "/etc"),
        ("link", tarfile.LNKTYPE, b"", "../../../../etc/passwd"),
        ("device", tarfile.CHRTYPE, b"", ""),
        ("pipe", tarfile.FIFOTYPE, b"", ""),
    ],
)
def test_what_would_leave_the_folder_or_is_no_file_is_refused(
    tmp_path: Path, member: tuple[str, bytes, bytes, str]
) -> None:
    with pytest.raises(LocalError, match=r"^adapter legal: .* cannot be read: "):
        files(tmp_path, archive(tmp_path / "a.tar.gz", member))
    assert not (tmp_path / "out").exists()


def test_an_absolute_name_stays_inside(tmp_path: Path) -> None:
    folder = files(tmp_path, archive(tmp_path / "a.tar.gz", ("/inside", tarfile.REGTYPE, b"x", "")))
    assert (folder / "inside").read_bytes() == b"x"


@pytest.mark.parametrize("content", [b"", b"no gzip", b"\x1f\x8b\x08\x00" + b"\xff" * 50])
def test_what_is_no_archive(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.tar.gz").write_bytes(content)
    with pytest.raises(LocalError, match=r"^adapter legal: .* cannot be read: "):
        files(tmp_path, tmp_path / "a.tar.gz")


def test_an_archive_must_not_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage(10_000, 0, 10_000))
    given = archive(tmp_path / "a.tar.gz", *((f"{at}", tarfile.REGTYPE, b"\0" * 3000, "") for at in range(2)))
    with pytest.raises(LocalError, match="unpacks to more than half of the free space here, 5000 bytes"):
        files(tmp_path, given)
