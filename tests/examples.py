"""The specs that ship, by name: a clone holds its owner's own specs beside them, which are not for these tests."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMES = (
    "eagle3",
    "lora-tenants",
    "rag-prefix-aware",
    "sticky-chat",
    "summarizer-dev",
    "summarizer-prod",
    "tiered-cache",
    "two-models",
)
EXAMPLES = tuple(ROOT / "specs" / f"{name}.yaml" for name in NAMES)
"""What users copy."""
BASES = (ROOT / "specs" / "bases" / "summarizer.yaml",)
"""What the examples extend."""
STACKS = (
    "assistant-prod",
    "fast-chat-prod",
    "rag-prod",
    "sticky-chat-prod",
    "summarizer-dev",
    "summarizer-prod",
    "tenants-prod",
    "tiered-prod",
)
"""The examples' stacks."""


def copy_examples(folder: Path) -> None:
    """Copy the examples and their bases into a folder, as ``specs/`` holds them."""
    for path in (*EXAMPLES, *BASES):
        target = folder / path.relative_to(ROOT / "specs")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
