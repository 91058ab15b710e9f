#!/usr/bin/python3
"""What the stand-in images start: prints how it was started, as one line of JSON, and ends."""

import json
import os
import sys
from pathlib import Path

store = os.environ.get("SERVING_MODEL_STORE")
found = sorted(Path(store).iterdir()) if store else []
links = {path.name: str(path.readlink()) if path.is_symlink() else None for path in found}
started = {"pid": os.getpid(), "arguments": sys.argv, "environment": dict(os.environ), "store": links}
print("started: " + json.dumps(started), flush=True)
