"""Facts with a source and a date: GPU instances, server images, model shapes, engine flags.

What no source states is ``None`` here and says so; nothing in this package is a guess.
"""

from __future__ import annotations

from warmstack.catalog.catalog import Catalog, load_catalog
from warmstack.catalog.configs import shape_from_config
from warmstack.catalog.flags import Flag, FlagTable
from warmstack.catalog.images import SERVERS, ServerImage, image_uri, registry_domain
from warmstack.catalog.instances import InstanceType
from warmstack.catalog.layout import ParameterPart, next_token_parts, parameter_parts
from warmstack.catalog.parsers import VLLM_REASONING_PARSERS, VLLM_TOOL_PARSERS
from warmstack.catalog.shapes import (
    AttentionHeads,
    ExpertShape,
    LinearAttentionShape,
    MambaShape,
    MlaShape,
    ModelShape,
    ModulePattern,
    QuantizationShape,
    VisionShape,
)

__all__ = [
    "SERVERS",
    "VLLM_REASONING_PARSERS",
    "VLLM_TOOL_PARSERS",
    "AttentionHeads",
    "Catalog",
    "ExpertShape",
    "Flag",
    "FlagTable",
    "InstanceType",
    "LinearAttentionShape",
    "MambaShape",
    "MlaShape",
    "ModelShape",
    "ModulePattern",
    "ParameterPart",
    "QuantizationShape",
    "ServerImage",
    "VisionShape",
    "image_uri",
    "load_catalog",
    "next_token_parts",
    "parameter_parts",
    "registry_domain",
    "shape_from_config",
]
