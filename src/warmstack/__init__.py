"""Warmstack: one spec file becomes a SageMaker LLM endpoint whose KV cache stays warm."""

__version__ = "0.1.0"
