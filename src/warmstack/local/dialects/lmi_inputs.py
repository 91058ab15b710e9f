"""LMI's form with ``inputs``: to a completion of vLLM's, and back in the form of TGI.

Read in djl-serving d21927c4, ``lmi_vllm/request_response_utils.py``, with what is odd in it: ``finish_reason`` of a
whole answer is vLLM's stop reason, and the last line of a stream counts one token too many.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from warmstack.local.dialects.lmi_replies import encoded

TokenText = Callable[[int], Awaitable[str]]
"""Returns the text of a token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputsRequest:
    """A translated request.

    Args:
        body: The completion.
        details: Whether tokens are told.
        include_prompt: Whether a stream's last line repeats the prompt.
    """

    body: dict[str, Any]
    details: bool
    include_prompt: bool


def to_completion(payload: Mapping[str, Any]) -> InputsRequest:
    """Translate a request. It raises what Python raises where a member is of another type; that is the client's error.

    Args:
        payload: A body with ``inputs``. Members beside ``parameters`` and ``stream`` are lost.
    """
    parameters = payload.get("parameters", {})
    if not isinstance(parameters, dict):
        raise TypeError(f"'{type(parameters).__name__}' object has no attribute 'pop'")
    parameters = dict(parameters)
    body: dict[str, Any] = {
        "prompt": payload["inputs"],
        "max_tokens": parameters.pop("max_new_tokens", 30),
        "echo": parameters.pop("return_full_text", False),
        "truncate_prompt_tokens": parameters.pop("truncate", None),
        "n": parameters.pop("top_n_tokens", 1),
        "ignore_eos": parameters.pop("ignore_eos_token", False),
        "stream": payload.get("stream", False),
    }
    if "model" in payload:
        body["model"] = payload["model"]
    include_prompt = False
    tokens = {"logprobs": 1, "return_tokens_as_token_ids": True}
    if body["stream"]:
        usage = {"include_usage": True, "continuous_usage_stats": True}
        body |= tokens | {"stream_options": usage}
        include_prompt = bool(body.pop("echo"))
    details = bool(parameters.pop("details", False))
    if details:
        body |= tokens
        if parameters.pop("decoder_input_details", False):
            body["prompt_logprobs"] = 1
    sampled = parameters.pop("do_sample", None)
    if sampled is not None and not sampled:
        parameters["temperature"] = 0.0
    return InputsRequest(body=body | parameters, details=details, include_prompt=include_prompt)


async def whole_answer(document: Mapping[str, Any], request: InputsRequest, text_of: TokenText) -> bytes:
    """Return the answer that is not streamed.

    Args:
        document: vLLM's completion.
        request: What was asked.
        text_of: Returns the text of a token.
    """
    choice = document["choices"][0]
    answer: dict[str, Any] = {"generated_text": choice["text"]}
    if request.details:
        answer["details"] = {
            "finish_reason": choice.get("stop_reason"),
            "generated_tokens": document["usage"]["completion_tokens"],
            "seed": request.body.get("seed"),
            "prefill": _prefill(choice.get("prompt_logprobs")),
            "tokens": await _tokens(choice.get("logprobs"), text_of),
        }
    return encoded(answer)


@dataclass(slots=True, kw_only=True)
class StreamedAnswer:
    """Turns the chunks of a streamed completion into lines.

    Args:
        request: What was asked.
        texts: What came so far.
    """

    request: InputsRequest
    texts: list[str] = field(default_factory=list)

    def line(self, data: str) -> str:
        """Return the line of a chunk; an empty one for a chunk without a token."""
        chunk = json.loads(data)
        if "error" in chunk:
            return json.dumps(chunk, ensure_ascii=False)
        if not chunk["choices"]:
            return ""
        choice = chunk["choices"][0]
        self.texts.append(choice["text"])
        token = {
            "id": _identifier(choice["logprobs"]["tokens"][0]),
            "text": choice["text"],
            "logprob": choice["logprobs"]["token_logprobs"][0],
        }
        told: dict[str, Any] = {"index": choice["index"], "token": token, "generated_text": None, "details": None}
        finished = choice["finish_reason"] or choice.get("stop_reason")
        if finished is not None:
            body = self.request.body
            told["generated_text"] = (body["prompt"] if self.request.include_prompt else "") + "".join(self.texts)
            if self.request.details:
                told["details"] = {
                    "finish_reason": finished,
                    "seed": body.get("seed"),
                    "generated_tokens": chunk["usage"]["completion_tokens"] + 1,
                    "input_length": chunk["usage"]["prompt_tokens"],
                }
        return json.dumps(told, ensure_ascii=False)


async def _tokens(logprobs: Mapping[str, Any] | None, text_of: TokenText) -> list[dict[str, Any]]:
    if logprobs is None:
        return []
    found = []
    for name, logprob in zip(logprobs["tokens"], logprobs["token_logprobs"], strict=True):
        identifier = _identifier(name)
        found.append({"id": identifier, "text": await text_of(identifier), "logprob": logprob})
    return found


def _prefill(prompt_logprobs: list[Mapping[str, Any] | None] | None) -> list[dict[str, Any]]:
    found = []
    for one in prompt_logprobs or []:
        if one:
            identifier, told = next(iter(one.items()))
            found.append({"id": int(identifier), "text": told.get("decoded_token"), "logprob": told.get("logprob")})
    return found


def _identifier(name: str) -> int:
    return int(name.split(":")[1])
