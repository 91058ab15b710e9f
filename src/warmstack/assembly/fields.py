"""Properties of a resource, read with the type that each must have. What is wrong is recorded where it stands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from warmstack.assembly.template import Template
from warmstack.assembly.unresolved import NO_VALUE, Unresolved, as_text

OnUnresolved = Callable[[str, Unresolved], None]


class Fields:
    """The properties in one mapping of a resource.

    Args:
        template: The template.
        logical_id: The resource.
        node: The mapping as it is written; the resource's own properties where it is left out.
        path: Where in the resource it stands; empty for the resource's own properties.
    """

    def __init__(self, template: Template, logical_id: str, node: Any = None, path: str = "") -> None:
        self.template = template
        self.logical_id = logical_id
        self.path = path
        self._node = self._mapping(template.properties(logical_id) if node is None else node)

    def __contains__(self, name: str) -> bool:
        return self._value(name, is_needed=False) is not None

    def names(self) -> tuple[str, ...]:
        """Return the names of the properties that are written."""
        return tuple(map(str, self._node))

    def wrong(self, name: str, what: str) -> None:
        """Record a problem with a property."""
        self.template.problems.add(self.template.where(self.logical_id, self.place(name)), what)

    def place(self, name: str) -> str:
        """Return where in the resource a property stands."""
        return f"{self.path}.{name}" if self.path and name else self.path or name

    def text(self, name: str, *, on_unresolved: OnUnresolved | None = None) -> str | None:
        """Return a text; None where it is absent or wrong.

        Args:
            name: The property.
            on_unresolved: Told of a value that only a deployment knows, which otherwise is a problem.
        """
        value = self._value(name, on_unresolved=on_unresolved)
        if value is None or isinstance(value, Unresolved):
            return None
        found = as_text(value)
        if found is None:
            self.wrong(name, "is no text")
        return found

    def required_text(self, name: str) -> str | None:
        """Return a text whose absence is a problem."""
        if name not in self:
            self.wrong(name, "is missing; CloudFormation requires it")
            return None
        found = self.text(name)
        if found == "":
            self.wrong(name, "is empty")
            return None
        return found

    def whole(self, name: str, least: int, most: int) -> int | None:
        """Return a whole number within bounds; None where it is absent or wrong."""
        found = self.number(name, least, most)
        if found is not None and found != int(found):
            self.wrong(name, f"is {found}; it takes a whole number")
            return None
        return None if found is None else int(found)

    def number(self, name: str, least: float, most: float) -> float | None:
        """Return a number within bounds; None where it is absent or wrong."""
        value = self._value(name)
        if value is None or isinstance(value, Unresolved):
            return None
        try:
            # CloudFormation takes "2" for 2.
            found = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            found = math.nan
        if math.isnan(found):
            self.wrong(name, f"is {_shown(value)}; it takes a number")
        elif not least <= found <= most:
            self.wrong(name, f"is {_shown(value)}; it takes {least}..{most}")
        else:
            return found
        return None

    def choice(self, name: str, values: Iterable[str]) -> str | None:
        """Return one of the values; None where it is absent or wrong."""
        found = self.text(name)
        if found is None or found in (known := tuple(values)):
            return found
        self.wrong(name, f"is {_shown(found)}; it takes {', '.join(known)}")
        return None

    def inside(self, name: str) -> Fields:
        """Return a mapping's own properties; none where it is absent."""
        return Fields(self.template, self.logical_id, self._head(name, {}), self.place(name))

    def each(self, name: str) -> list[Fields]:
        """Return the mappings in a list; none where it is absent."""
        where = self.place(name)
        found = self._head(name, [])
        if isinstance(found, Unresolved):
            if not found.is_reported:
                self.wrong(name, f"cannot be answered here: {found.why}")
            return []
        if not isinstance(found, list):
            self.wrong(name, "is no list")
            return []
        entries = [self.template.head(one, self.template.where(self.logical_id, where)) for one in found]
        return [
            Fields(self.template, self.logical_id, one, f"{where}[{index}]")
            for index, one in enumerate(entries)
            if one is not NO_VALUE
        ]

    def texts(self, name: str, on_unresolved: OnUnresolved) -> Mapping[str, str]:
        """Return a mapping of texts, without those that only a deployment knows."""
        inner = self.inside(name)
        found = {key: inner.text(key, on_unresolved=on_unresolved) for key in inner.names()}
        return {key: value for key, value in found.items() if value is not None}

    def best_text(self, name: str, on_unresolved: OnUnresolved) -> str | None:
        """Return a text, with ``${…}`` for the parts that only a deployment knows."""
        found: list[str] = []

        def keep(place: str, value: Unresolved) -> None:
            on_unresolved(place, value)
            found.append(value.text)

        text = self.text(name, on_unresolved=keep)
        return found[0] if text is None and found else text

    def _value(self, name: str, *, on_unresolved: OnUnresolved | None = None, is_needed: bool = True) -> Any:
        where = self.template.where(self.logical_id, self.place(name))
        raw = self._node.get(name)
        value = self.template.resolve(raw, where) if is_needed else self.template.head(raw, where)
        if value is NO_VALUE:
            return None
        if isinstance(value, Unresolved) and not value.is_reported and is_needed:
            if on_unresolved is None:
                self.wrong(name, f"cannot be answered here: {value.why}")
            else:
                on_unresolved(self.place(name), value)
        return value

    def _head(self, name: str, default: Any) -> Any:
        found = self.template.head(self._node.get(name), self.template.where(self.logical_id, self.place(name)))
        return default if found is None or found is NO_VALUE else found

    def _mapping(self, node: Any) -> Mapping[str, Any]:
        if isinstance(node, dict):
            return node
        if not isinstance(node, Unresolved):
            self.wrong("", "is no mapping")
        elif not node.is_reported:
            self.wrong("", f"cannot be answered here: {node.why}")
        return {}


def _shown(value: Any) -> str:
    text = as_text(value)
    return type(value).__name__ if text is None else repr(text if len(text) <= 80 else f"{text[:79]}…")
