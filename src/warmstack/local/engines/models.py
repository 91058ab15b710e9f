"""The models of local copies: a small random one that is made once, or one that the user names."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from warmstack.local.engines.environment import PINS, EngineEnvironment, cache_folder, pins_digest
from warmstack.local.engines.surroundings import engine_surroundings
from warmstack.local.errors import LocalError

PROGRAM = Path(__file__).with_name("tiny_model.py")
TIMEOUT_SECONDS = 300
FLOAT32_BYTES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A model on this machine.

    Args:
        folder: Its files.
        longest_tokens: The longest sequence that it can read and write.
        layers: How many layers it has.
        hidden_size: The width of its hidden states.
        query_size: The width of all its query heads.
        key_value_size: The width of all its key (or value) heads.
        stands_in: Whether it is the small random one, which knows no tools and does not reason.
    """

    folder: Path
    longest_tokens: int
    layers: int
    hidden_size: int
    query_size: int
    key_value_size: int
    stands_in: bool = False

    @property
    def kv_bytes_per_token(self) -> int:
        """What a token takes of the KV cache, in float32: a key and a value in each layer."""
        return 2 * self.layers * self.key_value_size * FLOAT32_BYTES


def read_model(folder: Path) -> LocalModel:
    """Return a model that is on this machine.

    Args:
        folder: The folder with its config.json, weights and tokenizer.

    Raises:
        LocalError: There is none, or it does not say its shape.
    """
    file = folder / "config.json"
    try:
        document: Any = json.loads(file.read_text(encoding="utf-8"))
        config = document.get("text_config", document)
        heads = int(config["num_attention_heads"])
        head_size = int(config.get("head_dim") or config["hidden_size"] // heads)
        model = LocalModel(
            folder=folder.absolute(),
            longest_tokens=int(config["max_position_embeddings"]),
            layers=int(config["num_hidden_layers"]),
            hidden_size=int(config["hidden_size"]),
            query_size=heads * head_size,
            key_value_size=int(config.get("num_key_value_heads") or heads) * head_size,
        )
        if min(model.longest_tokens, model.layers, model.hidden_size, head_size, model.key_value_size) < 1:
            raise ValueError("a size is not above zero")
    except OSError as error:
        raise LocalError(f"{file}: {error.strerror}; name the folder of a model in the Hugging Face layout") from error
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise LocalError(
            f"{file} does not say the model's shape ({type(error).__name__}: {error}); name a decoder-only model"
        ) from error
    return model


def tiny_model(
    engine: EngineEnvironment,
    *,
    report: Callable[[str], None] = lambda _: None,
    outer: Mapping[str, str] = os.environ,
) -> LocalModel:
    """Return the small random model; it is made the first time (some seconds), below the cache folder.

    Args:
        engine: The environment that makes it.
        report: Told when it is made.
        outer: This process's environment.

    Raises:
        LocalError: It was not made: the end of what its program said.
    """
    folder = cache_folder(outer) / f"tiny-model-{pins_digest(PROGRAM, PINS)[:16]}"
    if not folder.is_dir():
        report("a small random model is made, once")
        _make(engine, folder, outer)
    return replace(read_model(folder), stands_in=True)


def _make(engine: EngineEnvironment, folder: Path, outer: Mapping[str, str]) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise LocalError(f"{folder} cannot be made: {error.strerror}; name another place in XDG_CACHE_HOME") from error
    try:
        done = subprocess.run(
            [engine.python, PROGRAM, beside],
            env=engine_surroundings(outer),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
        )
        if done.returncode:
            said = "\n".join(done.stderr.splitlines()[-12:])
            raise LocalError(
                f"the small model was not made (status {done.returncode})\n{said}\nInstall the engine anew"
            )
        beside.chmod(0o755)
        # Another process may have been faster; its model is the same.
        if not folder.is_dir():
            beside.rename(folder)
    except subprocess.TimeoutExpired as error:
        raise LocalError(f"the small model was not made in {TIMEOUT_SECONDS} s; try again") from error
    except OSError as error:
        raise LocalError(f"{engine.python} did not make the small model: {error.strerror}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
