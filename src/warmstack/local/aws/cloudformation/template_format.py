"""What a template is made of: its sections, and the names that each entry of them has.

A name that CloudFormation does not have is refused: what it was to say would be ignored. Source: the template
reference's "Template anatomy" and "Resource attributes" (read 2026-11-30).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from warmstack.assembly.near import near
from warmstack.local.aws.errors import StackError, invalid

SECTIONS = frozenset(
    {
        "AWSTemplateFormatVersion", "Conditions", "Description", "Mappings", "Metadata", "Outputs", "Parameters",
        "Resources", "Rules", "Transform",
    }
)  # fmt: skip
RESOURCE_ATTRIBUTES = frozenset(
    {
        "Condition", "CreationPolicy", "DeletionPolicy", "DependsOn", "Metadata", "Properties", "Type", "UpdatePolicy",
        "UpdateReplacePolicy", "Version",
    }
)  # fmt: skip
PARAMETER_ATTRIBUTES = frozenset(
    {
        "AllowedPattern", "AllowedValues", "ConstraintDescription", "Default", "Description", "MaxLength", "MaxValue",
        "MinLength", "MinValue", "NoEcho", "Type",
    }
)  # fmt: skip
OUTPUT_ATTRIBUTES = frozenset({"Condition", "Description", "Export", "Value"})
RULE_ATTRIBUTES = frozenset({"Assertions", "RuleCondition"})
_OF_AWS = (
    "AWS::EC2::AvailabilityZone::Name",
    "AWS::EC2::Image::Id",
    "AWS::EC2::Instance::Id",
    "AWS::EC2::KeyPair::KeyName",
    "AWS::EC2::SecurityGroup::GroupName",
    "AWS::EC2::SecurityGroup::Id",
    "AWS::EC2::Subnet::Id",
    "AWS::EC2::VPC::Id",
    "AWS::EC2::Volume::Id",
    "AWS::Route53::HostedZone::Id",
)
_OF_VALUES = ("CommaDelimitedList", "List<String>", *_OF_AWS, *(f"List<{one}>" for one in _OF_AWS))
PARAMETER_TYPES = frozenset(
    {
        "AWS::SSM::Parameter::Name",
        "List<Number>",
        "Number",
        "String",
        *_OF_VALUES,
        *(f"AWS::SSM::Parameter::Value<{one}>" for one in (*_OF_VALUES, "String")),
    }
)
_POLICIES = {
    "DeletionPolicy": ("Delete", "Retain", "RetainExceptOnCreate"),
    "UpdateReplacePolicy": ("Delete", "Retain"),
}
_NAME = re.compile(r"[a-zA-Z0-9]+")
_MOST = {"Resources": 500, "Parameters": 200, "Outputs": 200, "Mappings": 200}
"""Entries of a section at most. Source: "CloudFormation quotas" (read 2026-11-30)."""


def check_format(document: Mapping[str, Any]) -> None:
    """Check a template's form; what its values say is not looked at.

    Raises:
        StackError: A section, an entry or a name is none that a template has.
    """
    if unknown := [str(one) for one in document if one not in SECTIONS]:
        hint = near(unknown[0], SECTIONS) if len(unknown) == 1 else ""
        raise _wrong(f"Invalid template property or properties [{', '.join(unknown)}]{hint}")
    for section in ("Resources", "Parameters", "Conditions", "Mappings", "Outputs", "Rules"):
        entries = document.get(section)
        if entries is not None and not isinstance(entries, dict):
            raise _wrong(f"{section} is no mapping")
        _check_entries(section, entries or {})
        for name, entry in (entries or {}).items():
            if section in _CHECKS:
                _CHECKS[section](f"/{section}/{name}", entry)


def _check_entries(section: str, entries: Mapping[str, Any]) -> None:
    most = _MOST.get(section)
    if most is None:
        return
    if len(entries) > most:
        raise _wrong(f"Number of {section.lower()}, {len(entries)}, is greater than maximum allowed, {most}")
    for name in entries:
        if not _NAME.fullmatch(str(name)):
            raise _wrong(f"{section[:-1]} name {name} is non alphanumeric. A name has letters and digits")


def _check_resource(place: str, resource: Any) -> None:
    if not isinstance(resource, dict) or not isinstance(resource.get("Type"), str):
        raise _wrong(f"[{place}] has no Type")
    _check_attributes(place, resource, RESOURCE_ATTRIBUTES)
    if not isinstance(resource.get("Properties", {}), dict):
        raise _wrong(f"[{place}/Properties] is no mapping")
    after = resource.get("DependsOn", [])
    if not isinstance(after, str) and not (isinstance(after, list) and all(isinstance(one, str) for one in after)):
        raise _wrong(f"[{place}/DependsOn] takes a logical id, or a list")
    for policy, allowed in _POLICIES.items():
        if (value := resource.get(policy, "Delete")) not in allowed:
            raise _wrong(f"[{place}] has {policy} {value!r}; the local AWS takes {', '.join(allowed)}")


def _check_parameter(place: str, parameter: Any) -> None:
    if not isinstance(parameter, dict):
        raise _wrong(f"[{place}] is no mapping; it has a Type, and may have a Default")
    _check_attributes(place, parameter, PARAMETER_ATTRIBUTES)
    if "Type" not in parameter:
        raise _wrong(f"[{place}] has no Type, such as String")
    kind = parameter["Type"]
    if not isinstance(kind, str) or kind not in PARAMETER_TYPES:
        raise _wrong(f"Unrecognized parameter type: {kind} at [{place}]{near(str(kind), PARAMETER_TYPES)}")


def _check_output(place: str, output: Any) -> None:
    if not isinstance(output, dict) or "Value" not in output:
        raise _wrong(f"[{place}] has no Value")
    _check_attributes(place, output, OUTPUT_ATTRIBUTES)
    if "Export" in output and not (isinstance(output["Export"], dict) and output["Export"].keys() == {"Name"}):
        raise _wrong(f"[{place}/Export] takes a mapping with a Name, and nothing else")


def _check_rule(place: str, rule: Any) -> None:
    if isinstance(rule, dict):
        _check_attributes(place, rule, RULE_ATTRIBUTES)


def _check_attributes(place: str, entry: Mapping[Any, Any], known: Iterable[str]) -> None:
    for name in entry:
        if name not in known:
            raise _wrong(
                f"[{place}] has {name}, which is not there in CloudFormation{near(str(name), known)}; it takes "
                f"{', '.join(sorted(known))}"
            )


def _wrong(text: str) -> StackError:
    return invalid(f"Template format error: {text}")


_CHECKS: Mapping[str, Callable[[str, Any], None]] = {
    "Resources": _check_resource,
    "Parameters": _check_parameter,
    "Outputs": _check_output,
    "Rules": _check_rule,
}
