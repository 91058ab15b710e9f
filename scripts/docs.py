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


def reference(name: str) -> Callable[[], str]:
    """Return the function that makes one page of the reference; it is imported when it is called."""

    def generate() -> str:
        from warmstack.cli import reference as pages

        return str(getattr(pages, name)())

    return generate


GENERATED: dict[str, Callable[[], str]] = {
    "docs/reference/catalog.md": reference("catalog_page"),
    "docs/reference/checks.md": reference("checks_page"),
    "docs/reference/cli.md": reference("commands_page"),
    "docs/reference/local.md": reference("local_page"),
    "docs/reference/plan-json.md": reference("plan_document_page"),
    "docs/reference/spec.md": reference("spec_page"),
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
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is out of date")
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
