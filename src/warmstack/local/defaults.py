"""Where a local endpoint listens when nothing else is said."""

DEFAULT_PORT = 8787
DEFAULT_HOST = "127.0.0.1"
