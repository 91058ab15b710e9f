"""The form of LMI, TGI and SGLang's /generate (`inputs` and parameters) ↔ the engine's completions.

Streams have LMI's form: JSON lines, one a token, the last with the whole text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from session_server.errors import BadRequestError

CONTENT_TYPE = "application/jsonlines"
DEFAULT_NEW_TOKENS = 128
"""SGLang's own default for /generate (sampling/sampling_params.py of 0.5.23); its completions stop after 16."""
RENAMED = {
    "max_new_tokens": "max_tokens",
    "min_new_tokens": "min_tokens",
    "stop_sequences": "stop",
    "sampling_seed": "seed",
}
UNSUPPORTED = (
    "best_of",
    "n",
    "decoder_input_details",
    "top_n_tokens",
    "truncate",
    "typical_p",
    "watermark",
    "beam_width",
)
PARAMETERS = ("parameters", "sampling_params")
PASSED = ("model", "lora_path", "adapters", "stream_options")


@dataclass(frozen=True, slots=True, kw_only=True)
class InputsRequest:
    """A translated request and what its answer needs.

    Args:
        body: The body for the engine's completions.
        prompts: The inputs, for `return_full_text`.
        many: `inputs` is a list, and so is the answer.
        details: Add the reason of the end and the number of tokens.
        full_text: The answer repeats the input before the text.
    """

    body: dict[str, Any]
    prompts: tuple[str, ...]
    many: bool
    details: bool
    full_text: bool


def to_completion(body: Mapping[str, Any]) -> InputsRequest:
    """Translate a request.

    Args:
        body: A body with `inputs`.

    Raises:
        BadRequestError: A value has the wrong type, or asks for what completions cannot do.
    """
    inputs = body["inputs"]
    many = isinstance(inputs, list)
    prompts = tuple(inputs) if many else (inputs,)
    if not prompts or not all(isinstance(one, str) for one in prompts):
        raise BadRequestError("inputs must be a text, or a list of texts with one or more entries")
    parameters = _parameters(body)
    stream = bool(body.get("stream")) or bool(parameters.pop("stream", False))
    if stream and many:
        raise BadRequestError("inputs is a list and stream is true; stream one text at a time")
    details = bool(parameters.pop("details", False))
    full_text = bool(parameters.pop("return_full_text", False))
    for name in UNSUPPORTED:
        if parameters.pop(name, None) not in (None, False, 0, 1):
            raise BadRequestError(
                f"{name} is not supported with inputs; leave it out, or send prompt to use the OpenAI form"
            )
    sampled = parameters.pop("do_sample", None)
    engine: dict[str, Any] = {key: body[key] for key in PASSED if key in body}
    engine["prompt"] = list(prompts) if many else inputs
    engine["max_tokens"] = DEFAULT_NEW_TOKENS
    engine |= {RENAMED.get(key, key): value for key, value in parameters.items()}
    if sampled is False:
        engine["temperature"] = 0.0
    if stream:
        engine |= {"stream": True, "stream_options": {"include_usage": True}}
    return InputsRequest(body=engine, prompts=prompts, many=many, details=details, full_text=full_text)


def from_completion(answer: Mapping[str, Any], request: InputsRequest) -> dict[str, Any] | list[dict[str, Any]]:
    """Translate the engine's whole answer.

    Args:
        answer: The completion.
        request: What `to_completion` returned.
    """
    choices = sorted(answer["choices"], key=lambda choice: int(choice.get("index", 0)))
    usage = answer.get("usage") or {}
    results = []
    for prompt, choice in zip(request.prompts, choices, strict=True):
        result: dict[str, Any] = {"generated_text": (prompt if request.full_text else "") + choice["text"]}
        if request.details:
            result["details"] = {"finish_reason": choice.get("finish_reason")}
            if not request.many:
                # The engine counts all inputs together.
                result["details"]["generated_tokens"] = usage.get("completion_tokens")
        results.append(result)
    return results if request.many else results[0]


class StreamTranslator:
    """Translates the chunks of a streamed completion, one after the other.

    Args:
        request: What `to_completion` returned.
    """

    def __init__(self, request: InputsRequest) -> None:
        self._request = request
        self._texts: list[str] = []
        self._finish_reason: str | None = None
        self._tokens: int | None = None

    def chunk(self, chunk: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return a line for a chunk of the engine, or None if it has no text."""
        self._tokens = (chunk.get("usage") or {}).get("completion_tokens", self._tokens)
        choices = chunk.get("choices") or []
        if not choices:
            return None
        self._finish_reason = choices[0].get("finish_reason") or self._finish_reason
        text = str(choices[0].get("text") or "")
        if not text:
            return None
        self._texts.append(text)
        return {"token": {"text": text}}

    def last(self) -> dict[str, Any]:
        """Return the last line, with the whole text."""
        text = "".join(self._texts)
        line: dict[str, Any] = {
            "token": {"text": ""},
            "generated_text": (self._request.prompts[0] if self._request.full_text else "") + text,
        }
        if self._request.details:
            line["details"] = {"finish_reason": self._finish_reason, "generated_tokens": self._tokens}
        return line


def _parameters(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters without nulls: clients send them for what they leave open."""
    found = [key for key in PARAMETERS if body.get(key) is not None]
    if len(found) > 1:
        raise BadRequestError("the body has parameters and sampling_params; send one of them")
    parameters = body[found[0]] if found else {}
    if not isinstance(parameters, dict):
        raise BadRequestError(f"{found[0]} must be an object")
    if reserved := [key for key in (*PASSED, "prompt", "messages") if key in parameters]:
        raise BadRequestError(f"{found[0]} has {reserved[0]}; it belongs beside inputs")
    return {key: value for key, value in parameters.items() if value is not None}
