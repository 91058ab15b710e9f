"""The program that ``CDK_DOCKER`` names in the tests: buildah in place of Docker, a local registry in place of ECR.

It knows the commands that the CDK CLI calls, and fails at any other.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import boto3
from botocore.config import Config

from tests.examples import ROOT
from tests.image.buildah import Buildah, BuildahError, Mount
from tests.image.registry import Registry

_ECR = re.compile(r"^\d{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com/")


@dataclass(frozen=True, slots=True, kw_only=True)
class CdkDocker:
    """Answers the CDK CLI's calls.

    Args:
        buildah: Builds; bases come from its storage.
        registry: Gets what is pushed.
        calls: The file in which each call is written down, as one line of JSON.
    """

    buildah: Buildah
    registry: Registry
    calls: Path

    def program(self, folder: Path) -> Path:
        """Write the program that calls this, and return its path."""
        settings = folder / "cdk-docker.json"
        mounts = [(str(one.host), one.inside) for one in self.buildah.mounts]
        document = {
            "storage": str(self.buildah.storage),
            "driver": self.buildah.driver,
            "mounts": mounts,
            "registry": self.registry.address,
            "calls": str(self.calls),
        }
        settings.write_text(json.dumps(document), encoding="utf-8")
        words = [sys.executable, "-m", "tests.image.cdk_docker", str(settings)]
        path = folder / "cdk-docker"
        paths = shlex.quote(f"{ROOT}:{ROOT / 'scripts'}")
        path.write_text(f'#!/bin/sh\nPYTHONPATH={paths} exec {shlex.join(words)} "$@"\n', encoding="utf-8")
        path.chmod(0o755)
        return path

    def answer(self, command: str, arguments: Sequence[str]) -> None:
        """Do what a call asks for.

        Raises:
            BuildahError: It cannot be done.
            ValueError: No such command is known.
        """
        with self.calls.open("a", encoding="utf-8") as file:
            file.write(json.dumps([command, *arguments]) + "\n")
        if command == "login":
            sys.stdin.read()
        elif command == "inspect":
            self.buildah.run("inspect", "--type", "image", *arguments)
        elif command == "build":
            # Docker knows the bases of its own storage, and would fetch others.
            volumes = [f"--volume={one.option}" for one in self.buildah.mounts]
            self.buildah.run("bud", "--pull-never", "--format", "docker", *volumes, *arguments, seconds=300)
        elif command == "tag":
            image, name = arguments
            self.buildah.run("tag", image, self._local(name))
        elif command == "push":
            self._push(arguments[-1])
        else:
            raise ValueError(f"{command}: the CDK CLI was not known to call this")

    def _local(self, name: str) -> str:
        return _ECR.sub(f"{self.registry.address}/", name)

    def _push(self, name: str) -> None:
        self.buildah.run("push", "--tls-verify=false", self._local(name))
        # ECR is both the registry and what the CLI asks whether an image is there.
        repository, tag = _ECR.sub("", name).rsplit(":", 1)
        manifest = self.registry.manifest(repository, tag).decode()
        ecr = boto3.client("ecr", config=Config(proxies={}))
        ecr.put_image(repositoryName=repository, imageTag=tag, imageManifest=manifest)


def read(path: Path) -> CdkDocker:
    """Return what was written down for the program."""
    found = json.loads(path.read_text(encoding="utf-8"))
    mounts = tuple(Mount(host=Path(host), inside=inside) for host, inside in found["mounts"])
    return CdkDocker(
        buildah=Buildah(storage=Path(found["storage"]), driver=found["driver"], mounts=mounts),
        registry=Registry(address=found["registry"]),
        calls=Path(found["calls"]),
    )


def main(arguments: Sequence[str]) -> int:
    """Answer one call; return the exit status."""
    settings, command, *others = arguments
    try:
        read(Path(settings)).answer(command, others)
    except (BuildahError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
