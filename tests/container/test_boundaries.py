"""What images carry runs without the package that renders them."""

from __future__ import annotations

import ast
from pathlib import Path


def test_nothing_that_an_image_carries_imports_warmstack(root: Path) -> None:
    files = sorted((root / "container").rglob("*.py"))
    assert len(files) > 20
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        imported = {one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names}
        imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not [one for one in imported if one.partition(".")[0] in ("warmstack", "stacks", "aws_cdk")], file
