"""The wheel, in a virtual environment that has nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ports import kept_port

UV = Path(sys.executable).parent / "uv"


def run(*words: str | Path, cwd: Path) -> str:
    """Run a command that must succeed; return what it printed."""
    env = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONPATH")}
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(
        UV,
        "build",
        "--wheel",
        "--no-build-isolation",
        "--python",
        sys.executable,
        "--out-dir",
        folder,
        root,
        cwd=folder,
    )
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture
def port() -> Iterator[str]:
    with kept_port() as number:
        yield str(number)


def test_the_wheel_holds_the_package_and_its_data(wheel: Path, root: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    source = root / "src"
    wanted = {
        path.relative_to(source).as_posix()
        for path in (source / "warmstack").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted <= names
    assert "warmstack/py.typed" in names
    assert any(name.startswith("warmstack/catalog/data/") for name in names)
    assert "warmstack/_data/templates/sglang/Dockerfile.j2" in names
    assert "warmstack/_data/container/session_server/requirements.txt" in names
    assert not any(name.startswith(("tests/", "stacks/", "specs/")) for name in names)


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_installed_wheel_plans_and_renders_shipped_specs(wheel: Path, root: Path, tmp_path: Path) -> None:
    run(UV, "venv", "--python", sys.executable, tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    run(
        UV, "pip", "install", "--python", python, "--constraint", root / "requirements" / "runtime.txt", wheel,
        cwd=tmp_path,
    )  # fmt: skip
    (tmp_path / "spec.yaml").write_bytes((root / "specs" / "tiered-cache.yaml").read_bytes())
    command = tmp_path / "venv" / "bin" / "warmstack"
    out = run(command, "plan", "spec.yaml", cwd=tmp_path)
    assert "tiered-prod" in out
    assert "LMCACHE_MAX_LOCAL_CPU_SIZE=65" in out
    (tmp_path / "built.yaml").write_bytes((root / "specs" / "sglang-sessions.yaml").read_bytes())
    run(command, "render", "built.yaml", cwd=tmp_path)
    run(root / ".venv" / "bin" / "warmstack", "render", "built.yaml", "-o", "clone", cwd=tmp_path)
    packaged, cloned = (_files(tmp_path / one / "sglang-sessions-prod") for one in ("build", "clone"))
    assert packaged == cloned
    assert "sglang-0.5.20/session_server/requirements.txt" in packaged
    installed = run(UV, "pip", "list", "--python", python, cwd=tmp_path)
    assert "aws-cdk-lib" not in installed
    assert "boto3" not in installed


def test_the_installed_wheel_serves_a_template(wheel: Path, root: Path, tmp_path: Path, port: str) -> None:
    run(UV, "venv", "--python", sys.executable, tmp_path / "venv", cwd=tmp_path)
    python, command = tmp_path / "venv" / "bin" / "python", tmp_path / "venv" / "bin" / "warmstack"
    constraint = ("--constraint", root / "requirements" / "dev.txt")
    run(UV, "pip", "install", "--python", python, *constraint, wheel, cwd=tmp_path)
    template = root / "tests" / "golden" / "stacks" / "sglang-sessions" / "template.json"
    arguments = ("local", "up", template, "--engine", "simulated", "--port", port, "--detach", "--json")
    environment = os.environ | {"XDG_STATE_HOME": str(tmp_path / "state")}
    bare = subprocess.run(
        [command, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert bare.returncode == 1
    assert "which is not installed: pip install 'warmstack[local]'" in bare.stderr
    run(UV, "pip", "install", "--python", python, *constraint, f"{wheel}[local]", cwd=tmp_path)
    started = subprocess.run(
        [command, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert started.returncode == 0, started.stderr
    url = json.loads(started.stdout)["url"]
    try:
        # The dialect of SGLang runs the session server that the package carries as data.
        request = urllib.request.Request(
            f"{url}/endpoints/sglang-sessions-prod/invocations",
            b'{"messages": [{"role": "user", "content": "hello"}], "max_tokens": 3}',
            {"Authorization": "AWS4-HMAC-SHA256 Credential=x", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert json.loads(answer.read())["usage"]["completion_tokens"] == 3
        with urllib.request.urlopen(f"{url}/_warmstack/", timeout=30) as page:
            assert b"<h1>Local endpoint</h1>" in page.read()
    finally:
        subprocess.run([command, "local", "down", "--port", port], env=environment, check=False, timeout=60)
