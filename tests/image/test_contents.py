"""What is in the built images, and what is not: compared with their contexts and with the bases they are built on."""

from __future__ import annotations

import functools
import json
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.image.bases import PACKAGES, STOCK_START
from tests.image.buildah import Buildah
from tests.image.cases import NAMES
from tests.image.conftest import Built
from tests.image.package_index import host_settings
from tests.unit.render.builds import SECRET
from warmstack.plan import INSIDE
from warmstack.render.parts import parts_of

pytestmark = pytest.mark.image
VENV = "opt/warmstack/venv"
Tree = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An image's files, and which of them differ from its base's."""

    built: Built
    files: Path
    changed: frozenset[str]


@pytest.fixture(scope="module")
def base_files(buildah: Buildah) -> Callable[[str], Tree]:
    """Return what a base holds; each is looked at once."""

    @functools.cache
    def look(base: str) -> Tree:
        with buildah.mounted(base) as files:
            return dict(tree(files))

    return look


@pytest.fixture(scope="module", params=NAMES)
def opened(
    request: pytest.FixtureRequest, build: Callable[[str], Built], buildah: Buildah, base_files: Callable[[str], Tree]
) -> Iterator[Opened]:
    """Each image in turn."""
    built = build(request.param)
    before = base_files(built.base)
    with buildah.mounted(built.tag) as files:
        yield Opened(built=built, files=files, changed=changed(before, dict(tree(files))))


def changed(before: Tree, after: Tree) -> frozenset[str]:
    """Return the paths that an image adds, changes or takes away; not the folders that only hold them."""
    names = (name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return frozenset(name for name in names if not (stat.S_ISDIR(after.get(name, (0,))[0]) and name in before))


def tree(root: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield every path below a folder, with its mode, owner, size and time of change."""
    for path in root.rglob("*"):
        about = path.lstat()
        size, time = (0, 0) if path.is_dir() and not path.is_symlink() else (about.st_size, int(about.st_mtime))
        yield path.relative_to(root).as_posix(), (about.st_mode, about.st_uid, about.st_gid, size, time)


def test_nothing_outside_our_folder_is_touched(opened: Opened) -> None:
    outside = {name for name in opened.changed if not name.startswith("opt/warmstack/")}
    assert outside <= {"opt/warmstack"}


def test_our_folder_holds_the_files_of_the_context_and_the_environment(opened: Opened) -> None:
    files = {name: file for name, file in opened.built.context.files.items() if "/" in name}
    ours = opened.files / INSIDE.lstrip("/")
    for name, file in files.items():
        assert (ours / name).read_bytes() == file.content, name
        assert stat.S_IMODE((ours / name).stat().st_mode) == 0o644, name
    there = {path.relative_to(ours).as_posix() for path in ours.rglob("*") if not path.is_dir()}
    assert {name for name in there if not name.startswith("venv/")} == set(files)


def test_the_files_that_the_environment_names_exist(opened: Opened) -> None:
    for served in opened.built.plan.models:
        for name, value in served.environment.items():
            if value.startswith(f"{INSIDE}/"):
                assert (opened.files / value.lstrip("/").partition(":")[0]).is_file(), name


def test_the_environment_holds_exactly_the_pinned_packages(opened: Opened) -> None:
    requirements = parts_of(opened.built.plan.images[0]).requirements
    texts = [opened.built.context.files[name].content.decode() for name in requirements]
    pinned = {canonical(name): version for text in texts for name, version in re.findall(r"^(\S+)==(\S+)", text, re.M)}
    installed = {}
    for folder in (opened.files / VENV).glob("lib/python*/site-packages/*.dist-info"):
        name, _, version = folder.name.removesuffix(".dist-info").rpartition("-")
        installed[canonical(name)] = version
        # Our Dockerfiles use what the base has: one of these stand-ins has uv, the others pip.
        assert (folder / "INSTALLER").read_text().strip() == ("uv" if opened.built.tag.count("vllm") else "pip")
    assert installed == pinned
    assert (opened.files / VENV).exists() == bool(pinned)
    assert not list((opened.files / VENV).glob("lib/python*/site-packages/pip"))


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_engines_packages_are_unchanged(opened: Opened) -> None:
    places = (PACKAGES, "opt/venv", "usr/lib/python3/dist-packages", "usr/lib/python3.11")
    assert [name for name in opened.changed if name.startswith(places)] == []


def test_the_labels_say_what_it_is_made_from(opened: Opened, buildah: Buildah) -> None:
    (image,) = opened.built.plan.images
    labels = buildah.inspect(opened.built.tag)["config"]["Labels"]
    assert {name: value for name, value in labels.items() if "warmstack" in name or "opencontainers" in name} == {
        "org.opencontainers.image.title": image.name,
        "com.warmstack.server": image.server,
        "com.warmstack.server.version": image.version,
        "com.warmstack.engine.version": image.engine_version or "unknown",
        "com.warmstack.spec.sha256": image.meaning_hash,
    }
    assert labels["stock"] == image.server


def test_the_rest_of_the_configuration_is_the_bases(opened: Opened, buildah: Buildah) -> None:
    """SageMaker adds the argument: an image without an entrypoint of ours keeps the base's."""
    (image,) = opened.built.plan.images
    built, base = buildah.inspect(opened.built.tag), buildah.inspect(opened.built.base)
    assert (built["os"], built["architecture"]) == ("linux", "amd64")
    command = list(parts_of(image).command)
    assert built["config"]["Entrypoint"] == (command or [STOCK_START[image.server]])
    assert built["config"]["Cmd"] == (["serve"] if command else base["config"]["Cmd"])
    ours = ("Entrypoint", "Cmd", "Labels")
    rest = [{key: value for key, value in one["config"].items() if key not in ours} for one in (built, base)]
    assert rest[0] == rest[1]


def test_no_secret_and_no_setting_of_this_machine_is_in_it(opened: Opened, buildah: Buildah) -> None:
    secrets = [SECRET, "hub-token", *" ".join(host_settings().values()).split()]
    words = [word for word in secrets if len(word) > 8]
    configuration = json.dumps(buildah.inspect(opened.built.tag))
    assert [word for word in words if word in configuration] == []
    for name in opened.changed:
        path = opened.files / name
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            assert [word for word in words if word.encode() in content] == [], name
