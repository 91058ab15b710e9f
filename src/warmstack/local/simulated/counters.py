"""The engine's counters, under the names that vLLM 0.32 gives them (read from a running one, 2026-11-30)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Counters:
    """Counts of one engine since it started.

    Args:
        running: Requests that are computed.
        waiting: Requests that wait for their turn.
        queried_tokens: Tokens that were looked up in the prefix cache.
        hit_tokens: Tokens that were found there.
        prompt_tokens: Tokens of prompts.
        generation_tokens: Tokens of answers.
        finished: Requests that came to their end.
        cache_usage: The share of the cache's blocks that hold something.
    """

    running: int = 0
    waiting: int = 0
    queried_tokens: int = 0
    hit_tokens: int = 0
    prompt_tokens: int = 0
    generation_tokens: int = 0
    finished: int = 0
    cache_usage: float = 0.0

    def text(self, model: str) -> str:
        """Return them in the form that Prometheus reads.

        Args:
            model: The model's name, a label of each.
        """
        escaped = model.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        values: tuple[tuple[str, str, float], ...] = (
            ("vllm:num_requests_running", "gauge", self.running),
            ("vllm:num_requests_waiting", "gauge", self.waiting),
            ("vllm:kv_cache_usage_perc", "gauge", self.cache_usage),
            ("vllm:prefix_cache_queries_total", "counter", self.queried_tokens),
            ("vllm:prefix_cache_hits_total", "counter", self.hit_tokens),
            ("vllm:prompt_tokens_total", "counter", self.prompt_tokens),
            ("vllm:prompt_tokens_cached_total", "counter", self.hit_tokens),
            ("vllm:generation_tokens_total", "counter", self.generation_tokens),
            ("vllm:request_success_total", "counter", self.finished),
        )
        lines = []
        for name, kind, value in values:
            lines.append(f"# TYPE {name} {kind}\n")
            lines.append(f'{name}{{engine="0",model_name="{escaped}"}} {float(value)}\n')
        return "".join(lines)
