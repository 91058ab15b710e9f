"""Messages about the text of a spec, and the three forms in which they are printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal

from warmstack.errors import WarmstackError
from warmstack.spec.tree import Mark

Severity = Literal["error", "warning", "note"]
Format = Literal["text", "json", "github"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One message about one place.

    Args:
        severity: ``error`` stops, ``warning`` stops only with ``--strict``, ``note`` never stops.
        message: the value, the rule and, where there is one, the way out.
        mark: the place, or None where the message is about no text (an absent file).
        check: the id of the check that found it (``WS062``), or None for the language itself.
        hint: the way out, on a line of its own.
        secret: the source line may hold a secret, so it is not shown.
    """

    severity: Severity
    message: str
    mark: Mark
    check: str | None = None
    hint: str | None = None
    secret: bool = False

    @property
    def sort_key(self) -> tuple[str, int, int, str]:
        """Order by place, so that messages read as the text does."""
        return (self.mark.file, self.mark.line, self.mark.column, self.message)


class SpecError(WarmstackError):
    """The spec cannot be read: every problem that was found, and the lines they are in.

    Args:
        diagnostics: the problems, ordered by place.
        lines: the text of each file that was read, by the name used in the marks.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic], lines: Mapping[str, Sequence[str]]) -> None:
        self.diagnostics = unique(diagnostics)
        self.lines = lines
        super().__init__(render(self.diagnostics, lines, "text").rstrip("\n"))


def unique(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the messages ordered by place, each once (a shared block is validated for every component)."""
    return tuple(sorted(dict.fromkeys(diagnostics), key=lambda one: one.sort_key))


def render(diagnostics: Iterable[Diagnostic], lines: Mapping[str, Sequence[str]], form: Format = "text") -> str:
    """Return the messages as text with source lines and carets, as JSON, or as GitHub annotations."""
    found = list(diagnostics)
    if form == "json":
        return json.dumps([_as_json(one) for one in found], ensure_ascii=False, indent=2) + "\n"
    if form == "github":
        return "".join(_as_github(one) for one in found)
    # A line that may hold a secret is shown under no message at all.
    hidden = {(one.mark.file, one.mark.line) for one in found if one.secret}
    return "".join(_as_text(one, lines, hidden) for one in found)


def _title(one: Diagnostic) -> str:
    return one.severity if one.check is None else f"{one.severity} {one.check}"


def _as_text(one: Diagnostic, lines: Mapping[str, Sequence[str]], hidden: Set[tuple[str, int]]) -> str:
    mark = one.mark
    place = f"{printable(mark.file)}:{mark.line}:{mark.column}"
    out = [f"{place}: {_title(one)}: {printable(one.message)}"]
    text = lines.get(mark.file, ())
    if 0 < mark.line <= len(text) and (mark.file, mark.line) not in hidden:
        source = redacted(text[mark.line - 1])
        at, end = mark.column - 1, mark.column - 1 + mark.length
        # Guard: a very long line would push the caret out of sight. Cut first: what is cut is not escaped.
        start = max(0, at - 60) if len(source) > 120 else 0
        stop = start + 120
        before, marked, after = (
            printable(part.replace("\t", " "))
            for part in (source[start:at], source[at : min(end, stop)], source[end : max(end, stop)])
        )
        shown = f"{before}{marked}{after}".rstrip()
        out += [f"{mark.line:>6} | {shown}".rstrip(), f"{'':>6} | {'':>{len(before)}}{'^' * max(1, len(marked))}"]
    if one.hint:
        out.append(f"{'':>6} = {printable(one.hint)}")
    return "\n".join(out) + "\n"


def _as_json(one: Diagnostic) -> dict[str, object]:
    return {
        "severity": one.severity,
        "check": one.check,
        "message": redacted(one.message),
        "hint": None if one.hint is None else redacted(one.hint),
        "file": one.mark.file,
        "line": one.mark.line,
        "column": one.mark.column,
        "length": one.mark.length,
    }


def _as_github(one: Diagnostic) -> str:
    level = "notice" if one.severity == "note" else one.severity
    place = f"file={_property(printable(one.mark.file))},line={one.mark.line},col={one.mark.column}"
    title = _property(f"Warmstack {one.check}" if one.check else "Warmstack")
    text = printable(one.message) if one.hint is None else f"{printable(one.message)}\n{printable(one.hint)}"
    return f"::{level} {place},title={title}::{_escape(text)}\n"


def _escape(text: str) -> str:
    # GitHub's workflow commands end at a line break, and %, CR and LF are its only escapes.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")


# Tokens as they look: of the Hugging Face hub, of API providers, of AWS.
TOKEN = re.compile(r"\b(hf_[A-Za-z0-9]{6,}|sk-[A-Za-z0-9_-]{16,}|(AKIA|ASIA)[A-Z0-9]{16})")


# A name and a password in an address; a path loses one of the slashes.
CREDENTIALS = re.compile(r"(:/{1,2})([^/\s@'\"]*:[^/\s@'\"]+|[^/\s@'\":]{6,})@")


def redacted(text: str) -> str:
    """Return the text with what looks like a token starred out, as long as before: messages end up in logs."""
    starred = TOKEN.sub(lambda match: match[0][:3] + "*" * (len(match[0]) - 3), text)
    return CREDENTIALS.sub(lambda match: match[1] + "*" * len(match[2]) + "@", starred)


def printable(text: str) -> str:
    """Return the text for a terminal or a log: control characters escaped, tokens starred out."""
    text = redacted(text)
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
