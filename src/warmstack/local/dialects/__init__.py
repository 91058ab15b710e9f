"""Dialects: an engine behind the interface of the server that a template names."""
