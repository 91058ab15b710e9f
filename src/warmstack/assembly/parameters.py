"""The parameters of a template: what was given, else the default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from warmstack.assembly.parameter_values import STORED, is_list, listed, refusal
from warmstack.assembly.unresolved import Problems, Unresolved, as_text


class Parameters:
    """Parameters by name.

    Args:
        section: The template's ``Parameters``.
        given: Values for some of them.
    """

    def __init__(self, section: Mapping[str, Any], given: Mapping[str, str]) -> None:
        self._section = section
        self.given = given

    def __contains__(self, name: object) -> bool:
        return name in self._section

    def __iter__(self) -> Iterator[str]:
        return iter(self._section)

    def value(self, name: str, problems: Problems) -> Any:
        """Return a value: text, or a list of texts for the list types."""
        parameter = self._section[name]
        if not isinstance(parameter, dict):
            return problems.add("", f"parameter {name} is no mapping; it has a Type and may have a Default")
        kind = str(parameter.get("Type"))
        if name not in self.given and kind.startswith("AWS::SSM::Parameter"):
            why = f"parameter {name} is read from the Parameter Store while a stack deploys; give it: {name}=VALUE"
            return Unresolved(text=f"${{{name}}}", why=why)
        if name not in self.given and "Default" not in parameter:
            return problems.add("", f"parameter {name} has no default; give it: {name}=VALUE")
        text = as_text(self.given.get(name, parameter.get("Default")))
        if text is None:
            return problems.add("", f"the default of parameter {name} is no single value")
        # What the Parameter Store holds is not what its parameter's name is checked for.
        if not kind.startswith(STORED) and (said := refusal(name, text, parameter)):
            return problems.add("", said)
        if is_list(kind):
            return listed(text)
        return text
