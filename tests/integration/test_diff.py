"""`make diff`: the templates of a revision, made by its own code, against those of the work tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import diff as diff_script

IDENTITY = ("-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *IDENTITY, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture(scope="module")
def clone(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with this work tree's files as its one commit, and this environment's packages."""
    folder = tmp_path_factory.mktemp("clone")
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (root / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, folder / name)
    for name in (".venv", "node_modules"):
        (folder / name).symlink_to(root / name, target_is_directory=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    # The revision's own code: another cooldown than the work tree has below.
    scaling = folder / "stacks" / "copy_scaling.py"
    now = scaling.read_text(encoding="utf-8")
    scaling.write_text(
        now.replace("SCALE_OUT_COOLDOWN_SECONDS = 300", "SCALE_OUT_COOLDOWN_SECONDS = 77"), encoding="utf-8"
    )
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "base")
    scaling.write_text(now, encoding="utf-8")
    return folder


def run(clone: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "PYTHONPATH"))}
    return subprocess.run(
        [sys.executable, "scripts/diff.py", *words], cwd=clone, env=env, capture_output=True, text=True, check=False,
        timeout=300,
    )  # fmt: skip


def verdicts(out: str) -> dict[str, str]:
    """Return the verdict of each stack in the closing table."""
    table = out[out.index("This work tree against") :]
    rows = [line.split("│") for line in table.splitlines() if line.startswith("│")]
    return {cells[1].strip(): cells[2].strip() for cells in rows if cells[1].strip()}


def test_every_verdict(clone: Path) -> None:
    specs = clone / "specs"
    rag = specs / "rag-prefix-aware.yaml"
    rag.write_text(rag.read_text(encoding="utf-8").replace("max_num_seqs: 128", "max_num_seqs: 64"), encoding="utf-8")
    (specs / "eagle3.yaml").unlink()
    text = (specs / "sticky-chat.yaml").read_text(encoding="utf-8")
    (specs / "new.yaml").write_text(text.replace("name: sticky-chat", "name: brand-new"), encoding="utf-8")
    done = run(clone, "HEAD")
    assert done.stderr == ""
    assert verdicts(done.stdout) == {
        "assistant-prod": "changes",  # the cooldown of the revision's own code
        "brand-new-prod": "new",
        "fast-chat-prod": "destructive",
        "rag-prod": "rollout",
        "sticky-chat-prod": "none",
        "summarizer-dev": "none",
        "summarizer-prod": "none",
        "tenants-prod": "changes",
        "tiered-prod": "none",
    }
    assert done.returncode == 1
    assert "SM_VLLM_MAX_NUM_SEQS" in done.stdout
    assert "[-] 77" in done.stdout
    allowed = run(clone, "HEAD", "--allow-destructive")
    assert allowed.returncode == 0
    assert git(clone, "worktree", "list").count("\n") == 1


def test_usage(clone: Path) -> None:
    unknown = run(clone, "no-such-revision")
    assert unknown.returncode == 2
    assert "git does not know the revision 'no-such-revision'" in unknown.stderr
    nothing = run(clone)
    assert nothing.returncode == 2
    assert "name the revision" in nothing.stderr


@pytest.mark.parametrize(
    ("status", "output", "verdict"),
    [
        (0, "There were no differences", "none"),
        (0, "[+] AWS::SSM::Parameter x", "changes"),
        (
            1,
            "Found 1 destructive change(s)\n  a: AWS::SageMaker::Model Models/Variant ModelA will be replaced\n",
            "rollout",
        ),
        (
            1,
            (
                "Found 2 destructive change(s)\n  a: AWS::SageMaker::Model Models/Variant ModelA will be replaced\n"
                "  a: AWS::IAM::Role Role RoleA will be destroyed\n"
            ),
            "destructive",
        ),
        # A replaced model with a fixed name cannot be made beside the old one.
        (
            1,
            "Found 1 destructive change(s)\n  a: AWS::SageMaker::Model Models/Variant Named will be replaced\n",
            "destructive",
        ),
        (1, "Found 1 destructive change(s)\n  something else entirely\n", "destructive"),
    ],
)
def test_judge(status: int, output: str, verdict: str) -> None:
    template = {
        "Resources": {
            "ModelA": {"Type": "AWS::SageMaker::Model", "Properties": {}},
            "Named": {"Type": "AWS::SageMaker::Model", "Properties": {"ModelName": "fixed"}},
        }
    }
    assert diff_script.judge(status, output, template)[0] == verdict


def test_what_is_no_answer_of_cdk_diff_is_an_error() -> None:
    with pytest.raises(diff_script.SynthesisError, match="exit status 1"):
        diff_script.judge(1, "boom", {})
