"""Contexts on disk: whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.unit.render.builds import DOCKER, HERE, TEMPLATE, TIERS, context
from warmstack.render import BuildContext, ContextFile, RenderError, write_contexts

MARK = ContextFile(content=b"Dockerfile\n.dockerignore\n")


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_writes_what_was_rendered(tmp_path: Path) -> None:
    built = context(HERE, DOCKER, TIERS)
    places = write_contexts([built], tmp_path / "a" / "b")
    assert places == {built.name: tmp_path / "a" / "b" / built.name}
    assert _files(places[built.name]) == {path: file.content for path, file in built.files.items()}


def test_a_second_run_touches_nothing(tmp_path: Path) -> None:
    built = context(HERE, DOCKER, TIERS)
    (place,) = write_contexts([built], tmp_path).values()
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    write_contexts([built], tmp_path)
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*")} == before


def test_a_file_of_an_older_rendering_goes(tmp_path: Path) -> None:
    old, new = context(HERE, DOCKER, TIERS, TEMPLATE), context(HERE, DOCKER, TIERS)
    assert old.name == new.name
    write_contexts([old], tmp_path)
    write_contexts([new], tmp_path)
    assert set(_files(tmp_path / new.name)) == set(new.files)
    assert [path.name for path in tmp_path.iterdir()] == [new.name]


def test_a_changed_file_is_written_again(tmp_path: Path) -> None:
    built = context(HERE, DOCKER, TIERS)
    (place,) = write_contexts([built], tmp_path).values()
    (place / "Dockerfile").write_text("FROM scratch\n", encoding="utf-8")
    (place / "left-over").symlink_to("/nowhere")
    write_contexts([built], tmp_path)
    assert _files(place) == {path: file.content for path, file in built.files.items()}
    assert not (place / "left-over").is_symlink()


def test_what_fails_leaves_the_old_context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = (
        BuildContext(
            name="one", files={".dockerignore": MARK, "Dockerfile": ContextFile(content=f"FROM {one}\n".encode())}
        )
        for one in "ab"
    )
    write_contexts([old], tmp_path)

    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(RenderError, match="No space left on device"):
        write_contexts([new], tmp_path)
    assert _files(tmp_path) == {"one/.dockerignore": MARK.content, "one/Dockerfile": b"FROM a\n"}


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("mine", encoding="utf-8")
    with pytest.raises(RenderError, match=r"one cannot be written: it is a file"):
        write_contexts([BuildContext(name="one", files={"Dockerfile": ContextFile(content=b"x")})], tmp_path)
    assert (tmp_path / "one").read_text(encoding="utf-8") == "mine"


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(RenderError, match="name another folder"):
        write_contexts([BuildContext(name="one", files={})], tmp_path / "file" / "below")


def test_an_executable_file_is_one(tmp_path: Path) -> None:
    files = {"run": ContextFile(content=b"x", executable=True), "read": ContextFile(content=b"x")}
    write_contexts([BuildContext(name="one", files=files)], tmp_path)
    assert os.access(tmp_path / "one" / "run", os.X_OK)
    assert not (tmp_path / "one" / "read").stat().st_mode & 0o111


def test_the_umask_decides_nothing(tmp_path: Path) -> None:
    built = context(HERE, DOCKER, TIERS)
    before = os.umask(0o077)
    try:
        (place,) = write_contexts([built], tmp_path).values()
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in place.rglob("*") if path.is_dir()} == {0o755}
    assert {path.stat().st_mode & 0o777 for path in place.rglob("*") if path.is_file()} == {0o644}
    (place / "models").chmod(0o700)
    write_contexts([built], tmp_path)
    assert (place / "models").stat().st_mode & 0o777 == 0o755


def test_other_files_are_never_removed(tmp_path: Path) -> None:
    built = context(HERE, DOCKER, TIERS)
    (tmp_path / built.name).mkdir()
    (tmp_path / built.name / "precious").write_text("data", encoding="utf-8")
    with pytest.raises(RenderError, match="no build context of Warmstack's"):
        write_contexts([built], tmp_path)
    assert _files(tmp_path) == {f"{built.name}/precious": b"data"}


def test_a_pipe_in_the_way_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "one")
    with pytest.raises(RenderError, match="it is a file"):
        write_contexts([BuildContext(name="one", files={"Dockerfile": ContextFile(content=b"x")})], tmp_path)


@pytest.mark.parametrize("step", [0, 1])
def test_an_interrupt_leaves_the_old_context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    old, new = context(HERE, DOCKER, TIERS, TEMPLATE), context(HERE, DOCKER, TIERS)
    write_contexts([old], tmp_path)
    rename, renames = Path.rename, [0]

    def interrupted(self: Path, target: Path) -> Path:
        renames[0] += 1
        if renames[0] == step + 1:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_contexts([new], tmp_path)
    assert _files(tmp_path / old.name) == {path: file.content for path, file in old.files.items()}
    assert [path.name for path in tmp_path.iterdir()] == [old.name]


def test_what_a_killed_run_left_is_put_back_or_cleared_away(tmp_path: Path) -> None:
    built = context(HERE, DOCKER, TIERS)
    (place,) = write_contexts([built], tmp_path).values()
    inode = place.stat().st_ino
    (tmp_path / f".{built.name}-half").mkdir()
    (tmp_path / f".{built.name}-half" / "Dockerfile").write_text("FROM half", encoding="utf-8")
    place.rename(tmp_path / f".{built.name}-half-old")
    write_contexts([built], tmp_path)
    assert place.stat().st_ino == inode
    assert [path.name for path in tmp_path.iterdir()] == [built.name]
