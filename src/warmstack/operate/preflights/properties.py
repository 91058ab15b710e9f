"""A serving.properties beside the weights: LMI takes its settings before the Model's environment.

Source: DJL Serving, ``ModelInfo.loadServingProperties`` (branches of the LMI images, read 2026-11-30): variables fill
only what the file leaves open.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from warmstack.operate.asking import RefusedError, not_seen
from warmstack.operate.preflights import checks
from warmstack.operate.preflights.account import Account
from warmstack.operate.preflights.storage import Prefix, read_text
from warmstack.operate.results import Result

FILE = "serving.properties"
_KEY = re.compile(r"\s*([^#!\s=:][^\s=:]*)\s*(?:[=:\s]|$)")


def check_properties(
    server: str, settings: Collection[str], account: Account, uri: str, place: Prefix
) -> Iterator[Result]:
    """Yield whether a serving.properties would win over the environment. Its values are not shown.

    Args:
        server: What reads the weights.
        settings: The variables of every component that reads these weights.
        account: The account.
        uri: The prefix.
        place: What lies under it.
    """
    check = checks.PROPERTIES
    if FILE not in place.files:
        if place.whole:
            yield check.passed(uri, f"there is no {FILE}")
        else:
            yield place.not_listed(check, f"{FILE} not among them")
        return
    if server != "lmi":
        yield check.passed(uri, f"there is a {FILE}, which {server} does not read")
        return
    if not place.files[FILE]:
        yield check.warned(uri, f"{FILE} is empty: it sets nothing, and tells nobody why it is there")
        return
    try:
        keys = property_keys(read_text(account, place, FILE))
    except RefusedError as refused:
        yield not_seen(check, uri, refused)
        return
    known = {variable_of(key): key for key in keys}
    winning = sorted(key for variable, key in known.items() if variable in settings)
    others = sorted(set(keys) - set(winning))
    if winning:
        also = f"; it sets {', '.join(others)} besides" if others else ""
        yield check.failed(uri, f"{FILE} wins over the environment for {', '.join(winning)}{also}")
    else:
        yield check.warned(uri, f"{FILE} sets {', '.join(others) or 'nothing'}, which the spec does not show")


def property_keys(text: bytes) -> list[str]:
    """Return the keys of a properties file, in their order."""
    matches = (_KEY.match(line) for line in text.decode("utf-8", "replace").splitlines())
    return list(dict.fromkeys(match[1] for match in matches if match))


def variable_of(key: str) -> str:
    """Return the variable that stands for a key: ``option.max_model_len`` is ``OPTION_MAX_MODEL_LEN``."""
    if key == "engine":
        return "OPTION_ENGINE"
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_" if key != "option.entryPoint" else "", key)
    if words.startswith("option."):
        return f"OPTION_{words.removeprefix('option.').replace('.', '_').upper()}"
    return f"SERVING_{words.replace('.', '_').upper()}"
