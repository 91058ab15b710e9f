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
            return _contains(template, values, value, where)
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


def _contains(template: LiveTemplate, values: Any, value: Any, where: str) -> bool:
    among, wanted = (template.resolve(one, where) for one in (values, value))
    if unknown := first_unknown([among, wanted]):
        raise invalid(f"rule {where}: {unknown.text} cannot be answered: {unknown.why}")
    texts = [as_text(one) for one in among] if isinstance(among, list) else [None]
    if None in texts or as_text(wanted) is None:
        raise invalid(f"rule {where}: Fn::Contains takes {_TAKES['Fn::Contains']}")
    return as_text(wanted) in texts
