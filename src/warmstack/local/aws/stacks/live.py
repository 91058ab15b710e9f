"""A template whose functions are answered by the stack as it is now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from warmstack.assembly.sources import Source
from warmstack.assembly.template import Template
from warmstack.assembly.unresolved import Problems, Unresolved
from warmstack.local.aws.errors import ResourceError
from warmstack.local.aws.stacks.records import Desired, Resource

Imports = Callable[[str], str | None]
NOT_YET = "it is known once the resource is there"


class LiveTemplate(Template):
    """A template's values, with the ids and attributes of the resources that are there.

    Args:
        desired: The template and its parameters.
        stack: The stack's name.
        stack_id: Its id.
        account: The account.
        region: The Region.
        problems: Takes what is wrong.
        resources: The resources that are there, by their logical ids.
        imports: Answers the exports of other stacks.
    """

    why_no_reference = "the local AWS reads no dynamic references"

    def __init__(
        self,
        desired: Desired,
        *,
        stack: str,
        stack_id: str,
        account: str,
        region: str,
        problems: Problems,
        resources: Mapping[str, Resource],
        imports: Imports,
    ) -> None:
        source = Source(stack=stack, names=frozenset({stack}), file=Path(stack), document=desired.document)

        def imported(name: str) -> Any:
            found = imports(name)
            if found is not None:
                return found
            return Unresolved(text="the import", why=f"No export named {name} found in {region}")

        super().__init__(
            source, parameters=desired.values, account=account, region=region, problems=problems, imports=imported
        )
        self._stack_id = stack_id
        self._live = resources

    def where(self, logical_id: str, path: str = "") -> str:
        """Return the place of a value as messages name it."""
        return f"{logical_id}.{path}" if path else logical_id

    def ref(self, name: Any, where: str) -> Any:
        """Return what ``Ref`` answers."""
        if name == "AWS::StackId":
            return self._stack_id
        if not isinstance(name, str) or name.startswith("AWS::") or name in self.parameters:
            return super().ref(name, where)
        kind = self._kind(name, "Ref", where)
        if isinstance(kind, Unresolved):
            return kind
        found = self._live.get(name)
        return found.physical_id if found and found.physical_id else Unresolved(text=f"${{{name}}}", why=NOT_YET)

    def attribute(self, logical_id: str, attribute: Any, where: str) -> Any:
        """Return what ``Fn::GetAtt`` answers."""
        kind = self._kind(logical_id, "Fn::GetAtt", where)
        if isinstance(kind, Unresolved):
            return kind
        found = self._live.get(logical_id)
        if found is None or not found.physical_id:
            return Unresolved(text=f"${{{logical_id}.{attribute}}}", why=NOT_YET)
        if attribute not in found.attributes:
            return self.problems.add(where, f"{logical_id} ({kind}) has no attribute {attribute!r} here")
        return found.attributes[attribute]

    def resource(self, logical_id: str) -> Mapping[str, Any]:
        """Return a resource as it is written."""
        found: Mapping[str, Any] = self._resources[logical_id]
        return found

    def resource_ids(self) -> list[str]:
        """Return the logical ids of the resources that exist, in the template's order."""
        return [name for name, _ in self.types() if self.exists(name)]

    def answered(self, logical_id: str) -> dict[str, Any]:
        """Return a resource's properties with every function answered.

        Raises:
            ResourceError: One of them cannot be.
        """
        found: dict[str, Any] = self.resolve(self.properties(logical_id), logical_id)
        self.raise_problems()
        if unknown := first_unknown(found):
            raise ResourceError(f"{logical_id}: {unknown.text} cannot be answered: {unknown.why}")
        return found

    def raise_problems(self) -> None:
        """Raise what is wrong.

        Raises:
            ResourceError: Something is.
        """
        if self.problems:
            raise ResourceError("; ".join(self.problems))


def first_unknown(value: Any) -> Unresolved | None:
    """Return the first value that is not known in a value."""
    if isinstance(value, Unresolved):
        return value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((found for one in inner if (found := first_unknown(one)) is not None), None)
