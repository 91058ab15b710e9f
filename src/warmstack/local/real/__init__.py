"""Copies of a real vLLM, as the platform starts and ends them."""
