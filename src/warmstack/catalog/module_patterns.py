"""The module lists of quantized checkpoints: folded over the layers, and safe to match against.

A list comes from a file that anyone can write, and its regular expressions are run. So they are compiled here, and
their length, their number and the ways in which they can match are limited: Python's engine tries every way.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable
from typing import Any

from warmstack.catalog.config_bounds import MAX_LAYERS, shown
from warmstack.catalog.shapes import ModulePattern
from warmstack.errors import CatalogError

# The catalog's longest entry has 48 characters and its longest folded list 12 entries. Vision towers that are
# listed block by block make a few hundred.
MAX_PATTERN_LENGTH = 500
MAX_PATTERNS = 2_000
# A million steps are some 20 ms a module name, and a model has less than a hundred names. `.*mlp\..*_proj.*` has
# 40,000 ways, so four repeats in one expression are fine and five are not.
MAX_WAYS = 1_000_000
_NAME_LENGTH = 60

_LAYER = re.compile(r"layers\.([0-9]+)(?=\.|\*|$)")
_NUMBERS = re.compile(r"([0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*)?")
# Escapes and character classes are one character to an expression; then groups, repeats, alternatives.
_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]"
    r"|(?P<open>\((?:\?(?::|=|!|<=|<!|P<\w+>|i\)))?)"
    r"|(?P<after_group>\)[*+{])|(?P<repeat>[*+{][?+]?)|(?P<maybe>\?[?+]?)|(?P<alternative>\|)|.",
    re.DOTALL,
)


def fold_modules(
    entries: Iterable[Any], *, num_layers: int, where: str = "the module list"
) -> tuple[ModulePattern, ...]:
    """Return the entries of a module list with ``#`` for the layer and the layers beside it.

    Checkpoints list modules layer by layer, thousands of lines; entries of layers at ``num_layers`` and above
    belong to multi-token prediction and are dropped. An entry may be folded already: ``[pattern, "0-2,5"]``.

    Raises:
        CatalogError: an entry is no text, too long, or a regular expression that cannot be run safely; the
            message starts with ``where``, the file and the field.
    """
    layers: dict[str, set[int]] = {}
    for index, entry in enumerate(entries):
        place = f"{where}[{index}]"
        if isinstance(entry, list) and len(entry) == 2 and all(isinstance(part, str) for part in entry):
            pattern, numbers = entry
            _check_length(pattern, place)
            layers.setdefault(pattern, set()).update(_parse_numbers(numbers, place))
            continue
        if not isinstance(entry, str):
            raise CatalogError(f"{place} is {shown(entry)}; it must be a text that names modules")
        _check_length(entry, place)
        match = _LAYER.search(entry)
        if match is not None and int(match[1]) >= num_layers:
            continue
        pattern = re.sub(r"experts\.[0-9]+", "experts.#", _LAYER.sub("layers.#", entry))
        pattern = pattern.replace("layers.*.", "layers.#.")
        layers.setdefault(pattern, set()).update({int(match[1])} if match is not None else ())
    if len(layers) > MAX_PATTERNS:
        raise CatalogError(f"{where} names {len(layers):,} modules of a layer; {MAX_PATTERNS:,} are the most")
    _check_expressions([pattern for pattern in layers if pattern.startswith("re:")], where)
    return tuple(
        ModulePattern(pattern=pattern, layers=tuple(sorted(numbers))) for pattern, numbers in sorted(layers.items())
    )


def _parse_numbers(text: str, where: str) -> set[int]:
    numbers: set[int] = set()
    if _NUMBERS.fullmatch(text):
        for part in filter(None, text.split(",")):
            first, _, last = part.partition("-")
            numbers.update(range(int(first), int(last or first) + 1))
        if max(numbers, default=0) < MAX_LAYERS:
            return numbers
    raise CatalogError(f"{where} has the layers {shown(text)}; they must be numbers below {MAX_LAYERS:,}, as in 0-2,5")


def _check_length(pattern: str, where: str) -> None:
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise CatalogError(
            f"{where} is {shown(pattern)}, {len(pattern):,} characters; {MAX_PATTERN_LENGTH} are the most"
        )


def _check_expressions(patterns: list[str], where: str) -> None:
    ways = 0
    for pattern in patterns:
        expression = pattern.removeprefix("re:")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                re.compile(expression)
        except (re.error, Warning, OverflowError, RecursionError) as error:
            raise CatalogError(f"{where} holds {shown(pattern)}, which is not a regular expression: {error}") from error
        ways += _ways(expression, f"{where} holds {shown(pattern)}")
        if ways > MAX_WAYS:
            raise CatalogError(
                f"{where} holds {shown(pattern)}; its regular expressions can match in more than {MAX_WAYS:,} ways, "
                "which takes too long: use fewer repeats and alternatives"
            )


def _ways(expression: str, where: str) -> int:
    """Return at least how many ways there are to match a module's name with a regular expression.

    Each repeat of a character may end anywhere, so ``k`` of them share a name of ``n`` characters in
    ``n + k over k`` ways; each group has its alternatives, each ``?`` two.
    """
    repeats, factor, alternatives = 0, 1, [1]
    for token in _TOKEN.finditer(expression):
        if token["open"] is not None:
            if token["open"] == "(" and expression.startswith("?", token.end()):
                raise CatalogError(f"{where}; its regular expression has a kind of group that is not supported")
            if not token["open"].endswith(")"):
                alternatives.append(1)
        elif token["after_group"] is not None:
            raise CatalogError(f"{where}; a repeated group takes too long to match: repeat single characters only")
        elif token["repeat"] is not None:
            repeats += 1
        elif token["maybe"] is not None:
            factor *= 2
        elif token["alternative"] is not None:
            alternatives[-1] += 1
        elif token[0] == ")":
            factor *= alternatives.pop()
    factor *= math.prod(alternatives)
    return factor * math.comb(_NAME_LENGTH + repeats, repeats)
