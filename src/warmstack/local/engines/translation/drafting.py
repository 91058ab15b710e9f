"""Speculative decoding as the local engine can do it: n-grams need no draft model, anything else does."""

from __future__ import annotations

import json
from typing import Any

from warmstack.local.engines.translation.replacements import Replacement
from warmstack.local.engines.translation.servers import Read, Server

NO_DRAFT = "the draft model is not here, and the small model has none"
NGRAM_KEYS = ("method", "num_speculative_tokens", "prompt_lookup_max", "prompt_lookup_min")


def speculative_config(server: Server, read: Read) -> str | None:
    """Return vLLM's speculative_config for the local engine, or None; what is left out is added to the report.

    Args:
        server: Whose environment it is.
        read: What was read of it; the settings of drafting are taken out of it.
    """
    if server == "sglang":
        return _of_sglang(read)
    given = read.settings.pop("speculative_config", None)
    method, tokens = read.settings.pop("spec_method", None), read.settings.pop("spec_tokens", None)
    model = read.settings.pop("spec_model", None)
    if given is not None:
        try:
            config: Any = json.loads(given.text)
        except ValueError:
            config = None
        if isinstance(config, dict) and config.get("method") == "ngram":
            return json.dumps({key: config[key] for key in NGRAM_KEYS if key in config})
        read.replacements.append(given.replaced(None, NO_DRAFT))
    elif method is not None and method.text == "ngram" and tokens is not None and tokens.text.isdecimal():
        return json.dumps({"method": "ngram", "num_speculative_tokens": int(tokens.text)})
    else:
        read.replacements += [one.replaced(None, NO_DRAFT) for one in (method, model, tokens) if one is not None]
    return None


def _of_sglang(read: Read) -> str | None:
    algorithm = read.raw.get("speculative_algorithm")
    if algorithm is None:
        return None
    drafted = read.raw.get("speculative_num_draft_tokens", "")
    if algorithm.upper() == "NGRAM" and drafted.isdecimal() and int(drafted) > 1:
        # SGLang counts the token that is verified beside the drafted ones.
        return json.dumps({"method": "ngram", "num_speculative_tokens": int(drafted) - 1})
    read.replacements.append(
        Replacement(setting="SM_SGLANG_SPECULATIVE_ALGORITHM", given=algorithm, used=None, why=NO_DRAFT)
    )
    return None
