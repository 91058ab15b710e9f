"""buildah, without a daemon: images are built and containers are run in a storage of the tests' own.

Its chroot isolation needs neither cgroups nor a network of its own, so that it works inside other containers; what
runs in it shares the host's network and process ids.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BUILD_SECONDS = 300


class BuildahError(AssertionError):
    """A command of buildah failed; the message holds the end of what it printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A folder or file of the host inside a container, read-only."""

    host: Path
    inside: str

    @property
    def option(self) -> str:
        return f"{self.host}:{self.inside}:ro"


@dataclass(frozen=True, slots=True, kw_only=True)
class Buildah:
    """buildah with one storage.

    Args:
        storage: the folder that holds all that it keeps.
        driver: ``overlay`` or ``vfs``.
        mounts: what every build can read; nothing of it enters a layer.
    """

    storage: Path
    driver: str
    mounts: tuple[Mount, ...] = field(default=())

    def command(self, *arguments: str | Path) -> list[str]:
        places = ["--root", str(self.storage / "root"), "--runroot", str(self.storage / "run")]
        return ["buildah", *places, "--storage-driver", self.driver, *map(str, arguments)]

    @property
    def environment(self) -> dict[str, str]:
        # TMPDIR: the root folders of running containers would lie in /var/tmp otherwise.
        return {**os.environ, "BUILDAH_ISOLATION": "chroot", "TMPDIR": str(self.storage)}

    def run(self, *arguments: str | Path, seconds: float = 120) -> str:
        """Run a command of buildah and return what it prints."""
        done = subprocess.run(
            self.command(*arguments),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
        )
        if done.returncode != 0:
            raise BuildahError(
                f"buildah {arguments[0]} failed ({done.returncode}):\n{(done.stdout + done.stderr)[-6000:]}"
            )
        return done.stdout.strip()

    def build(self, context: Path, tag: str, *, build_args: Mapping[str, str] | None = None) -> str:
        """Build a context as it is and return the tag."""
        # --format docker: what ECR gets from `docker build`.
        options = ["--pull-never", "--format", "docker", "--tag", tag]
        options += [f"--build-arg={key}={value}" for key, value in (build_args or {}).items()]
        options += [f"--volume={mount.option}" for mount in self.mounts]
        self.run("bud", *options, context, seconds=BUILD_SECONDS)
        return tag

    def inspect(self, image: str) -> dict[str, Any]:
        """Return the image's configuration, history included."""
        found = json.loads(self.run("inspect", "--type", "image", image))
        return dict(found["OCIv1"])

    @contextmanager
    def container(self, image: str) -> Iterator[str]:
        """Make a container of an image, and remove it at the end."""
        name = self.run("from", "--pull-never", image)
        try:
            yield name
        finally:
            self.run("rm", name)

    @contextmanager
    def mounted(self, image: str) -> Iterator[Path]:
        """Yield the folder with an image's files."""
        with self.container(image) as name:
            yield Path(self.run("mount", name))

    def start_command(
        self, container: str, command: Sequence[str], environment: Mapping[str, str], mounts: Sequence[Mount]
    ) -> list[str]:
        """Return the command line that runs a command in a container."""
        options = [f"--env={key}={value}" for key, value in environment.items()]
        options += [f"--volume={mount.option}" for mount in mounts]
        return self.command("run", *options, container, "--", *command)
