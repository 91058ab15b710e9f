"""Cloud assemblies and CloudFormation templates, read: what they say of SageMaker endpoints.

::

    cdk.out or a template ──sources──▶ Source ──template──▶ values, with every function answered
        ──models, variants, components──▶ Assembly of EndpointDefinitions, and Notices of what is not served
"""

from warmstack.assembly.definitions import (
    Assembly,
    ComponentDefinition,
    EndpointDefinition,
    ModelDefinition,
    Notice,
    RoutingDefinition,
    VariantDefinition,
)
from warmstack.assembly.dockerfile import carried_file
from warmstack.assembly.errors import AssemblyError
from warmstack.assembly.reader import DEFAULT_REGION, read_assembly, read_template

__all__ = [
    "DEFAULT_REGION",
    "Assembly",
    "AssemblyError",
    "ComponentDefinition",
    "EndpointDefinition",
    "ModelDefinition",
    "Notice",
    "RoutingDefinition",
    "VariantDefinition",
    "carried_file",
    "read_assembly",
    "read_template",
]
