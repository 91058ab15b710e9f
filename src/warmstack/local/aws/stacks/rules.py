"""``Rules``: assertions on parameters, such as the CDK's on the version of the bootstrap stack."""

from __future__ import annotations

from typing import Any

from warmstack.assembly.unresolved import Unresolved, as_text
from warmstack.local.aws.errors import invalid
from warmstack.local.aws.stacks.live import LiveTemplate, first_unknown

_TAKES = {
    "Condition": "the name of a condition",
    "Fn::And": "a list of conditions",
    "Fn::Contains": "a list of texts and a text",
    "Fn::EachMemberEquals": "a list of texts and a text",
    "Fn::EachMemberIn": "two lists of texts",
    "Fn::Equals": "two values",
    "Fn::Not": "a list of one condition",
    "Fn::Or": "a list of conditions",
}


def check_rules(template: LiveTemplate) -> None:
    """Check every rule.

    Raises:
        StackError: An assertion does not hold, is written wrongly, or uses a function that the local AWS
            does not know.
    """
    rules = template.source.document.get("Rules")
    for name, rule in (rules if isinstance(rules, dict) else {}).items():
        if not isinstance(rule, dict):
            raise invalid(f"Template format error: rule {name} is no mapping")
        if "RuleCondition" in rule and not _holds(template, rule["RuleCondition"], name):
            continue
        assertions = rule.get("Assertions", [])
        if not isinstance(assertions, list) or not all(isinstance(one, dict) for one in assertions):
            raise invalid(f"Template format error: rule {name} has no list of Assertions")
        for assertion in assertions:
            if not _holds(template, assertion.get("Assert"), name):
                raise invalid(str(assertion.get("AssertDescription") or f"an assertion of rule {name} does not hold"))


def _holds(template: LiveTemplate, node: Any, where: str) -> bool:
    if not isinstance(node, dict) or len(node) != 1:
        raise invalid(f"rule {where}: {str(node)[:80]} is no condition; one is a function such as Fn::Contains")
    ((name, argument),) = node.items()
    match name, argument:
        case "Fn::Contains", [values, value]:
            among, wanted = _answered(template, name, [values, value], where)
            return wanted[0] in among
        case "Fn::EachMemberEquals", [values, value]:
            among, wanted = _answered(template, name, [values, value], where)
            return all(one == wanted[0] for one in among)
        case "Fn::EachMemberIn", [values, others]:
            among, wanted = _answered(template, name, [values, others], where, lists=2)
            return set(among) <= set(wanted)
        case "Fn::Not", [one]:
            return not _holds(template, one, where)
        case "Fn::And" | "Fn::Or", [_, *_]:
            found = [_holds(template, one, where) for one in argument]
            return all(found) if name == "Fn::And" else any(found)
        case ("Fn::Equals", [_, _]) | ("Condition", str()):
            holds = template.condition(node, where)
            if isinstance(holds, Unresolved):
                raise invalid(f"rule {where}: {name} cannot be answered: {holds.why}")
            return holds
    if name in _TAKES:
        raise invalid(f"rule {where}: {name} takes {_TAKES[name]}")
    known = ", ".join(_TAKES)
    raise invalid(f"rule {where} uses {name}, which the local AWS does not know; it has {known}")


def _answered(template: LiveTemplate, name: str, given: list[Any], where: str, *, lists: int = 1) -> list[list[str]]:
    """Return the arguments of a function as texts: so many lists, then single values as lists of one."""
    found: list[list[str]] = []
    for place, one in enumerate(given):
        value = template.resolve(one, where)
        if unknown := first_unknown(value):
            raise invalid(f"rule {where}: {unknown.text} cannot be answered: {unknown.why}")
        values = value if place < lists else [value]
        texts = [as_text(each) for each in values] if isinstance(values, list) else [None]
        if None in texts:
            raise invalid(f"rule {where}: {name} takes {_TAKES[name]}")
        found.append([each for each in texts if each is not None])
    return found
