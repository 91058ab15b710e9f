"""One generation by each model: the only proof that a model behind a healthy container answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from warmstack.client import AnswerMalformed, EndpointClient, EndpointError, ModelRefused, Response
from warmstack.errors import WarmstackError
from warmstack.operate.results import Result
from warmstack.operate.verification import checks

PROMPT = "Name three colours."
MOST_TOKENS = 16

_SHOWN_BYTES = 80

ClientOf = Callable[[str | None], EndpointClient]
"""Makes the client of a component by its physical name; None: of the endpoint, whose variant hosts the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Something that is asked for a generation.

    Args:
        name: A component's physical name; None for the endpoint.
        shown: What it is called in the report.
        base: The base component of an adapter, or None.
    """

    name: str | None
    shown: str
    base: str | None = None


Reforms = Callable[[Asked], bool | None]
"""Tells whether a formatter may change the form of the answers of something; None where nothing says it."""


def check_canaries(
    client_of: ClientOf, asked: Sequence[Asked], reforms: Reforms, silent: set[str | None] | None = None
) -> Iterator[Result]:
    """Yield how each model answers.

    Args:
        client_of: Makes clients.
        asked: What is asked; bases are to come before their adapters.
        reforms: Tells whether answers may have another form than a server's.
        silent: Gets the names of those that do not answer.
    """
    texts: dict[str | None, str] = {}
    silent = set() if silent is None else silent
    for one in asked:
        if one.base in silent and one.base is not None:
            # Guard: each would wait a minute for copies that do not answer.
            silent.add(one.name)
            yield checks.CANARY.failed(one.shown, f"it is not asked: its base {one.base} does not answer")
            continue
        try:
            response, form = _generate(client_of(one.name))
        except AnswerMalformed as malformed:
            yield _of_another_form(one, malformed, reforms(one))
            continue
        except WarmstackError as error:
            silent.add(one.name)
            yield checks.CANARY.failed(one.shown, f"it does not answer: {error}")
            continue
        texts[one.name] = response.text
        yield _result(one, response, form, texts.get(one.base) if one.base else None)


def _generate(client: EndpointClient) -> tuple[Response, str]:
    try:
        return client.chat(PROMPT, max_tokens=MOST_TOKENS, temperature=0), "chat"
    except ModelRefused as refused:
        try:
            # A base model without a chat template refuses chats, and continues texts.
            return client.complete(PROMPT, max_tokens=MOST_TOKENS, temperature=0), "completion; it refuses chats"
        except EndpointError:
            raise refused from None


def _of_another_form(one: Asked, malformed: AnswerMalformed, reforms: bool | None) -> Result:
    if reforms is False or not malformed.answer.strip():
        return checks.CANARY.failed(one.shown, f"it does not answer: {malformed}")
    begins = malformed.answer[:_SHOWN_BYTES].decode(errors="replace")
    seen = f"an answer of another form than a server's: {begins}{'…' if malformed.answer[_SHOWN_BYTES:] else ''}"
    if reforms and not _holds_something(malformed.answer):
        return checks.CANARY.warned(
            one.shown,
            f"{seen}; a formatter may have changed it, or something else answers",
            fix="ask it yourself: warmstack invoke. A formatter whose answers are JSON is told from a page of errors",
        )
    if reforms is None:
        return checks.CANARY.warned(
            one.shown,
            f"{seen}; whether a formatter has changed it is not known",
            fix="name what the endpoint is to be, which says whether it has formatters: --assembly cdk.out, or --stack",
        )
    return checks.CANARY.passed(one.shown, f"{seen}; a formatter may have changed it")


def _holds_something(answer: bytes) -> bool:
    """Return whether an answer is JSON, with something in it: what a formatter makes, and no proxy's page."""
    try:
        return bool(json.loads(answer))
    except (ValueError, RecursionError):
        return False


def _result(one: Asked, response: Response, form: str, base_text: str | None) -> Result:
    usage, call = response.usage, response.call
    seconds = None if call is None else round(call.seconds, 3)
    cached = None if usage is None else usage.cached_tokens
    tokens = None if usage is None else usage.completion_tokens
    answered = bool(response.text or response.reasoning or response.tool_calls)
    told = [f"a {form}"]
    told += [] if tokens is None else [f"{tokens} tokens"]
    told += [] if seconds is None else [f"{seconds:.2f} s"]
    if usage is not None:
        counted = "cached not told" if cached is None else f"{cached} cached"
        told.append(f"{usage.prompt_tokens} prompt tokens, {counted}")
    differs = None if base_text is None else response.text != base_text
    if differs is not None:
        told.append("answers as its base does" if not differs else "answers differently from its base")
    seen = "; ".join(told)
    if not answered and not tokens:
        return checks.CANARY.failed(one.shown, f"its answer is empty: {seen}", seconds=seconds)
    return checks.CANARY.passed(
        one.shown, seen, seconds=seconds, completion_tokens=tokens, cached_tokens=cached, differs_from_base=differs
    )
