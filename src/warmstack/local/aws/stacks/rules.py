"""``Rules``: assertions on parameters, such as the CDK's on the version of the bootstrap stack."""

from __future__ import annotations

from typing import Any

from warmstack.assembly.unresolved import Unresolved, as_text
from warmstack.local.aws.errors import invalid
from warmstack.local.aws.stacks.live import LiveTemplate


def check_rules(template: LiveTemplate) -> None:
    """Check every rule.

    Raises:
        StackError: An assertion does not hold, or uses a function that the local AWS does not know.
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
    if isinstance(node, dict) and len(node) == 1:
        ((name, argument),) = node.items()
        if name == "Fn::Contains" and isinstance(argument, list) and len(argument) == 2:
            values, value = (template.resolve(one, where) for one in argument)
            return as_text(value) in [as_text(one) for one in values]
        if name == "Fn::Not" and isinstance(argument, list) and len(argument) == 1:
            return not _holds(template, argument[0], where)
        if name in ("Fn::And", "Fn::Or") and isinstance(argument, list):
            found = [_holds(template, one, where) for one in argument]
            return all(found) if name == "Fn::And" else any(found)
        if name in ("Condition", "Fn::Equals"):
            holds = template.condition(node, where)
            if not isinstance(holds, Unresolved):
                return holds
    named = next(iter(node)) if isinstance(node, dict) and node else node
    raise invalid(f"rule {where} uses {named}, which the local AWS does not know: it has Fn::Contains, Fn::Equals, "
                  "Fn::Not, Fn::And, Fn::Or and Condition")  # fmt: skip
