"""The settings that were read, group by group: kept, changed or left out, and each difference reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from warmstack.catalog import VLLM_REASONING_PARSERS, VLLM_TOOL_PARSERS, FlagTable
from warmstack.local.engines.models import LocalModel
from warmstack.local.engines.translation import rules
from warmstack.local.engines.translation.replacements import Replacement
from warmstack.local.engines.translation.servers import Read, Server
from warmstack.local.engines.translation.tiers import BLOCK_TOKENS
from warmstack.local.engines.translation.values import count_of, flag_arguments, problem_of

MOST_BATCHED_TOKENS = 16_384
MODEL_FOLDER = "/opt/ml/model"
# LMI's own defaults (djl-serving d21927c4), where they differ from vLLM's.
LMI_SEQUENCES = "32"
LMI_ADAPTER_SLOTS = "4"
LMI_NAME = "lmi"
ANY_TOKENIZER_PARSER = "pythonic"
"""A parser of tool calls that asks the tokenizer for nothing."""


@dataclass(slots=True)
class Work:
    """Takes settings out of what was read, one group after the other, and makes arguments of them.

    Args:
        server: Whose settings they are.
        model: The model that is served here.
        table: vLLM's flags.
        carried: Finds a file that the image carries.
        kv_cache_bytes: The size of the local KV cache.
        most_sequences: The most requests at once.
        read: The settings; what differs here is added to its report.
        arguments: vLLM's arguments.
    """

    server: Server
    model: LocalModel
    table: FlagTable
    carried: Callable[[str], Path | None]
    kv_cache_bytes: int
    most_sequences: int
    read: Read
    arguments: list[str] = field(default_factory=list)

    def names(self) -> str:
        """The name of the model, and the model itself."""
        settings = self.read.settings
        model = settings.pop("model", None)
        given = model.text if model is not None else MODEL_FOLDER
        used = "a small random model" if self.model.stands_in else str(self.model.folder)
        why = rules.STAND_IN if self.model.stands_in else "it was named for this machine"
        setting = model.variable if model is not None else "the model"
        self.read.replacements.append(Replacement(setting=setting, given=given, used=used, why=why))
        named = settings.pop("served_model_name", None)
        names: tuple[str, ...] = (LMI_NAME if self.server == "lmi" else given,)
        if named is not None and not isinstance(named.value, bool):
            # vLLM's flag takes several names, and the images hand a list on as such.
            names = named.value if isinstance(named.value, tuple) else (named.value,)
        self.arguments += ["--served-model-name", *names]
        return names[0]

    def longest(self) -> int:
        """The longest sequence: at most what the model can read, and the cache can hold."""
        model, given = self.model, self.read.settings.pop("max_model_len", None)
        # Guard: vLLM keeps one block for itself, and does not start when the longest sequence needs that one too.
        room = (self.kv_cache_bytes // model.kv_bytes_per_token // BLOCK_TOKENS - 1) * BLOCK_TOKENS
        most = max(BLOCK_TOKENS, min(model.longest_tokens, room))
        asked = None if given is None else count_of(given.text)
        length = min(asked or most, most)
        if given is not None and asked is None and given.text not in ("auto", "-1"):
            self.read.replacements.append(given.replaced(str(length), "it is no number of tokens"))
        elif given is not None and asked is not None and asked > most:
            why = (
                f"the local model reads {model.longest_tokens} tokens at most"
                if most == model.longest_tokens
                else f"the local KV cache holds {most} tokens"
            )
            self.read.replacements.append(given.replaced(str(length), why))
        self.arguments += ["--max-model-len", str(length)]
        return length

    def sequences(self) -> None:
        """Requests at once."""
        default = LMI_SEQUENCES if self.server == "lmi" else None
        asked = self._bounded("max_num_seqs", self.most_sequences, default)
        self.arguments += ["--max-num-seqs", str(asked or self.most_sequences)]

    def batched_tokens(self, length: int) -> None:
        """Tokens in one step: enough for a whole prompt where prompts are not cut."""
        chunked = self.read.settings.get("enable_chunked_prefill")
        if chunked is not None and chunked.value is False:
            self.read.settings.pop("max_num_batched_tokens", None)
            self.arguments += ["--max-num-batched-tokens", str(max(length, self.most_sequences))]
            return
        given = self.read.settings.get("max_num_batched_tokens")
        asked = None if given is None else count_of(given.text)
        if given is not None and asked is not None and asked < self.most_sequences:
            # vLLM wants at least one token of each sequence; SGLang's -1 means that prompts are not cut.
            why = "it is less than one token for each sequence"
            self.read.replacements.append(self.read.settings.pop("max_num_batched_tokens").replaced(None, why))
            return
        if asked := self._bounded("max_num_batched_tokens", MOST_BATCHED_TOKENS):
            self.arguments += ["--max-num-batched-tokens", str(asked)]

    def prefix_caching(self) -> None:
        """SGLang says it the other way round."""
        if self.server == "sglang" and self.read.raw.get("disable_radix_cache", "false").lower() != "false":
            self.arguments.append("--no-enable-prefix-caching")

    def adapters(self) -> None:
        """Adapter slots: nothing of them without adapters, and LMI has a default of its own."""
        settings = self.read.settings
        enabled = settings.get("enable_lora")
        if enabled is None or enabled.value is False:
            for name in ("max_loras", "max_lora_rank", "max_cpu_loras"):
                settings.pop(name, None)
        elif self.server == "lmi" and "max_loras" not in settings:
            self.arguments += ["--max-loras", LMI_ADAPTER_SLOTS]

    def chat_template(self) -> None:
        """The file that the image carries, or a text."""
        given = self.read.settings.pop("chat_template", None)
        if given is None:
            return
        file = None if "{" in given.text else self.carried(given.text)
        if "{" in given.text or file is not None:
            self.arguments += ["--chat-template", str(file or given.text)]
        else:
            why = "the file is not in the build context of the image"
            self.read.replacements.append(given.replaced("the local model's own", why))

    def parsers(self) -> None:
        """Parsers of tool calls and of reasoning ask the tokenizer for tokens that the small model does not have."""
        settings, reports = self.read.settings, self.read.replacements
        tools, reasoning = settings.pop("tool_call_parser", None), settings.pop("reasoning_parser", None)
        if tools is not None:
            if self.server == "sglang" and "enable_auto_tool_choice" not in settings:
                # SGLang parses tool calls as soon as it has a parser.
                self.arguments.append("--enable-auto-tool-choice")
            if not self.model.stands_in and tools.text in VLLM_TOOL_PARSERS:
                self.arguments += ["--tool-call-parser", tools.text]
            else:
                why = "the local model's tokenizer lacks its tokens" if self.model.stands_in else "vLLM has none"
                self.arguments += ["--tool-call-parser", ANY_TOKENIZER_PARSER]
                reports.append(tools.replaced(ANY_TOKENIZER_PARSER, why))
        if reasoning is not None:
            if not self.model.stands_in and reasoning.text in VLLM_REASONING_PARSERS:
                self.arguments += ["--reasoning-parser", reasoning.text]
            else:
                why = "the local model does not reason" if self.model.stands_in else "vLLM has none of this name"
                reports.append(reasoning.replaced(None, why))

    def others(self) -> None:
        """What is kept as it is, and the report of what is not."""
        table = self.table
        for name, given in sorted(self.read.settings.items()):
            flag = table.flags.get(name)
            if flag is None or name not in rules.KEPT:
                used = rules.INSTEAD.get(name)
                if used is None or given.text.lower() != used:
                    self.read.replacements.append(given.replaced(used, rules.reason(name)))
            elif problem := problem_of(flag, given):
                why = f"{problem}; the container would not start with it"
                self.read.replacements.append(given.replaced(None, why))
            else:
                self.arguments += flag_arguments(flag, given.value)
        if "enable_prompt_tokens_details" not in self.read.settings:
            # Harmless where it was not asked for, and how a client sees what was cached.
            self.arguments.append("--enable-prompt-tokens-details")

    def _bounded(self, name: str, most: int, default: str | None = None) -> int | None:
        given = self.read.settings.pop(name, None)
        text = default if given is None else given.text
        asked = None if text is None else count_of(text)
        if given is not None and not asked:
            self.read.replacements.append(given.replaced(None, "it is no number above zero"))
        elif given is not None and asked is not None and asked > most:
            self.read.replacements.append(given.replaced(str(most), "few cores serve all copies"))
        return min(asked, most) if asked else None
