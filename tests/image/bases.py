"""Stand-ins for the images that ours are built on: a small Debian with the files that our Dockerfiles rely on.

The places are those of the public Dockerfiles of the real images; nothing else of them is here.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.image.buildah import Buildah
from tests.image.package_index import make_mount_points

DEBIAN = "localhost/warmstack-debian:bookworm"
HERE = Path(__file__).parent
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
UV_ENVIRONMENT = {
    "PATH": f"/opt/venv/bin:{PATH}",
    "VIRTUAL_ENV": "/opt/venv",
    "UV_SYSTEM_PYTHON": "1",
    "UV_LINK_MODE": "copy",
}
UV = Path(sys.executable).with_name("uv")
ENGINE = HERE.parent / "fakes" / "sglang_engine" / "sglang"
PACKAGES = "usr/local/lib/python3.11/dist-packages"
STOCK_START: Mapping[str, str] = {
    "lmi": "/usr/local/bin/dockerd-entrypoint.sh",
    "vllm": "/usr/local/bin/sagemaker_entrypoint.sh",
    "sglang": "/usr/bin/serve",
}


def make_debian(buildah: Buildah, folder: Path) -> None:
    """Make a minimal Debian with Python and pip, and without python3-venv, as the real images are.

    Args:
        buildah: the storage that gets it as :data:`DEBIAN`.
        folder: where it is put together; removed afterwards.
    """
    rootfs = folder / "debian"
    packages = "python3,python3-pip,ca-certificates"
    command = ["debootstrap", "--variant=minbase", f"--include={packages}", "bookworm", str(rootfs), *debian_mirror()]
    for attempt in (1, 2):
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300
        )
        if done.returncode == 0:
            break
        _empty(rootfs)
        assert attempt == 1, f"debootstrap failed:\n{(done.stdout + done.stderr)[-3000:]}"
    for waste in (
        "var/cache/apt/archives",
        "var/lib/apt/lists",
        "dev",
        "usr/share/doc",
        "usr/share/man",
        "usr/share/locale",
    ):
        shutil.rmtree(rootfs / waste)
        (rootfs / waste).mkdir()
    # Docker gives every container one; without it here, a build would leave an empty one in the layer.
    (rootfs / "etc/hosts").touch()
    make_mount_points(rootfs, buildah.mounts)
    with new_image(buildah, "scratch", DEBIAN) as root:
        subprocess.run(["cp", "-a", f"{rootfs}/.", str(root)], check=True)
    shutil.rmtree(rootfs)


def make_base(buildah: Buildah, server: str, tag: str) -> None:
    """Make the stand-in of a server's stock image."""
    start = STOCK_START[server]
    environment = {"PATH": PATH, "STOCK": "1"} | (UV_ENVIRONMENT if server == "vllm" else {})
    options = [f"--label=stock={server}", "--port=8080", f'--entrypoint=["{start}"]', "--cmd=serve"]
    options += [f"--env={key}={value}" for key, value in environment.items()]
    with new_image(buildah, DEBIAN, tag, options) as root:
        script = root / start.lstrip("/")
        script.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(HERE / "stock_entrypoint.py", script)
        script.chmod(0o755)
        if server == "vllm":
            replace_pip(root)
        if server == "sglang":
            target = root / PACKAGES / "sglang"
            shutil.copytree(ENGINE, target, ignore=shutil.ignore_patterns("__pycache__"))


def replace_pip(root: Path) -> None:
    """Take pip away and put uv and an environment for the engine in its place.

    Our Dockerfiles know both installers, and either may be all that an image has. An image that is made with uv may
    also have the engine's Python in an environment, and tell uv of its own choices by variables.
    """
    for folder in root.glob("usr/lib/python3/dist-packages/pip*"):
        shutil.rmtree(folder)
    shutil.copy(UV, root / "usr/local/bin/uv")
    subprocess.run(["chroot", str(root), "/usr/bin/python3", "-m", "venv", "--without-pip", "/opt/venv"], check=True)


@contextmanager
def new_image(buildah: Buildah, base: str, tag: str, options: list[str] | None = None) -> Iterator[Path]:
    """Yield the files of a new image; they are committed at the end."""
    container = buildah.run("from", "--pull-never", base)
    try:
        yield Path(buildah.run("mount", container))
        if options:
            buildah.run("config", *options, container)
        buildah.run("commit", "--quiet", container, tag)
    finally:
        buildah.run("rm", container)


def debian_mirror() -> list[str]:
    """Return the mirror that this machine's apt uses; none where it has another release, for debootstrap's default."""
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Created-By: Packages"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    found = [line.split() for line in listed.splitlines()]
    mirrors = [words[0] for words in found if len(words) == 2 and words[1] == "bookworm" and "/debian" in words[0]]
    return mirrors[:1]


def _empty(rootfs: Path) -> None:
    """Remove what a failed debootstrap left; it mounts /proc and /sys inside, and may not have unmounted them."""
    for inside in ("proc", "sys"):
        subprocess.run(["umount", "--lazy", str(rootfs / inside)], capture_output=True, check=False)
    if rootfs.exists():
        subprocess.run(["rm", "-rf", "--one-file-system", str(rootfs)], check=True)
