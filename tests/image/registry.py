"""A registry on 127.0.0.1, as ECR is to what pushes and pulls: repositories, tags and manifests."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from image_tools import REGISTRY
from tests.ports import kept_port

PATIENCE_SECONDS = 60.0
_MANIFESTS = "application/vnd.docker.distribution.manifest.v2+json, application/vnd.oci.image.manifest.v1+json"
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """A registry that answers.

    Args:
        address: Its host and port, as the start of an image's name.
    """

    address: str

    def tags(self, repository: str) -> list[str]:
        """Return a repository's tags; none where there is no such repository."""
        try:
            return sorted(json.loads(self._get(f"{repository}/tags/list"))["tags"] or [])
        except urllib.error.HTTPError as error:
            if error.code != HTTPStatus.NOT_FOUND:
                raise
            return []

    def manifest(self, repository: str, tag: str) -> bytes:
        """Return what lists an image's layers."""
        return self._get(f"{repository}/manifests/{tag}")

    def configuration(self, repository: str, tag: str) -> dict[str, Any]:
        """Return an image's configuration: labels, environment, command."""
        digest = json.loads(self.manifest(repository, tag))["config"]["digest"]
        return dict(json.loads(self._get(f"{repository}/blobs/{digest}"))["config"])

    def _get(self, path: str) -> bytes:
        request = urllib.request.Request(f"http://{self.address}/v2/{path}", headers={"Accept": _MANIFESTS})
        with _DIRECT.open(request, timeout=PATIENCE_SECONDS) as answer:
            return bytes(answer.read())


@contextmanager
def serving(folder: Path) -> Iterator[Registry]:
    """Serve an empty registry that keeps its images in a folder."""
    assert REGISTRY.exists(), f"{REGISTRY} is not there; `make test-image` fetches it"
    with kept_port() as port:
        yield from _serving(folder, f"127.0.0.1:{port}")


def _serving(folder: Path, address: str) -> Iterator[Registry]:
    settings = {
        "version": 0.1,
        "log": {"level": "error", "accesslog": {"disabled": True}},
        "storage": {"filesystem": {"rootdirectory": str(folder / "images")}},
        "http": {"addr": address},
    }
    # JSON is YAML.
    (folder / "registry.yml").write_text(json.dumps(settings), encoding="utf-8")
    log = folder / "registry.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(REGISTRY), "serve", str(folder / "registry.yml")],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait(process, address, log)
        yield Registry(address=address)
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


def _wait(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with _DIRECT.open(f"http://{address}/v2/", timeout=PATIENCE_SECONDS):
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"the registry does not answer; it printed:\n{log.read_text(encoding='utf-8')}")
