"""`warmstack local install`."""

from __future__ import annotations

import sys

from warmstack.local.errors import missing_package


def install_engines(*, check_only: bool) -> int:
    """Install the engines, or say whether they are there."""
    try:
        from warmstack.local.engines import find_engine, install_engine, platform_problem
    except ImportError as error:
        raise missing_package(error) from error
    found = find_engine()
    if found is not None:
        print(f"installed in {found.folder}")
        return 0
    if check_only:
        problem = platform_problem()
        print(problem or "not installed; `warmstack local install` installs it")
        return 1
    done = install_engine(report=lambda line: print(f"local install: {line}", file=sys.stderr, flush=True))
    print(f"installed in {done.folder}")
    return 0
