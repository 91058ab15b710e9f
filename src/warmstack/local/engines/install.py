"""The environment of the real engines (in work)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineEnvironment:
    """A virtual environment that has vLLM and LMCache.

    Args:
        folder: Where it is.
    """

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"
