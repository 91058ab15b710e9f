"""Whether requests of one prefix find its cache.

No answer of SageMaker's names the instance that gave it. What can be observed is the server's own count of cached
tokens: a prefix that no one has sent before is cached nowhere; the requests that follow with the same prefix and other
endings find it cached only where it was computed, or in a tier that instances share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from warmstack.client import AnswerMalformed, EndpointClient, ModelRefused
from warmstack.errors import WarmstackError
from warmstack.operate.results import Result
from warmstack.operate.verification import checks
from warmstack.operate.verification.canary import Asked, ClientOf, Reforms

LATER_REQUESTS = 6
ROUNDS = 2
"""A miss is looked at once more, with another prefix: other traffic may have sent one request elsewhere."""
LEAST_SHARE = 0.5
"""The share of the prompt's tokens that has to be cached for a prefix to count as found; the endings are short."""
_MARGIN_BYTES = 512
_FILLER = "The archive keeps one line for each day, and each line tells what was decided and by whom. "
_REFORMED = "not observable: answers have no count of cached tokens; a formatter may have changed their form"
_SETTINGS = {"vllm": "engine.options.enable_prompt_tokens_details", "sglang": "engine.options.enable_cache_report"}
_ANY_SETTING = (
    "let the server tell them: on vllm enable_prompt_tokens_details, on sglang enable_cache_report; lmi cannot"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    cold: int | None
    warm: tuple[int | None, ...]
    prompt_tokens: int

    @property
    def found(self) -> int:
        return sum(one is not None and one >= LEAST_SHARE * self.prompt_tokens for one in self.warm)

    @property
    def told(self) -> bool:
        return self.cold is not None and all(one is not None for one in self.warm)


def check_prefixes(
    client_of: ClientOf,
    asked: Sequence[Asked],
    *,
    prefix_length: int | None,
    servers: Callable[[Asked], int],
    new_id: Callable[[], str],
    reforms: Reforms,
    dialect: Callable[[Asked], str | None],
) -> Iterator[Result]:
    """Yield whether later requests of a new prefix find it cached.

    Args:
        client_of: Makes clients.
        asked: What is asked; adapters share the routing of their bases.
        prefix_length: PrefixLength where prefixes route, else None.
        servers: How many copies or instances can serve one of them.
        new_id: Makes texts that no one has sent before.
        reforms: Tells whether a formatter may change the form of answers.
        dialect: Tells which server it is: lmi, vllm or sglang; None where nothing says it.
    """
    for one in asked:
        if one.base is not None:
            continue
        if prefix_length is None:
            yield checks.PREFIX.skipped(one.shown, "prefixes do not route here")
        elif servers(one) < 2:
            yield checks.PREFIX.skipped(one.shown, "one copy serves: a prefix has nothing to choose from")
        else:
            untold = _untold(one.shown, dialect(one))
            result = _observe(client_of(one.name), one.shown, prefix_length, new_id, untold)
            if result is None and reforms(one) is False:
                way_out = "look at the canary first"
                result = checks.PREFIX.failed(one.shown, "a request got no answer that a server sends", fix=way_out)
            yield result or checks.PREFIX.skipped(one.shown, _REFORMED)


def _untold(subject: str, dialect: str | None) -> Result:
    """Return that the server does not tell the count, with the way out that its kind has."""
    check = checks.PREFIX
    if dialect == "lmi":
        # Its handler hands arguments to the engine, and this is a setting of vLLM's own front end.
        return check.skipped(subject, "not observable: lmi tells no cached tokens, and no setting reaches that")
    setting = _SETTINGS.get(dialect or "")
    way_out = f"let the server tell them: {setting}" if setting else _ANY_SETTING
    return check.skipped(subject, "not observable: the server tells no cached tokens", fix=way_out)


def _observe(
    client: EndpointClient, subject: str, prefix_length: int, new_id: Callable[[], str], untold: Result
) -> Result | None:
    """Return what was observed; None where answers have another form than a server's."""
    check = checks.PREFIX
    rounds: list[_Round] = []
    try:
        for _ in range(ROUNDS):
            rounds.append(_round(client, _prefix(new_id(), prefix_length + _MARGIN_BYTES)))
            if not rounds[-1].told:
                return untold
            if rounds[-1].found == LATER_REQUESTS:
                break
    except AnswerMalformed:
        return None
    except ModelRefused as refused:
        return check.skipped(subject, f"not observable: the model refused a prompt of {prefix_length} bytes: {refused}")
    except WarmstackError as error:
        return check.failed(subject, f"a request failed: {error}", fix="look at the canary first")
    return _judge(subject, rounds)


def _judge(subject: str, rounds: Sequence[_Round]) -> Result:
    last = rounds[-1]
    found, told = last.found, f"{last.found} of {LATER_REQUESTS} later requests found their prefix cached"
    cached = [one for one in last.warm if one is not None]
    seen = f"{told} (cold {last.cold}, then {', '.join(map(str, cached))} of {last.prompt_tokens} tokens)"
    measured: dict[str, Any] = {"found": found, "of": LATER_REQUESTS, "rounds": len(rounds)}
    if found == LATER_REQUESTS:
        return checks.PREFIX.passed(subject, seen, **measured)
    if not any(one.found for one in rounds):
        return checks.PREFIX.failed(
            subject,
            f"{seen}, in {len(rounds)} rounds",
            fix="look whether the engine caches prefixes (enable_prefix_caching), and at active-configuration",
            **measured,
        )
    both = ", ".join(f"{one.found} of {LATER_REQUESTS}" for one in rounds)
    return checks.PREFIX.failed(subject, f"{seen}; in {len(rounds)} rounds with new prefixes: {both}", **measured)


def _round(client: EndpointClient, prefix: str) -> _Round:
    cached: list[int | None] = []
    prompt_tokens = 0
    for number in range(1 + LATER_REQUESTS):
        usage = client.chat(f"{prefix}\nQuestion {number}: which day?", max_tokens=1, temperature=0).usage
        cached.append(None if usage is None else usage.cached_tokens)
        prompt_tokens = prompt_tokens if usage is None else usage.prompt_tokens
        if cached[-1] is None:
            break
    return _Round(cold=cached[0], warm=tuple(cached[1:]) or (None,), prompt_tokens=prompt_tokens)


def _prefix(nonce: str, length: int) -> str:
    # The new text comes first: what stands before it may be cached already.
    text = f"Record {nonce}. "
    return text + _FILLER * (1 + (length - len(text)) // len(_FILLER))
