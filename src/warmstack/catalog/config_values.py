"""Typed access to the fields of a config.json, with messages that name the field and the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warmstack.catalog.config_bounds import MAX_LAYERS, RANGES, shown, whole_number
from warmstack.errors import CatalogError


def mapping_or_none(found: object, where: str) -> Mapping[str, Any] | None:
    """Return a value that must be an object or missing.

    Raises:
        CatalogError: it is something else; the message starts with ``where``, the file and the field.
    """
    if found is not None and not isinstance(found, Mapping):
        raise CatalogError(f"{where} is {shown(found)}; it must be an object")
    return found


def text_or_none(found: object, where: str) -> str | None:
    """Return a value that must be a text or missing.

    Raises:
        CatalogError: it is something else; the message starts with ``where``, the file and the field.
    """
    if found is not None and not isinstance(found, str):
        raise CatalogError(f"{where} is {shown(found)}; it must be a text")
    return found


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

    def where(self, key: str) -> str:
        """Return the file and a field, as messages start."""
        return f"{self.source}: {key}"

    def integer(self, *keys: str) -> int:
        """Return a field that every model has, under the first of its names that is there.

        Raises:
            CatalogError: none is there, or the value is not a whole number above zero and within its bounds.
        """
        for key in keys:
            found = self.anywhere(key)
            if found is not None:
                return whole_number(found, self.where(key), 1, RANGES[key][1])
        raise CatalogError(f"{self.source}: the config has no {' or '.join(keys)}")

    def optional_int(self, *keys: str) -> int | None:
        """Return a whole number under the first of the names that is there, or None.

        Raises:
            CatalogError: the value is not a whole number within the bounds of its field.
        """
        for key in keys:
            found = self.anywhere(key)
            if found is not None:
                return whole_number(found, self.where(key), *RANGES[key])
        return None

    def optional_str(self, key: str) -> str | None:
        """Return a text, or None."""
        return text_or_none(self.anywhere(key), self.where(key))

    def optional_bool(self, key: str) -> bool | None:
        """Return true or false, or None."""
        found = self.anywhere(key)
        if found is not None and not isinstance(found, bool):
            raise CatalogError(f"{self.where(key)} is {shown(found)}; it must be true or false")
        return found

    def flag(self, key: str) -> bool:
        """Return true or false; a missing field is false."""
        return bool(self.optional_bool(key))

    def numbers(self, key: str) -> tuple[int, ...] | None:
        """Return a list of whole numbers with one for each layer, or None."""
        found = self._list(key)
        if found is None:
            return None
        if not all(isinstance(number, int) and not isinstance(number, bool) for number in found):
            raise CatalogError(f"{self.where(key)} is {shown(found)}; it must be a list of whole numbers")
        return tuple(found)

    def texts(self, key: str) -> tuple[str, ...] | None:
        """Return a list of texts with one for each layer, or None."""
        found = self._list(key)
        if found is None:
            return None
        if not all(isinstance(text, str) for text in found):
            raise CatalogError(f"{self.where(key)} is {shown(found)}; it must be a list of texts")
        return tuple(found)

    def _list(self, key: str) -> list[Any] | None:
        found = self.anywhere(key)
        if found is None:
            return None
        if not isinstance(found, list):
            raise CatalogError(f"{self.where(key)} is {shown(found)}; it must be a list")
        if len(found) > MAX_LAYERS:
            raise CatalogError(f"{self.where(key)} has {len(found):,} entries; {MAX_LAYERS:,} layers are the most")
        return found
