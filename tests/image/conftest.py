"""One storage for the session, the bases in it, and the images, each built when the first test asks for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.image.bases import make_base, make_debian
from tests.image.buildah import Buildah, BuildahError, Mount
from tests.image.cases import plan_of
from tests.image.package_index import package_mounts
from tests.image.secrets_manager import SecretsManager
from warmstack.plan import Plan
from warmstack.render import BuildContext, render_contexts, write_contexts

ADAPTER_CODE = """\
from warmstack_formatters import output_formatter


@output_formatter
def to_client(response: dict, *, adapter: str) -> dict:
    return {**response, "by": adapter}
"""
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A built image and what it was built from."""

    tag: str
    base: str
    plan: Plan
    context: BuildContext


@pytest.fixture(scope="session")
def say(pytestconfig: pytest.Config) -> Say:
    """Print a line while the tests run: the steps take long."""
    reporter = pytestconfig.pluginmanager.getplugin("terminalreporter")
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    started = time.monotonic()

    def line(text: str) -> None:
        with capture.global_and_fixture_disabled():
            reporter.ensure_newline()
            reporter.write_line(f"image: {time.monotonic() - started:4.0f} s  {text}")

    return line


@pytest.fixture(scope="session")
def buildah(say: Say) -> Iterator[Buildah]:
    """buildah with a storage that is removed at the end, and the small Debian in it."""
    assert os.geteuid() == 0, "images are built by root: it mounts their layers; see `make test-image`"
    # Guard: the PATH of a user's shell may lack sbin, where debootstrap and what it calls lie.
    os.environ["PATH"] = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
    missing = [name for name in ("buildah", "debootstrap") if shutil.which(name) is None]
    assert not missing, f"{', '.join(missing)}: not on PATH; `make test-image` installs them"
    folder = Path(tempfile.mkdtemp(prefix="warmstack-image-"))
    try:
        storage = folder / "storage"
        storage.mkdir()
        found = Buildah(storage=storage, driver=working_driver(folder), mounts=package_mounts(folder))
        say(f"debootstrap: a small Debian, for about a minute (storage: {found.driver})")
        make_debian(found, folder)
        yield found
    finally:
        remove(folder)


def working_driver(folder: Path) -> str:
    """Return overlay where this machine can mount it, else vfs, which copies every layer."""
    for driver in ("overlay", "vfs"):
        trial = Buildah(storage=folder / f"trial-{driver}", driver=driver)
        trial.storage.mkdir()
        try:
            name = trial.run("from", "scratch")
            (Path(trial.run("mount", name)) / "file").touch()
            trial.run("rm", name)
        except BuildahError as error:
            problem = error
        else:
            return driver
    raise AssertionError(f"buildah can mount nothing here; it needs the rights of root to mount: {problem}")


def remove(folder: Path) -> None:
    """Remove a folder with the storage in it.

    Guard: a mount that was left in it may lead to the host's own files. It is taken away first, and if that fails
    the folder stays.
    """
    for place in reversed(mounts_below(folder)):
        subprocess.run(["umount", place], capture_output=True, check=False)
    left = mounts_below(folder)
    assert not left, f"{left} are still mounted; unmount them, then remove {folder}"
    shutil.rmtree(folder)


def mounts_below(folder: Path) -> list[str]:
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return [place for place in (line.split()[4] for line in lines) if place.startswith(f"{folder}/")]


@pytest.fixture(scope="session")
def build(buildah: Buildah, say: Say, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Built]:
    """Build the image of a case from its rendered context as it is; the second time, return the first's."""
    built: dict[str, Built] = {}

    def image(name: str) -> Built:
        if name not in built:
            say(f"buildah bud: the image of {name}")
            bases = {one.base for one in built.values()}
            built[name] = _build(buildah, name, tmp_path_factory.mktemp("contexts"), bases)
        return built[name]

    return image


def _build(buildah: Buildah, name: str, folder: Path, bases: Collection[str]) -> Built:
    plan = plan_of(name)
    (context,) = render_contexts(plan)
    (image,) = plan.images
    # Without a Region the Dockerfile names no base; the builder does.
    base = image.base_uri or f"localhost/stock-{image.server}:{image.version}"
    if base not in bases:
        make_base(buildah, image.server, base)
    where = write_contexts([context], folder)[context.name]
    build_args = {} if image.base_uri else {"BASE_IMAGE": base}
    tag = buildah.build(where, f"localhost/{name}:1", build_args=build_args)
    return Built(tag=tag, base=base, plan=plan, context=context)


@pytest.fixture
def secrets_manager() -> Iterator[SecretsManager]:
    """A stand-in of Secrets Manager on 127.0.0.1."""
    with SecretsManager() as server:
        yield server


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> tuple[Mount, ...]:
    """What SageMaker mounts: the weights and the folders of adapters, read-only."""
    folder = tmp_path_factory.mktemp("platform")
    (folder / "model").mkdir()
    (folder / "model" / "config.json").write_text("{}", encoding="utf-8")
    for name in ("legal", "formal"):
        (folder / "models" / name).mkdir(parents=True)
        (folder / "models" / name / "adapter_config.json").write_text("{}", encoding="utf-8")
    (folder / "models" / "formal" / "formatters.py").write_text(ADAPTER_CODE, encoding="utf-8")
    inside = {"model": "/opt/ml/model", "models": "/opt/ml/models"}
    return tuple(Mount(host=folder / name, inside=place) for name, place in inside.items())


@pytest.fixture(scope="session")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what containers print."""
    return tmp_path_factory.mktemp("log")
