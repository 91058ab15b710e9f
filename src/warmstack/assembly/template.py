"""One template with its parameters: its values with every intrinsic function answered.

A value is answered when it is asked for, so what is wrong in a part that no endpoint needs stays unsaid. What only a
deployment knows becomes :class:`Unresolved` and goes on through the functions around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from warmstack.assembly import functions
from warmstack.assembly.identities import KINDS, generated_name, name_in, partition_of
from warmstack.assembly.near import near
from warmstack.assembly.parameters import Parameters
from warmstack.assembly.sources import Source
from warmstack.assembly.unresolved import NO_VALUE, Problems, Unresolved


class Template:
    """A template's values.

    Args:
        source: The template.
        parameters: Values for its parameters.
        account: The account that it is read for.
        region: The Region.
        problems: Takes what is wrong.
        imports: Answers the exports of the assembly's other stacks.
    """

    why_no_reference = "a dynamic reference is read while a stack deploys"
    """Why what ``{{resolve:…}}`` stands for is not known."""

    def __init__(
        self,
        source: Source,
        *,
        parameters: Mapping[str, str],
        account: str,
        region: str,
        problems: Problems,
        imports: Callable[[str], Any] = lambda _: None,
    ) -> None:
        self.source = source
        self.account = account
        self.region = region
        self.problems = problems
        self.parameters = Parameters(_section(source.document, "Parameters"), parameters)
        self._imports = imports
        self._resources = _section(source.document, "Resources")
        self._conditions = _section(source.document, "Conditions")
        self._mappings = _section(source.document, "Mappings")
        self._open: list[str] = []
        self._known_conditions: dict[str, bool | Unresolved] = {}
        self._partition, self._suffix = partition_of(region)

    def quiet(self, problems: Problems) -> Template:
        """Return the same template with another record of problems."""
        return Template(
            self.source,
            parameters=self.parameters.given,
            account=self.account,
            region=self.region,
            problems=problems,
            imports=self._imports,
        )

    def where(self, logical_id: str, path: str = "") -> str:
        """Return the place of a value as messages name it."""
        place = f"{self.source.file.name}: {logical_id}"
        return f"{place}.{path}" if path else place

    def of_type(self, kind: str) -> Iterator[str]:
        """Yield the logical ids of the resources of a type whose condition holds."""
        for logical_id, resource in self._resources.items():
            if isinstance(resource, dict) and resource.get("Type") == kind and self.exists(logical_id):
                yield logical_id

    def types(self) -> Iterator[tuple[str, str]]:
        """Yield the logical ids and types of every resource."""
        for logical_id, resource in self._resources.items():
            yield logical_id, str(resource.get("Type")) if isinstance(resource, dict) else ""

    def exists(self, logical_id: str) -> bool:
        """Return whether the condition of a resource holds; one that is not known does not."""
        condition = self._resources[logical_id].get("Condition")
        if condition is None:
            return True
        found = self.condition(condition, self.where(logical_id, "Condition"))
        if isinstance(found, Unresolved):
            if not found.is_reported:
                self.problems.add(self.where(logical_id, "Condition"), f"cannot be decided here: {found.why}")
            return False
        return found

    def properties(self, logical_id: str) -> dict[str, Any]:
        """Return the properties of a resource as they are written."""
        return _section(self._resources[logical_id], "Properties")

    def name(self, logical_id: str) -> str | Unresolved:
        """Return the name of a resource of a type in ``KINDS``."""
        if logical_id in self.source.deployed:
            return name_in(self.source.deployed[logical_id])
        type_name = self._resources[logical_id]["Type"]
        kind = KINDS[type_name]
        with self._opened(f"resource {logical_id}") as loop:
            if loop is not None:
                return self.problems.add(self.where(logical_id), loop)
            found = self.resolve(
                self.properties(logical_id).get(kind.name_property), self.where(logical_id, kind.name_property)
            )
        if found is None or found is NO_VALUE:
            if self.source.is_open and not type_name.startswith("AWS::SageMaker::"):
                return Unresolved(text=f"${{{logical_id}}}", why="CloudFormation makes it when it deploys")
            return generated_name(self.source.stack, logical_id, is_lower=kind.is_lower)
        if isinstance(found, str | Unresolved):
            return found
        return self.problems.add(self.where(logical_id, kind.name_property), "is no text; a name is one")

    def published(self) -> dict[str, str]:
        """Return the outputs that are texts, and known before a deployment, by their logical ids."""
        quiet = self.quiet(Problems())
        answered = {
            key: quiet.resolve(one.get("Value"), key)
            for key, one in _section(self.source.document, "Outputs").items()
            if isinstance(one, dict)
        }
        return {key: value for key, value in answered.items() if isinstance(value, str)}

    def exports(self) -> Iterator[tuple[Any, Any]]:
        """Yield the export name and the value of each output that has one, neither of them answered."""
        for output in _section(self.source.document, "Outputs").values():
            export = output.get("Export") if isinstance(output, dict) else None
            if isinstance(export, dict):
                yield export.get("Name"), output.get("Value")

    def head(self, node: Any, where: str) -> Any:
        """Return a value with only its outermost function answered: what it holds may not be needed."""
        if isinstance(node, dict) and len(node) == 1 and str(next(iter(node))).startswith(("Ref", "Fn::")):
            return self.resolve(node, where)
        return node

    def resolve(self, node: Any, where: str) -> Any:
        """Return a value with every function in it answered.

        Raises:
            RecursionError: Functions are nested deeper than Python's stack; the reader has the message for it.
        """
        if isinstance(node, str):
            if "{{resolve:" in node:
                return Unresolved(text=node, why=self.why_no_reference)
            return node
        if isinstance(node, list):
            answered = [self.resolve(one, f"{where}[{index}]") for index, one in enumerate(node)]
            return [one for one in answered if one is not NO_VALUE]
        if not isinstance(node, dict):
            return node
        if len(node) == 1:
            ((name, argument),) = node.items()
            if name == "Ref":
                return self.ref(argument, where)
            if isinstance(name, str) and name.startswith("Fn::"):
                return self._function(name, argument, where)
        pairs = {key: self.resolve(one, f"{where}.{key}") for key, one in node.items()}
        return {str(key): one for key, one in pairs.items() if one is not NO_VALUE}

    def _function(self, name: str, argument: Any, where: str) -> Any:
        if name == "Fn::GetAtt":
            parts = argument.split(".", 1) if isinstance(argument, str) else argument
            if not (isinstance(parts, list) and len(parts) == 2 and isinstance(parts[0], str)):
                return self.problems.add(where, "Fn::GetAtt takes a logical id and an attribute")
            return self.attribute(parts[0], self.resolve(parts[1], where), where)
        if name == "Fn::If":
            if not (isinstance(argument, list) and len(argument) == 3):
                return self.problems.add(where, "Fn::If takes a condition and two values")
            holds = self.condition(argument[0], where)
            return holds if isinstance(holds, Unresolved) else self.resolve(argument[1 if holds else 2], where)
        if name == "Fn::FindInMap":
            return functions.find_in_map(self, argument, where, self._mappings)
        if name == "Fn::Sub":
            return functions.sub(self, argument, where)
        if name == "Fn::ImportValue":
            export = self.resolve(argument, where)
            found = self._imports(export) if isinstance(export, str) else None
            return (
                Unresolved(text="${ImportValue}", why="it is imported from another stack") if found is None else found
            )
        if name in functions.UNKNOWABLE:
            return Unresolved(text=f"${{{name[4:]}}}", why=f"{name} is answered by CloudFormation only")
        plain = functions.PLAIN.get(name)
        if plain is None:
            hint = near(name, functions.NAMES)
            return self.problems.add(where, f"{name} is no function that CloudFormation has{hint}")
        answered = self.resolve(argument, where)
        if answered is NO_VALUE:
            return self.problems.add(where, f"{name} is given AWS::NoValue")
        return plain(self, answered, where)

    def ref(self, name: Any, where: str) -> Any:
        """Return what ``Ref`` answers."""
        if not isinstance(name, str):
            return self.problems.add(where, "Ref takes the name of a parameter or resource")
        if name.startswith("AWS::"):
            return self._pseudo(name, where)
        if name in self.parameters:
            return self.parameters.value(name, self.problems)
        kind = self._kind(name, "Ref", where)
        if isinstance(kind, Unresolved):
            return kind
        known = KINDS.get(kind)
        if known is None:
            return Unresolved(text=f"${{{name}}}", why=f"the id of {name} ({kind}) is known once it is deployed")
        return self._identity(name, known.ref)

    def attribute(self, logical_id: str, attribute: Any, where: str) -> Any:
        """Return what ``Fn::GetAtt`` answers."""
        kind = self._kind(logical_id, "Fn::GetAtt", where)
        if isinstance(kind, Unresolved):
            return kind
        known = KINDS.get(kind)
        if known is None or not isinstance(attribute, str) or attribute not in known.attributes:
            text = f"{logical_id}.{attribute if isinstance(attribute, str) else '?'}"
            return Unresolved(text=f"${{{text}}}", why=f"{text} ({kind}) is known once it is deployed")
        return self._identity(logical_id, known.attributes[attribute])

    def condition(self, node: Any, where: str) -> bool | Unresolved:
        """Return whether a condition holds, given by its name or written out."""
        return self._condition(node, where) if isinstance(node, str) else functions.condition(self, node, where)

    def _condition(self, name: str, where: str) -> bool | Unresolved:
        if name not in self._conditions:
            return self.problems.add(where, f"there is no condition {name!r}{near(name, self._conditions)}")
        if name not in self._known_conditions:
            with self._opened(f"condition {name}") as loop:
                if loop is not None:
                    return self.problems.add(f"{self.source.file.name}: Conditions.{name}", loop)
                self._known_conditions[name] = self.condition(
                    # A text would be read as the name of another condition, which Conditions does not allow.
                    self._conditions[name] if isinstance(self._conditions[name], dict) else [],
                    f"{self.source.file.name}: Conditions.{name}",
                )
        return self._known_conditions[name]

    def _kind(self, logical_id: str, function: str, where: str) -> str | Unresolved:
        """Return the type of a resource that a function names, where it is there."""
        resource = self._resources.get(logical_id)
        if not isinstance(resource, dict):
            hint = near(logical_id, (*self._resources, *self.parameters))
            return self.problems.add(where, f"{function} names {logical_id!r}, which is not in the template{hint}")
        if not self.exists(logical_id):
            return self.problems.add(
                where, f"{function} names {logical_id!r}, whose condition {resource.get('Condition')!r} does not hold"
            )
        return str(resource.get("Type"))

    def _identity(self, logical_id: str, form: str) -> str | Unresolved:
        name = self.name(logical_id)
        if isinstance(name, Unresolved):
            return Unresolved(text=f"${{{logical_id}}}", why=f"the name of {logical_id}: {name.why}",
                              is_reported=name.is_reported)  # fmt: skip
        return form.format(
            partition=self._partition, region=self.region, account=self.account, suffix=self._suffix, name=name
        )

    def _pseudo(self, name: str, where: str) -> Any:
        known: dict[str, Any] = {
            "AWS::AccountId": self.account,
            "AWS::NoValue": NO_VALUE,
            "AWS::NotificationARNs": [],
            "AWS::Partition": self._partition,
            "AWS::Region": self.region,
            "AWS::StackName": self.source.stack,
            "AWS::URLSuffix": self._suffix,
        }
        if name == "AWS::StackId":
            return Unresolved(text="${AWS::StackId}", why="the id of a stack is known once it is deployed")
        if name not in known:
            return self.problems.add(where, f"there is no pseudo parameter {name!r}{near(name, known)}")
        return known[name]

    @contextmanager
    def _opened(self, what: str) -> Iterator[str | None]:
        """Yield None, or what is wrong where the thing is being answered already."""
        if what in self._open:
            loop = " → ".join([*self._open[self._open.index(what) :], what])
            yield f"depends on itself: {loop}"
            return
        self._open.append(what)
        try:
            yield None
        finally:
            self._open.pop()


def _section(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    section = document.get(name)
    return section if isinstance(section, dict) else {}
