"""Regenerate the files that are generated from the code; with `--check`, tell which of them are out of date.

To add one, write a function that returns the file's whole text and name it in `GENERATED`.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def spec_schema() -> str:
    """Return the JSON Schema of the spec language, for editors."""
    from warmstack.spec import schema_text

    return schema_text()


GENERATED: dict[str, Callable[[], str]] = {
    "schemas/deployment.schema.json": spec_schema,
}


def stale_files() -> list[str]:
    """Return the generated files whose text on disk differs from what the code generates now."""
    return [name for name, generate in GENERATED.items() if current_text(ROOT / name) != generate()]


def current_text(path: Path) -> str | None:
    """Return a file's text, or None when there is no such file."""
    return path.read_text(encoding="utf-8") if path.exists() else None


def main() -> int:
    """Write the files, or compare them; return the exit status."""
    parser = argparse.ArgumentParser(prog="docs", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 when a file is out of date"
    )
    check = parser.parse_args().check
    stale = stale_files()
    for name in stale:
        if check:
            print(f"{name}: out of date; run `make docs`")
            continue
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(GENERATED[name](), encoding="utf-8")
        print(f"docs: wrote {name}")
    if not stale:
        print("docs: every generated file is up to date")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
