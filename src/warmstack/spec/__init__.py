"""The spec language: one YAML file → :class:`DeploymentSpec`, with errors that point at the text."""

from warmstack.spec.deployment import (
    PUBLIC_REGISTRY,
    RESERVED_KEYS,
    AdapterSpec,
    ComponentSpec,
    DeploymentSpec,
    EndpointSpec,
    RoutingSpec,
    SessionsSpec,
    TargetSpec,
)
from warmstack.spec.diagnostics import TOKEN, Diagnostic, Format, Severity, SpecError, printable, render, unique
from warmstack.spec.fields import TierSize
from warmstack.spec.formatter_code import formatter_faults, formatter_functions, formatter_kinds
from warmstack.spec.loader import LoadedSpec, load_spec
from warmstack.spec.schema import schema_text, spec_schema
from warmstack.spec.serving import CacheSpec, EngineSpec, HubWeights, ModelSpec, SpeculativeSpec, Weights
from warmstack.spec.tree import Mark

__all__ = [
    "PUBLIC_REGISTRY",
    "RESERVED_KEYS",
    "TOKEN",
    "AdapterSpec",
    "CacheSpec",
    "ComponentSpec",
    "DeploymentSpec",
    "Diagnostic",
    "EndpointSpec",
    "EngineSpec",
    "Format",
    "HubWeights",
    "LoadedSpec",
    "Mark",
    "ModelSpec",
    "RoutingSpec",
    "SessionsSpec",
    "Severity",
    "SpecError",
    "SpeculativeSpec",
    "TargetSpec",
    "TierSize",
    "Weights",
    "formatter_faults",
    "formatter_functions",
    "formatter_kinds",
    "load_spec",
    "printable",
    "render",
    "schema_text",
    "spec_schema",
    "unique",
]
