"""Makes a small random model that vLLM serves on a CPU: ``tiny_model.py FOLDER``. Runs in the engine environment.

Llama with a hidden size of 256 and 6 layers, and a tokenizer that is trained on Python's own sources, with a chat
template. Guard: the head size is 64, one of those that vLLM's CPU attention has; with others it starts, and ends at the
first request.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

VOCABULARY = 4096
LONGEST = 32768
SPECIAL = ("<|end|>", "<|start|>", "<|pad|>")
TEMPLATE = (
    "{% for message in messages %}<|start|>{{ message['role'] }}\n{{ message['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)


def main(folder: str) -> None:
    """Write the model's files."""
    # These are in the engine environment, and not where types are checked.
    import torch  # type: ignore[import-not-found]
    from tokenizers import (  # type: ignore[import-not-found]
        Tokenizer,
        decoders,
        models,
        pre_tokenizers,
        trainers,
    )
    from transformers import (  # type: ignore[import-not-found]
        LlamaConfig,
        LlamaForCausalLM,
        PreTrainedTokenizerFast,
    )

    sources = sorted(str(path) for path in Path(sysconfig.get_path("stdlib")).glob("*.py"))[:60]
    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    words.train(sources, trainer)
    end, _, pad = SPECIAL
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, bos_token=end, eos_token=end, pad_token=pad, model_max_length=LONGEST
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=256,
        intermediate_size=768,
        num_hidden_layers=6,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=LONGEST,
        bos_token_id=0,
        eos_token_id=0,
        pad_token_id=2,
        tie_word_embeddings=True,
    )
    LlamaForCausalLM(config).to(torch.float32).save_pretrained(folder)


if __name__ == "__main__":
    main(sys.argv[1])
