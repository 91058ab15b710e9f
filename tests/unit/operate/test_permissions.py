"""The policies in the guides hold the permissions that the code asks with, and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ACTION = re.compile(r'"([a-z0-9]+:[A-Z][A-Za-z]+)"')


def policy(page: Path) -> set[str]:
    blocks = re.findall(r"^```yaml\n(\{.*?^\})\n```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1
    (statement,) = yaml.safe_load(blocks[0])["Statement"]
    return set(statement["Action"])


@pytest.mark.parametrize(
    ("page", "package", "more"),
    [("verify", "verification", {"sagemaker:InvokeEndpoint"}), ("preflight", "preflights", set())],
)
def test_a_guide_names_what_is_asked(root: Path, page: str, package: str, more: set[str]) -> None:
    code = "".join(path.read_text("utf-8") for path in (root / "src/warmstack/operate" / package).glob("*.py"))
    assert policy(root / "docs/guides" / f"{page}.md") == set(ACTION.findall(code)) | more
