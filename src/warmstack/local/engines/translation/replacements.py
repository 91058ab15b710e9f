"""A setting of the template, and the report of one that is not used as it is."""

from __future__ import annotations

from dataclasses import dataclass

SECRET_WORDS = frozenset({"key", "keyfile", "password", "secret", "token"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A setting that the local engine does not get as it is in the template.

    Args:
        setting: The variable, or the setting's name where no variable holds it.
        given: Its value in the template.
        used: What is used in its place; None for nothing.
        why: The reason.
    """

    setting: str
    given: str
    used: str | None
    why: str

    def __str__(self) -> str:
        becomes = "not used" if self.used is None else f"here {self.used}"
        return f"{self.setting}={self.given}: {becomes}; {self.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A setting of the template, by vLLM's name.

    Args:
        variable: The variable that holds it.
        text: The variable's value.
        value: What it means to vLLM: on or off, one value, or several.
    """

    variable: str
    text: str
    value: bool | str | tuple[str, ...]

    def replaced(self, used: str | None, why: str) -> Replacement:
        """Return the report of this setting.

        Args:
            used: What is used in its place; None for nothing.
            why: The reason.
        """
        return Replacement(setting=self.variable, given=shown(self.variable, self.text), used=used, why=why)


def shown(variable: str, text: str) -> str:
    """Return a value as it may be shown: not at all if it may be a secret."""
    return text if SECRET_WORDS.isdisjoint(variable.lower().split("_")) else "…"
