"""Typed access to the fields of a config.json, with messages that name the field and the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warmstack.errors import CatalogError


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The language model's part of a config, and the whole of it.

    Attributes:
        text: ``text_config`` of a multimodal model, else the whole config.
        whole: the whole config.
        source: the file, for messages.
    """

    text: Mapping[str, Any]
    whole: Mapping[str, Any]
    source: str

    def anywhere(self, key: str) -> Any:
        """Return a field of the language model, else of the whole config, else None."""
        found = self.text.get(key)
        return self.whole.get(key) if found is None else found

    def integer(self, *keys: str) -> int:
        """Return a field that every model has, under the first of its names that is there.

        Raises:
            CatalogError: none is there, or the value is not a whole number above zero.
        """
        found = self.optional_int(*keys)
        if found is None:
            raise CatalogError(f"{self.source}: the config has no {' or '.join(keys)}")
        return found

    def optional_int(self, *keys: str) -> int | None:
        """Return a whole number under the first of the names that is there, or None."""
        for key in keys:
            found = self.anywhere(key)
            if found is None:
                continue
            if isinstance(found, bool) or not isinstance(found, int) or found < 0:
                raise CatalogError(f"{self.source}: {key} is {found!r}; it must be a whole number")
            return found
        return None

    def optional_str(self, key: str) -> str | None:
        """Return a text, or None."""
        found = self.anywhere(key)
        if found is not None and not isinstance(found, str):
            raise CatalogError(f"{self.source}: {key} is {found!r}; it must be a text")
        return found

    def optional_bool(self, key: str) -> bool | None:
        """Return true or false, or None."""
        found = self.anywhere(key)
        if found is not None and not isinstance(found, bool):
            raise CatalogError(f"{self.source}: {key} is {found!r}; it must be true or false")
        return found

    def flag(self, key: str) -> bool:
        """Return true or false; a missing field is false."""
        return bool(self.optional_bool(key))

    def numbers(self, key: str) -> tuple[int, ...] | None:
        """Return a list of whole numbers, or None."""
        found = self.anywhere(key)
        if not isinstance(found, list):
            return None
        if not all(isinstance(number, int) for number in found):
            raise CatalogError(f"{self.source}: {key} must be a list of whole numbers")
        return tuple(int(number) for number in found)

    def texts(self, key: str) -> tuple[str, ...] | None:
        """Return a list of texts, or None."""
        found = self.anywhere(key)
        if not isinstance(found, list):
            return None
        if not all(isinstance(text, str) for text in found):
            raise CatalogError(f"{self.source}: {key} must be a list of texts")
        return tuple(found)
