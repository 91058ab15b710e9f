"""Bytes of one file → tree, or messages. YAML 1.2's core schema, without what makes YAML surprising.

Refused on purpose: anchors, aliases, merge keys and tags (``extends`` does their work and its errors point into
the right file), and the words that YAML 1.1 and 1.2 read differently.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import yaml

from warmstack.spec.diagnostics import Diagnostic
from warmstack.spec.tree import Entry, MappingNode, Mark, Node, ScalarNode, SequenceNode, is_null

MOST_SHOWN = 40
MAX_BYTES = 1024 * 1024
MAX_DEPTH = 32
# The C parser when the wheel has it: the same events, about ten times faster.
_PARSER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader

_LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_AMBIGUOUS = {"on": "true", "off": "false", "yes": "true", "no": "false"}
_INT = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def split_lines(text: str) -> tuple[str, ...]:
    """Return the lines as YAML counts them."""
    return tuple(_LINE_BREAK.split(text))


@dataclass(slots=True)
class ReadResult:
    """What one file held: the tree (None where there is none to go on with), the messages, the lines."""

    root: MappingNode | None = None
    diagnostics: list[Diagnostic] = field(default_factory=list)
    lines: tuple[str, ...] = ()
    partial: bool = False
    """Part of the text could not become a tree, so a key that is missing may only seem to be."""


@dataclass(slots=True)
class _Frame:
    mark: Mark
    is_mapping: bool
    entries: dict[str, Entry] = field(default_factory=dict)
    items: list[Node] = field(default_factory=list)
    key: tuple[str, Mark] | None = None


def read_tree(data: bytes, file: str) -> ReadResult:
    """Return the tree of one spec file.

    Args:
        data: the whole file, as stored.
        file: its name for messages.
    """
    result = ReadResult()
    top = Mark(file=file, line=1, column=1)
    if len(data) > MAX_BYTES:
        result.diagnostics.append(_error(f"the file is too large; a spec has at most {MAX_BYTES:,} bytes (1 MiB)", top))
        return result
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        good = data[: error.start].decode("utf-8-sig", errors="replace")
        before = split_lines(good)
        mark = Mark(file=file, line=len(before), column=len(before[-1]) + 1)
        result.lines = split_lines(data.decode("utf-8-sig", errors="replace"))
        result.diagnostics.append(
            _error(f"byte {error.start} (0x{data[error.start]:02x}) is not UTF-8", mark, "save it as UTF-8")
        )
        return result
    result.lines = split_lines(text)
    if not text.strip():
        result.diagnostics.append(_error("the file is empty", top, "`warmstack init NAME` writes a first spec"))
        return result
    builder = _Builder(file, result)
    try:
        for event in yaml.parse(text, Loader=_PARSER):
            if not builder.take(event):
                break
    except yaml.YAMLError as error:
        result.diagnostics.append(_syntax_error(error, text, file, result.lines))
        return result
    root = builder.root
    if (root is None or is_null(root)) and not result.diagnostics:
        result.diagnostics.append(_error("the file has no content", top, "`warmstack init NAME` writes a first spec"))
    elif isinstance(root, MappingNode):
        result.root = root
    elif root is not None:
        kind = "a list" if isinstance(root, SequenceNode) else f"the value {_short(root.text)!r}"
        result.diagnostics.append(
            _error(f"the file holds {kind}; a spec is a mapping of keys, such as 'name: my-endpoint'", root.mark)
        )
    return result


class _Builder:
    """Builds the tree from parser events; stops at what has no meaning without the rest."""

    def __init__(self, file: str, result: ReadResult) -> None:
        self.file = file
        self.result = result
        self.root: Node | None = None
        self._stack: list[_Frame] = []
        self._documents = 0

    def take(self, event: yaml.Event) -> bool:
        """Take one event; False stops the reading."""
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self._refuse(event, "a second document starts here; a spec file holds one", None)
                self.result.partial = True
                return False
        elif isinstance(event, yaml.AliasEvent):
            self._refuse(event, f"alias '*{event.anchor}': anchors and aliases are not part of the language", _SHARE)
            self.result.partial = True
            self._add(ScalarNode(value=None, text="", mark=self._mark(event)))
        elif isinstance(event, yaml.NodeEvent):
            return self._node(event)
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            frame = self._stack.pop()
            node: Node = (
                MappingNode(entries=frame.entries, mark=frame.mark)
                if frame.is_mapping
                else SequenceNode(items=tuple(frame.items), mark=frame.mark)
            )
            self._add(node)
        return True

    def _node(self, event: yaml.NodeEvent) -> bool:
        if event.anchor is not None:
            self._refuse(event, f"anchor '&{event.anchor}': anchors are not part of the language", _SHARE)
        tag = getattr(event, "tag", None)
        if tag is not None:
            self._refuse(event, f"tag '{tag}': tags are not part of the language", "write the plain value")
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
            return True
        if len(self._stack) >= MAX_DEPTH:
            self._refuse(event, f"nested deeper than {MAX_DEPTH} levels", None)
            return False
        mapping = isinstance(event, yaml.MappingStartEvent)
        if self._expects_key():
            self._refuse(event, "a key must be a word, not a list or a mapping", None)
            return False
        self._stack.append(_Frame(mark=self._mark(event, one=True), is_mapping=mapping))
        return True

    def _expects_key(self) -> bool:
        return bool(self._stack) and self._stack[-1].is_mapping and self._stack[-1].key is None

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        mark = self._mark(event)
        plain = event.style in (None, "")
        if not self._expects_key():
            self._add(ScalarNode(value=self._resolve(event.value, plain, mark), text=event.value, mark=mark))
            return
        frame = self._stack[-1]
        key: str = event.value
        if plain and key == "<<":
            self._refuse(event, "merge key '<<': merge keys are not part of the language", _SHARE)
            self.result.partial = True
        elif plain and key.lower() in _AMBIGUOUS:
            self._ambiguous(key, mark)
        elif key in frame.entries:
            first = frame.entries[key].key_mark
            self._refuse(
                event,
                f"duplicate key '{key}'; it was first written in line {first.line}",
                "keep one of the two",
            )
        frame.key = (key, mark)

    def _add(self, node: Node) -> None:
        if not self._stack:
            self.root = node
            return
        frame = self._stack[-1]
        if not frame.is_mapping:
            frame.items.append(node)
        elif frame.key is None:  # an alias as a key: reported already
            frame.key = ("", node.mark)
        else:
            key, mark = frame.key
            frame.key = None
            frame.entries.setdefault(key, Entry(key_mark=mark, node=node))

    def _resolve(self, text: str, plain: bool, mark: Mark) -> str | int | float | bool | None:
        if not plain:
            return text
        if text in ("", "~", "null", "Null", "NULL"):
            return None
        if text in ("true", "True", "TRUE"):
            return True
        if text in ("false", "False", "FALSE"):
            return False
        if text.lower() in _AMBIGUOUS:
            self._ambiguous(text, mark)
            return text
        if _NOT_FINITE.fullmatch(text):
            self._report(f"{text} is not a finite number", mark, None)
            return text
        if _INT.fullmatch(text):
            return self._integer(text, mark)
        if _FLOAT.fullmatch(text):
            return self._float(text, mark)
        return text

    def _integer(self, text: str, mark: Mark) -> int | str:
        digits = text.lstrip("+-")
        if len(digits) > 1 and digits[0] == "0":
            self._report(
                f"{text} starts with a zero, which YAML readers take for different numbers",
                mark,
                f'write "{text}" in quotes if it is a text, or leave the zero out',
            )
            return text
        if len(digits) > 18:
            self._report(f"{text[:24]}… has {len(digits)} digits; a number has at most 18", mark, None)
            return text
        return int(text)

    def _float(self, text: str, mark: Mark) -> float | str:
        value = float(text)
        if value in (float("inf"), float("-inf")):
            self._report(f"{text} is too large for a number", mark, None)
            return text
        return value

    def _ambiguous(self, word: str, mark: Mark) -> None:
        meant = _AMBIGUOUS[word.lower()]
        self._report(
            f"the bare word {word!r} is a boolean in YAML 1.1 and a text in YAML 1.2",
            mark,
            f'write {meant}, or "{word}" in quotes if it is a text',
        )

    def _mark(self, event: yaml.Event, one: bool = False) -> Mark:
        start, end = event.start_mark, event.end_mark
        # The parser marks every event that it reads from a text.
        assert start is not None
        assert end is not None
        length = end.column - start.column if end.line == start.line and not one else 1
        # The parser places what is empty at the end of a text in a line that the text does not have.
        line = min(start.line + 1, len(self.result.lines))
        return Mark(file=self.file, line=line, column=start.column + 1, length=max(1, length))

    def _refuse(self, event: yaml.Event, message: str, hint: str | None) -> None:
        self._report(message, self._mark(event), hint)

    def _report(self, message: str, mark: Mark, hint: str | None) -> None:
        self.result.diagnostics.append(_error(message, mark, hint))


_SHARE = "put what is shared into a file of its own and name it with 'extends'"


def _error(message: str, mark: Mark, hint: str | None = None) -> Diagnostic:
    return Diagnostic(severity="error", message=message, mark=mark, hint=hint)


def _syntax_error(error: yaml.YAMLError, text: str, file: str, lines: tuple[str, ...]) -> Diagnostic:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        return _unreadable_character(text, file)
    line, column = min(mark.line + 1, len(lines)), mark.column + 1
    source = lines[line - 1]
    place = Mark(file=file, line=line, column=column)
    indent = source[: len(source) - len(source.lstrip())]
    if "\t" in indent or source[column - 1 : column] == "\t":
        at = source.index("\t") + 1
        return _error(
            "a tab; YAML indents with spaces only",
            Mark(file=file, line=line, column=at),
            "replace the tab with spaces",
        )
    problem = str(getattr(error, "problem", None) or "the text is not YAML")
    context = getattr(error, "context", None)
    return _error(f"not YAML: {problem}" + (f" ({context})" if context else ""), place)


def _unreadable_character(text: str, file: str) -> Diagnostic:
    """Find the character that YAML does not allow: the reader's own error names no line."""
    match = re.search("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
    if match is None:
        return _error("not YAML", Mark(file=file, line=1, column=1))
    before = split_lines(text[: match.start()])
    place = Mark(file=file, line=len(before), column=len(before[-1]) + 1)
    way_out = "save it as UTF-8" if match[0] == "\0" else "remove it"
    return _error(f"the control character {match[0]!r} is not allowed in YAML", place, way_out)


def _short(text: str) -> str:
    """Return the beginning of a text: a file that is no spec may be long, and is nobody's business."""
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
