"""Set up `.venv-clients` for `make test-clients`: the clients whose bodies are captured (requirements/clients.txt).

A run that finds the environment current does nothing; one that was interrupted left no stamp, and is made anew.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT_PYTHON = ROOT / ".venv" / "bin" / "python"
UV = ROOT / ".venv" / "bin" / "uv"
VENV = ROOT / ".venv-clients"
STAMP = VENV / "warmstack-clients"
REQUIREMENTS = ROOT / "requirements" / "clients.txt"


def main() -> int:
    """Bring `.venv-clients` up to the pins; return the exit status."""
    if PROJECT_PYTHON.exists() and Path(sys.prefix) != PROJECT_PYTHON.parents[1]:
        # `make` starts this with the Python that made .venv; so the environment gets the version that .venv has.
        os.execv(PROJECT_PYTHON, [str(PROJECT_PYTHON), *sys.argv])
    try:
        if not is_current():
            install()
    except subprocess.CalledProcessError as error:
        print(f"clients: a command failed ({error.returncode}); its message is above", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("clients: interrupted; the next run starts anew", file=sys.stderr)
        return 130
    return 0


def digest() -> str:
    """Return a hash of what the environment depends on: the pins, the Python, and its own place."""
    inputs = repr((str(ROOT), sys.version_info[:2])).encode() + REQUIREMENTS.read_bytes()
    return hashlib.sha256(inputs).hexdigest()


def is_current() -> bool:
    """Tell whether a finished run left what these pins name."""
    return STAMP.exists() and STAMP.read_text(encoding="utf-8") == digest()


def install() -> None:
    """Make the environment, and write the stamp last."""
    STAMP.unlink(missing_ok=True)
    print("clients: installing openai, LangChain, LiteLLM, Strands and the Hugging Face client", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", VENV], check=True)
    command = [str(UV), "pip", "install", "--quiet", "--python", str(VENV / "bin" / "python")]
    subprocess.run([*command, "--no-deps", "--require-hashes", "-r", str(REQUIREMENTS)], cwd=ROOT, check=True)
    STAMP.write_text(digest(), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
