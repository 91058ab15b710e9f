"""SGLang's real argument parser as a judge of argument lists: runs in the engine environment, JSON in and out.

Reads a list of argument lists from standard input; writes for each the parser's complaint, or null.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import io
import json
import sys
from collections.abc import Sequence
from types import ModuleType
from unittest.mock import MagicMock

# What SGLang imports for GPUs and notebooks, and never calls while it parses arguments.
ABSENT = ("IPython", "triton")


class _Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands in for packages that are hundreds of megabytes and not needed here."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None,  # noqa: ARG002  (the signature of a finder)
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] not in ABSENT:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = MagicMock(name=spec.name)
        module.__path__ = []
        module.__spec__ = spec
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""


def main() -> None:
    """Judge every list."""
    sys.meta_path.insert(0, _Absent())
    import argparse

    from sglang.srt.server_args import ServerArgs

    parser = argparse.ArgumentParser()
    ServerArgs.add_cli_args(parser)
    answers: list[str | None] = []
    for arguments in json.load(sys.stdin):
        said = io.StringIO()
        try:
            with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
                ServerArgs.from_cli_args(parser.parse_args(arguments))
            answers.append(None)
        except SystemExit:
            answers.append(said.getvalue().strip().splitlines()[-1])
        except Exception as error:
            answers.append(f"{type(error).__name__}: {error}")
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
