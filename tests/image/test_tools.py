"""What `make test-image` says where images cannot be built. These tests need nothing, and run with all others."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path

import pytest

import apt
import image_tools

HERE = ("Linux", "x86_64")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine on which nothing is missing but what a test takes away."""
    monkeypatch.setattr(platform, "system", lambda: HERE[0])
    monkeypatch.setattr(platform, "machine", lambda: HERE[1])
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(image_tools, "missing", list)
    monkeypatch.setattr(image_tools, "has_registry", lambda: True)
    monkeypatch.setattr(apt, "PAUSE_SECONDS", 0.0)
    return monkeypatch


def test_a_second_run_does_nothing(here: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert image_tools.main() == 0
    assert capsys.readouterr() == ("", "")


def test_it_needs_root(here: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    here.setattr(os, "geteuid", lambda: 1000)
    assert image_tools.main() == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "image: building images here needs root, to mount their layers; run `make test-image` as root"


def test_it_needs_the_processor_of_the_images(here: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    here.setattr(platform, "machine", lambda: "arm64")
    assert image_tools.main() == 1
    assert capsys.readouterr().err.startswith("image: this is Linux arm64; the images are for x86-64 Linux")


def test_it_needs_apt_for_what_is_missing(here: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    here.setattr(image_tools, "missing", lambda: ["buildah"])
    here.setattr(shutil, "which", lambda *_, **__: None)
    assert image_tools.main() == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "image: buildah: missing, and there is no apt-get to install them with"


def test_it_tries_again_and_says_what_apt_said(
    here: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = tmp_path / "called"
    program = tmp_path / "apt-get"
    program.write_text(f'#!/bin/sh\necho "$DEBIAN_FRONTEND $*" >>"{note}"\necho "no mirror answers"\nexit 100\n')
    program.chmod(0o755)
    here.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    here.setattr(image_tools, "missing", lambda: ["buildah", "debootstrap"])
    assert image_tools.main() == 1
    assert (
        "image: apt-get could not install buildah, debootstrap; it said:\nno mirror answers" in capsys.readouterr().err
    )
    install = "noninteractive --quiet install --yes --no-install-recommends buildah debootstrap"
    assert note.read_text().splitlines() == ["noninteractive --quiet update", install] * apt.TRIES


def test_missing_names_packages_not_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_tools, "PACKAGES", {"sh": "dash", "/no/such/file": "some-package", "no-program": "other"})
    assert image_tools.missing() == ["some-package", "other"]


APT_GET = """\
#!/bin/sh
echo "$*" >>"{note}"
case "$*" in *download*) {download} ;; esac
"""
DPKG_DEB = """\
#!/bin/sh
mkdir -p "$3/usr/bin" && cp "$2" "$3/usr/bin/docker-registry"
"""


def programs(folder: Path, here: pytest.MonkeyPatch, download: str) -> Path:
    """Stand-ins of apt-get and dpkg-deb, first on PATH; returns where apt-get writes down what it was told."""
    note = folder / "called"
    for name, text in (("apt-get", APT_GET.format(note=note, download=download)), ("dpkg-deb", DPKG_DEB)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    here.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return note


def test_the_registry_is_unpacked_and_not_installed(here: pytest.MonkeyPatch, tmp_path: Path) -> None:
    note = programs(tmp_path, here, "echo program >some-registry_1_amd64.deb")
    place = tmp_path / "tools" / "registry"
    here.setattr(image_tools, "has_registry", (place / "usr/bin/docker-registry").exists)
    here.setattr(image_tools, "REGISTRY_FOLDER", place)
    assert image_tools.main() == 0
    assert (place / "usr/bin/docker-registry").read_text() == "program\n"
    assert note.read_text().splitlines() == ["--quiet update", "--quiet download docker-registry"]
    assert image_tools.main() == 0
    assert len(note.read_text().splitlines()) == 2
    assert [one.name for one in place.parent.iterdir()] == ["registry"]


def test_a_registry_that_cannot_be_fetched_is_said_with_apts_words(
    here: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = programs(tmp_path, here, "echo no mirror answers; exit 100")
    place = tmp_path / "tools" / "registry"
    here.setattr(image_tools, "has_registry", lambda: False)
    here.setattr(image_tools, "REGISTRY_FOLDER", place)
    assert image_tools.main() == 1
    assert "image: apt-get could not fetch docker-registry; it said:\nno mirror answers" in capsys.readouterr().err
    assert len(note.read_text().splitlines()) == 2 * apt.TRIES
    assert list(place.parent.iterdir()) == []
