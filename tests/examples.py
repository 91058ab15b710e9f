"""The specs that ship, by name: a clone holds its owner's own specs beside them, which are not for these tests."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMES = (
    "deepseek-v3.2",
    "eagle3",
    "gpt-oss-120b",
    "lora-tenants",
    "ministral-3",
    "mistral-large-3",
    "qwen3-vl",
    "rag-prefix-aware",
    "sglang-sessions",
    "sticky-chat",
    "summarizer-dev",
    "summarizer-prod",
    "tiered-cache",
    "two-models",
)
EXAMPLES = tuple(ROOT / "specs" / f"{name}.yaml" for name in NAMES)
"""What users copy."""
NAMED = tuple(ROOT / "specs" / "models" / name / "config.json" for name in ("ministral-3-8b", "mistral-large-3"))
"""What the examples name."""
BASES = (ROOT / "specs" / "bases" / "summarizer.yaml",)
"""What the examples extend."""
STACKS = (
    "assistant-prod",
    "fast-chat-prod",
    "large-prod",
    "ministral-prod",
    "open-assistant-prod",
    "rag-prod",
    "reasoner-prod",
    "sglang-sessions-prod",
    "sticky-chat-prod",
    "summarizer-dev",
    "summarizer-prod",
    "tenants-prod",
    "tiered-prod",
    "vision-prod",
)
"""The examples' stacks."""


def copy_examples(folder: Path) -> None:
    """Copy the examples, and what they extend and name, into a folder, as ``specs/`` holds them."""
    for path in (*EXAMPLES, *BASES, *NAMED):
        target = folder / path.relative_to(ROOT / "specs")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
