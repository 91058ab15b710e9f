"""An engine that is simulated in this process: OpenAI's paths, a prefix cache in blocks, vLLM's names of counters.

Its text is nonsense, and equal for equal prompts; its prefix cache is a real one, so that routing and sessions show in
its hit rate as they would in vLLM's.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from warmstack.local.container import ContainerGoneError, ContainerRequest, MemoryReply
from warmstack.local.simulated.answers import DONE, Answer, Usage
from warmstack.local.simulated.counters import Counters
from warmstack.local.simulated.requests import EngineRefusal, Generation, NoSuchPath, read_generation, read_object
from warmstack.local.simulated.settings import SimulatedSettings
from warmstack.local.simulated.text import BYTES_PER_TOKEN, answer_words, token_count, token_text
from warmstack.routing import PrefixCache, chained_block_ids

DEFAULT_ANSWER_TOKENS = 16
JSON = {"content-type": "application/json"}
_PATHS = frozenset(
    {
        "/detokenize",
        "/health",
        "/metrics",
        "/v1/chat/completions",
        "/v1/completions",
        "/v1/load_lora_adapter",
        "/v1/models",
        "/v1/unload_lora_adapter",
    }
)


class SimulatedEngine:
    """An engine without a model.

    Args:
        settings: How it is simulated.
        clock: Seconds since the epoch, for the answers' ``created``.
        sleep: Waits some seconds.
    """

    def __init__(
        self,
        settings: SimulatedSettings,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.settings = settings
        self.counters = Counters()
        self._clock = clock
        self._sleep = sleep
        self._cache = PrefixCache(settings.cache_blocks)
        self._slots = asyncio.Semaphore(settings.max_num_seqs)
        self._adapters: dict[str, str] = {}
        self._numbers = itertools.count(1)
        self._ended = asyncio.Event()

    def end(self) -> None:
        """Break off everything that runs, and answer nothing any more."""
        self._ended.set()

    async def wait(self) -> None:
        """Wait for the end."""
        await self._ended.wait()

    async def send(self, request: ContainerRequest) -> MemoryReply:
        """Answer a request.

        Raises:
            ContainerGoneError: The engine has ended.
        """
        try:
            self._check_alive()
            return await self._answer(request)
        except (EngineRefusal, NoSuchPath) as refusal:
            return MemoryReply(status=refusal.status, headers=JSON, source=refusal.body)

    async def _answer(self, request: ContainerRequest) -> MemoryReply:
        path = request.path.partition("?")[0]
        match (request.method, path):
            case ("POST", "/v1/chat/completions"):
                return await self._generate(read_generation(request, chat=True))
            case ("POST", "/v1/completions"):
                return await self._generate(read_generation(request, chat=False))
            case ("POST", "/v1/load_lora_adapter"):
                return self._load_adapter(request)
            case ("POST", "/v1/unload_lora_adapter"):
                return self._unload_adapter(request)
            case ("POST", "/detokenize"):
                return MemoryReply(headers=JSON, source=_detokenized(request))
            case ("GET", "/v1/models"):
                return MemoryReply(headers=JSON, source=self._models())
            case ("GET", "/metrics"):
                text = self.counters.text(self.settings.model_names[0])
                return MemoryReply(headers={"content-type": "text/plain; version=0.0.4"}, source=text.encode())
            case ("GET", "/health"):
                return MemoryReply()
            case _:
                raise NoSuchPath(405 if path in _PATHS else 404)

    async def _generate(self, wanted: Generation) -> MemoryReply:
        model, voice = self._voice(wanted.model)
        # Guard: JSON may hold half of a surrogate pair, which strict UTF-8 has no bytes for.
        prompt = wanted.prompt.encode("utf-8", "surrogatepass")
        tokens = token_count(prompt)
        room = _room(self.settings.max_model_len, tokens, wanted.max_tokens)
        answer = Answer(
            chat=wanted.chat,
            identifier=f"{'chatcmpl' if wanted.chat else 'cmpl'}-{next(self._numbers):08d}",
            created=int(self._clock()),
            model=model,
        )
        run = _Run(
            wanted=wanted,
            answer=answer,
            voice=voice,
            prompt=prompt,
            prompt_tokens=tokens,
            answer_tokens=min(wanted.max_tokens or DEFAULT_ANSWER_TOKENS, room),
        )
        if wanted.stream:
            headers = {"content-type": "text/event-stream; charset=utf-8"}
            return MemoryReply(headers=headers, source=self._stream(run))
        words = [word async for word in self._words(run)]
        return MemoryReply(headers=JSON, source=answer.whole(words, self._usage(run), wanted))

    async def _stream(self, run: _Run) -> AsyncIterator[bytes]:
        words = self._words(run)
        try:
            if run.wanted.chat:
                yield run.answer.opening()
            at = 0
            async for word in words:
                at += 1
                told = self._usage(run, at) if run.wanted.continuous_usage else None
                yield run.answer.chunk(word, "length" if at == run.answer_tokens else None, run.wanted, told)
            if run.wanted.include_usage:
                yield run.answer.usage_event(self._usage(run))
            yield DONE
        finally:
            await words.aclose()  # type: ignore[attr-defined]

    async def _words(self, run: _Run) -> AsyncIterator[str]:
        """Compute: wait for a slot, look the prompt up in the cache, and yield words as they come."""
        self.counters.waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self.counters.waiting -= 1
        self.counters.running += 1
        try:
            await self._prefill(run)
            words = answer_words(run.prompt, run.voice)
            for word in itertools.islice(words, run.answer_tokens):
                await self._wait(self.settings.latency.decode_seconds_per_token)
                self.counters.generation_tokens += 1
                run.answered.append(word)
                yield word
                self._check_alive()
            self.counters.finished += 1
            self._keep_answer(run)
        finally:
            self.counters.running -= 1
            self._slots.release()

    async def _prefill(self, run: _Run) -> None:
        settings, count = self.settings, run.prompt_tokens
        run.cached_tokens = 0
        if settings.prefix_caching:
            # Guard: an adapter's keys and values differ from the base's; its blocks must not match them.
            blocks = chained_block_ids(
                run.prompt, settings.block_size_tokens * BYTES_PER_TOKEN, seed=run.voice.encode()
            )
            # As vLLM does: the last token is always computed, or there would be nothing to sample from.
            usable = blocks[: max(count - 1, 0) // settings.block_size_tokens]
            run.cached_tokens = self._cache.match(usable) * settings.block_size_tokens
            self._cache.insert(blocks)
            run.blocks = blocks
            self.counters.queried_tokens += count
            self.counters.hit_tokens += run.cached_tokens
            self.counters.cache_usage = len(self._cache) / settings.cache_blocks
        self.counters.prompt_tokens += count
        latency = settings.latency
        await self._wait(latency.overhead_seconds + latency.prefill_seconds_per_token * (count - run.cached_tokens))

    def _keep_answer(self, run: _Run) -> None:
        """Hold the answer's blocks, too: the next turn of a conversation starts with it."""
        if not self.settings.prefix_caching:
            return
        size = self.settings.block_size_tokens * BYTES_PER_TOKEN
        rest = run.prompt[len(run.blocks) * size :] + "".join(run.answered).encode()
        last = run.blocks[-1] if run.blocks else None
        more = chained_block_ids(rest, size, seed=run.voice.encode(), after=last)
        if more:
            self._cache.insert((*run.blocks, *more))

    async def _wait(self, seconds: float) -> None:
        """Wait, unless the end comes first."""
        if seconds > 0:
            sleeping = asyncio.ensure_future(self._sleep(seconds))
            ending = asyncio.ensure_future(self._ended.wait())
            try:
                await asyncio.wait({sleeping, ending}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                sleeping.cancel()
                ending.cancel()
        self._check_alive()

    def _check_alive(self) -> None:
        if self._ended.is_set():
            raise ContainerGoneError("the simulated copy has ended")

    def _usage(self, run: _Run, answered: int | None = None) -> Usage:
        cached = run.cached_tokens if self.settings.reports_cached_tokens else None
        answered = run.answer_tokens if answered is None else answered
        return Usage(prompt_tokens=run.prompt_tokens, completion_tokens=answered, cached_tokens=cached)

    def _voice(self, model: str | None) -> tuple[str, str]:
        """Return the name that the answer shows, and who answers."""
        if model is None or model in self.settings.model_names:
            return model or self.settings.model_names[0], ""
        if model not in self._adapters:
            known = ", ".join(self.settings.model_names)
            message = f"The model `{model}` does not exist. Valid aliases: {known}."
            raise EngineRefusal(404, message, "NotFoundError", "model")
        return model, model

    def _load_adapter(self, request: ContainerRequest) -> MemoryReply:
        body = read_object(request)
        name, path = body.get("lora_name"), body.get("lora_path")
        if not self.settings.adapters:
            raise EngineRefusal(400, "LoRA is not enabled. Set enable_lora for this model.", "InvalidUserInput")
        if not isinstance(name, str) or not isinstance(path, str) or not name or not path:
            raise EngineRefusal(400, "Both 'lora_name' and 'lora_path' must be provided.", "InvalidUserInput")
        if name in self.settings.model_names:
            message = f"The lora adapter '{name}' conflicts with a served base model."
            raise EngineRefusal(400, message, "InvalidUserInput")
        if name in self._adapters and body.get("load_inplace") is not True:
            message = (
                f"The lora adapter '{name}' has already been loaded. If you want to load the adapter in place, set "
                "'load_inplace' to True."
            )
            raise EngineRefusal(400, message, "InvalidUserInput")
        if not (Path(path) / "adapter_config.json").is_file():
            raise EngineRefusal(404, f"Loading lora {name} failed: No adapter found for {path}", "NotFoundError")
        self._adapters[name] = path
        return MemoryReply(source=f"Success: LoRA adapter '{name}' added successfully.".encode())

    def _unload_adapter(self, request: ContainerRequest) -> MemoryReply:
        name = read_object(request).get("lora_name")
        if not isinstance(name, str) or self._adapters.pop(name, None) is None:
            raise EngineRefusal(404, f"The lora adapter '{name}' cannot be found.", "NotFoundError")
        return MemoryReply(source=f"Success: LoRA adapter '{name}' removed successfully.".encode())

    def _models(self) -> bytes:
        base = self.settings.model_names[0]
        common = {"object": "model", "owned_by": "vllm", "max_model_len": self.settings.max_model_len}
        cards = [{"id": name, "root": name, "parent": None, **common} for name in self.settings.model_names]
        cards += [{"id": name, "root": path, "parent": base, **common} for name, path in self._adapters.items()]
        return json.dumps({"object": "list", "data": cards}).encode()


@dataclass(slots=True, kw_only=True)
class _Run:
    """One generation while it runs."""

    wanted: Generation
    answer: Answer
    voice: str
    prompt: bytes
    prompt_tokens: int
    answer_tokens: int
    cached_tokens: int = 0
    blocks: tuple[int, ...] = ()
    answered: list[str] = field(default_factory=list)


def _room(length: int, prompt_tokens: int, max_tokens: int | None) -> int:
    """Return how many tokens an answer may have, as vLLM 0.32 decides it: what does not fit is cut, not refused.

    Raises:
        EngineRefusal: The prompt alone is too long, or the answer that is asked for would be without a prompt.
    """
    if prompt_tokens > length:
        raise EngineRefusal(
            400,
            f"This model's maximum context length is {length} tokens. However, your prompt contains at least "
            f"{length + 1} input tokens, which exceeds this limit even without any output tokens. Please reduce the "
            f"length of the input prompt. (parameter=input_tokens, value={length + 1})",
            param="input_tokens",
        )
    if max_tokens is not None and max_tokens > length:
        raise EngineRefusal(
            400,
            f"max_tokens={max_tokens} cannot be greater than max_model_len={length}. Please request fewer output "
            f"tokens. (parameter=max_tokens, value={max_tokens})",
            param="max_tokens",
        )
    if prompt_tokens == length:
        message = "max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)"
        raise EngineRefusal(400, message, param="max_tokens")
    return length - prompt_tokens


def _detokenized(request: ContainerRequest) -> bytes:
    tokens = read_object(request).get("tokens")
    if not isinstance(tokens, list) or not all(isinstance(one, int) for one in tokens):
        raise EngineRefusal(400, "tokens must be a list of token ids")
    return json.dumps({"prompt": "".join(map(token_text, tokens))}).encode()
