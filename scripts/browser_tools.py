"""Install what `make test-browser` needs: Chromium and its driver, by apt. A run that finds them does nothing.

Runs with the system's Python and its standard library alone.
"""

import os
import shutil
import sys

import apt

PACKAGES = {"chromium": "chromium", "chromedriver": "chromium-driver"}
"""The program that has to be on PATH, and the package that brings it."""


def main() -> int:
    """Install what is missing; return the exit status."""
    packages = missing()
    try:
        if packages and shutil.which("apt-get") is None:
            raise apt.AptError(
                f"{', '.join(packages)}: missing, and there is no apt-get; put chromium and chromedriver on PATH"
            )
        if packages and os.geteuid() != 0:
            raise apt.AptError(
                f"{', '.join(packages)}: missing, and installing takes root; run `make test-browser` as root"
            )
        if packages:
            apt.install(packages, missing, name="browser")
    except apt.AptError as error:
        print(f"browser: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("browser: interrupted; the next run starts anew", file=sys.stderr)
        return 130
    return 0


def missing() -> list[str]:
    """Return the packages whose programs are not there."""
    return apt.missing(PACKAGES)


if __name__ == "__main__":
    sys.exit(main())
