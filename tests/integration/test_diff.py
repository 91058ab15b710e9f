"""`make diff`: the templates of a revision, made by its own code, against those of the work tree."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import diff as diff_script
from tests.examples import STACKS

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
    known = {*STACKS, "brand-new-prod"}
    unchanged = dict.fromkeys(known, "none")
    assert {stack: one for stack, one in verdicts(done.stdout).items() if stack in known} == unchanged | {
        "assistant-prod": "changes",  # the cooldown of the revision's own code
        "brand-new-prod": "new",
        "fast-chat-prod": "destructive",
        "rag-prod": "rollout",
        "tenants-prod": "changes",
    }
    assert done.returncode == 1
    assert "SM_VLLM_MAX_NUM_SEQS" in done.stdout
    assert "[-] 77" in done.stdout
    assert "rag-prod: AWS::SageMaker::Model" not in done.stdout  # cdk's own alarm about what is by design
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


def test_without_git_the_message_says_so(clone: Path, tmp_path: Path) -> None:
    env = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "scripts/diff.py", "HEAD"], cwd=clone, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "diff: git is not on PATH; it holds the revision to compare with\n"


def test_what_a_killed_run_left_is_removed_by_a_later_one(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diff_script, "ROOT", clone)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    kept = {
        "running": tmp_path / f"warmstack-diff-{os.getpid()}-abc" / "base",
        "another's": tmp_path / "own" / "base",
    }
    left = tmp_path / f"warmstack-diff-{gone.pid}-abc_1" / "base"
    for folder in (*kept.values(), left):
        git(clone, "worktree", "add", "--detach", "--quiet", str(folder), "HEAD")
    (left.parent / "before").mkdir()
    (left / ".venv").symlink_to(clone / ".venv", target_is_directory=True)
    git(clone, "worktree", "lock", str(left))
    # The name alone is not enough: this one is no worktree of the repository.
    stranger = tmp_path / f"warmstack-diff-{gone.pid}-stranger"
    stranger.mkdir()
    diff_script.remove_leftovers()
    assert not left.parent.exists()
    assert (clone / ".venv" / "bin").is_dir()
    assert stranger.is_dir()
    assert all(folder.is_dir() for folder in kept.values())
    assert str(left) not in git(clone, "worktree", "list")
    for folder in kept.values():
        diff_script.remove_worktree(folder)
    assert git(clone, "worktree", "list").count("\n") == 1


def test_a_run_that_is_killed_leaves_a_folder_with_its_process(clone: Path, tmp_path: Path) -> None:
    """Killed while it synthesizes, the next run removes all of it, and works."""
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "scripts/diff.py"]
    with subprocess.Popen(
        [*command, "HEAD"], cwd=clone, env=env, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as started:
        assert started.stdout is not None
        assert started.stdout.readline().startswith("Synthesizing HEAD")
        os.killpg(started.pid, signal.SIGKILL)
    assert [one.name.rpartition("-")[0] for one in tmp_path.glob("warmstack-*")] == [f"warmstack-diff-{started.pid}"]
    # A revision without an app ends the run early, after the removal.
    empty = git(clone, "commit-tree", "-m", "empty", "4b825dc642cb6eb9a060e54bf8d69288fbee4904").strip()
    done = subprocess.run([*command, empty], cwd=clone, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "has no app.py" in done.stderr
    assert list(tmp_path.glob("warmstack-*")) == []
    assert git(clone, "worktree", "list").count("\n") == 1


@pytest.mark.parametrize(
    ("answer", "allowed"),
    [
        ("1", True),
        ("yes", True),
        ("0", False),
        ("no", False),
        ("NO", False),
        ("False", False),
        ("off", False),
        ("", False),
    ],
)
def test_make_allows_destruction_only_when_told_so(root: Path, answer: str, allowed: bool) -> None:
    command = ["make", "--dry-run", "diff", "BASE=a b", f"ALLOW_DESTRUCTIVE={answer}"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert "scripts/diff.py 'a b'" in done.stdout
    assert ("--allow-destructive" in done.stdout) == allowed


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
