"""The client: chats, completions, streams and sessions against a deployed or a local endpoint."""
