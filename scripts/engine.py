"""Set up `.venv-engine` for `make test-engine`: the engines of `warmstack local install`, and SGLang's parser."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT_PYTHON = ROOT / ".venv" / "bin" / "python"


def main() -> int:
    """Bring `.venv-engine` up to the pins; return the exit status."""
    if PROJECT_PYTHON.exists() and Path(sys.prefix) != PROJECT_PYTHON.parents[1]:
        # `make` starts this with the Python that made .venv; the installer and what it needs are in there.
        os.execv(PROJECT_PYTHON, [str(PROJECT_PYTHON), *sys.argv])
    from warmstack.local.engines import install_engine
    from warmstack.local.errors import LocalError

    try:
        install_engine(
            ROOT / ".venv-engine",
            report=lambda text: print(f"engine: {text}", flush=True),
            added=[ROOT / "requirements" / "engine.txt"],
        )
    except LocalError as error:
        print(f"engine: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("engine: interrupted; the next run starts anew", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
