"""Every page: its commands run and print what it shows, its links lead somewhere, its checks exist.

``docs/README.md`` explains the code blocks to readers; this module holds the pages to it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import docs as generator
from tests.examples import copy_examples
from warmstack.cli.reference.commands import commands
from warmstack.plan import CHECKS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = {ROOT / name for name in generator.GENERATED}
WRITTEN = [page for page in PAGES if page not in GENERATED]
BIN = Path(sys.executable).parent

FENCE = re.compile(r"^```(?P<info>.*)$")
CHECK = re.compile(r"\bWS[0-9]{3}\b")
LINK = re.compile(r"(?<!!)\[[^]]*\]\((?P<target>[^)\s]+)\)")


def page_id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def each_page(pages: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", pages, ids=page_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block: the words behind the fence, its text, and the line of its fence."""

    info: tuple[str, ...]
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    start, info, lines = 0, None, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if info is None and fence:
            start, info, lines = number, tuple(fence["info"].split()), []
        elif info is not None and line == "```":
            found.append(Block(info=info, text="".join(f"{one}\n" for one in lines), line=start))
            info = None
        elif info is not None:
            lines.append(line)
    assert info is None, f"{page_id(page)}:{start}: the block does not end"
    return found


def prose(page: Path) -> str:
    """Return the page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@each_page(WRITTEN)
def test_blocks_say_what_happens_to_them(page: Path) -> None:
    for block in blocks(page):
        where = f"{page_id(page)}:{block.line}"
        assert block.info, f"{where}: the block has no language"
        if block.info[0] == "sh":
            assert block.info[1:] in (("run",), ("run", "exit=1"), ("make",), ("aws",)), where
        elif block.info[0] == "yaml":
            assert all(one.startswith("specs/") or one.endswith(".template.yaml") for one in block.info[1:]), where
        else:
            assert block.info in (("text",), ("python",), ("python", "run")), where


@each_page([page for page in WRITTEN if any(block.info[:2] == ("sh", "run") for block in blocks(page))])
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    request.addfinalizer(lambda: end_what_runs(tmp_path / "state" / "warmstack"))
    copy_examples(tmp_path / "specs")
    shutil.copytree(ROOT / "schemas", tmp_path / "schemas")
    found = blocks(page)
    for block, after in zip(found, [*found[1:], None], strict=True):
        if block.info[0] == "yaml" and len(block.info) == 2:
            target = tmp_path / block.info[1]
            assert not target.exists() or target.read_text(encoding="utf-8") == block.text, f"{block.info[1]} differs"
            target.write_text(block.text, encoding="utf-8")
        if block.info[:2] != ("sh", "run"):
            continue
        result = run(block.text, tmp_path)
        where = f"{page_id(page)}:{block.line}"
        assert result.returncode == ("exit=1" in block.info), f"{where}: {result.stdout}"
        if after is not None and after.info == ("text",):
            assert matches(after.text, result.stdout), f"{where} prints\n{result.stdout}"


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a block as its reader would, with the environment of the clone active and no terminal."""
    unwanted = ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "WARMSTACK_TRACEBACK")
    environment = {key: value for key, value in os.environ.items() if key not in unwanted}
    environment["PATH"] = f"{BIN}{os.pathsep}{environment['PATH']}"
    environment["XDG_STATE_HOME"] = str(folder / "state")
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def end_what_runs(state: Path) -> None:
    """End the local endpoints that a page has started and, because it failed, not stopped."""
    for note in state.glob("local-*.json"):
        os.kill(int(json.loads(note.read_text(encoding="utf-8"))["pid"]), signal.SIGTERM)


def matches(shown: str, printed: str) -> bool:
    """Tell whether a page shows what was printed: ``…`` alone stands for lines, inside a line for its text."""
    pattern = ""
    for line in shown.splitlines():
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += r"[^\n]*?".join(re.escape(part.rstrip("\n")) for part in line.rstrip().split("…")) + r"[ ]*\n"
    text = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    return re.fullmatch(pattern, text) is not None


def test_elisions_match_lines_and_parts_of_lines() -> None:
    printed = "first line  \nsecond line\nthird line\nlast\n"
    assert matches("first line\n…\nlast\n", printed)
    assert matches("first …\n…\nthird…\nlast\n", printed)
    assert matches("…\nlast\n", printed)
    assert not matches("first line\nlast\n", printed)
    assert not matches("first line\nsecond line\n", printed)
    assert not matches("…\nsecond …\n", printed)


# What `sh make` and `sh aws` blocks may call, with the subcommands that the pages use.
PROGRAMS = {
    "aws": {"logs", "s3", "service-quotas", "sagemaker-runtime", "sts"},
    "cdk": {"bootstrap", "deploy", "destroy", "diff", "ls", "synth"},
    "source": {".venv/bin/activate"},
}
COMMANDS = {name for name, _ in commands()}


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@each_page([page for page in WRITTEN if any(block.info[0] == "sh" for block in blocks(page))])
def test_commands_exist(page: Path) -> None:
    for block in blocks(page):
        if block.info[0] == "sh" and block.info[1] != "run":
            for line in block.text.replace("\\\n", " ").splitlines():
                assert known(shlex.split(line, comments=True)), f"{page_id(page)}:{block.line}: {line}"


def known(words: list[str]) -> bool:
    if not words:
        return True
    program, *rest = words
    if program == "make":
        return all(word in make_targets() or re.fullmatch("[A-Z_]+=.*", word) for word in rest)
    if program in ("warmstack", ".venv/bin/warmstack"):
        return is_command(" ".join(["warmstack", *rest]))
    return program in PROGRAMS and rest[0] in PROGRAMS[program]


GROUPS = (["catalog"], ["adapter"], ["local"])


def is_command(text: str) -> bool:
    """Tell whether a text starts with a command of the program, and names options that the command has."""
    words = text.split()
    names = [" ".join(words[:count]) for count in (4, 3, 2)]
    name = next((one for one in names if one in COMMANDS), "")
    if not name and not (words[1:] in GROUPS or words[1:] in (["--help"], ["--version"])):
        return False
    section = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8").split(f"\n## `{name}`\n", 1)
    options = {word for word in words if word.startswith("--")} - {"--help"}
    return not options or (len(section) == 2 and all(f"| `{one}" in section[1].split("\n## ")[0] for one in options))


@each_page(PAGES)
def test_commands_in_the_text_exist(page: Path) -> None:
    for code in re.findall(r"`((?:warmstack|make) [^`]+)`", prose(page)):
        assert is_command(code) if code.startswith("warmstack") else known(shlex.split(code)), (
            f"{page_id(page)}: {code}"
        )


@each_page([page for page in WRITTEN if any(block.info[0] == "python" for block in blocks(page))])
def test_python_compiles(page: Path) -> None:
    for block in blocks(page):
        if block.info[0] == "python":
            compile(block.text, page_id(page), "exec")


@each_page(PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        there = page if not path else (page.parent / path).resolve()
        assert there.exists(), f"{page_id(page)}: {target}"
        assert not anchor or anchor in anchors(there), f"{page_id(page)}: {target}"


def links(page: Path) -> Iterator[str]:
    for match in LINK.finditer(prose(page)):
        if not match["target"].startswith("https://"):
            yield match["target"]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.replace("`", "").lower()).replace(" ", "-") for one in headings}


@each_page(WRITTEN)
def test_checks_exist(page: Path) -> None:
    mentioned = set(CHECK.findall(page.read_text(encoding="utf-8")))
    assert mentioned <= set(CHECKS)
    for name, anchor in re.findall(r"\[(WS[0-9]{3})\]\([^)]*#(ws[0-9]{3})\)", prose(page)):
        assert name.lower() == anchor


def test_every_pain_has_a_row() -> None:
    text = (ROOT / "docs/concepts/pains.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if re.match(r"\| [0-9]", line)
    ]
    assert [int(row[0]) for row in rows] == list(range(1, 31))
    for row in rows:
        assert len(row) == 4
        assert row[1]
        assert row[2] != "–" or row[3] != "–", f"pain {row[0]} has no answer"


def test_every_page_is_reached_from_the_index() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        waiting += [(page.parent / target.partition("#")[0]).resolve() for target in links(page) if target[0] != "#"]
    assert [page_id(page) for page in PAGES if page not in reached] == []


@each_page(WRITTEN)
def test_house_style(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"\b(?:simply|just|easily|obviously|seamless\w*)\b", text, re.IGNORECASE) == []
    for number, line in enumerate(text.splitlines(), 1):
        assert len(line) <= 120 or line.startswith(("|", "# `")), f"{page_id(page)}:{number} is {len(line)} long"
