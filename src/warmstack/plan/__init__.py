"""Spec and catalog → Plan: everything derived, with reasons, findings, quotas and cost."""

from warmstack.plan.check_catalog import CHECKS, Check
from warmstack.plan.document import DOCUMENT_VERSION, plan_document
from warmstack.plan.image_plan import CarriedFiles, DraftPlan, ImageBuild, ImagePlan
from warmstack.plan.images import FIRST_LMI_WITH_OUTPUT_FORMATTERS, FORMATTERS_FILE, INSIDE, LMCACHE_FILE, TEMPLATE_FILE
from warmstack.plan.model import (
    AdapterPlan,
    CostPlan,
    Derived,
    EndpointPlan,
    Finding,
    GpuMemoryPlan,
    HostMemoryPlan,
    Permission,
    Plan,
    QuotaNeed,
    RoutingPlan,
    ServedModel,
    TierPlan,
)
from warmstack.plan.naming import physical_name
from warmstack.plan.planner import PlanError, draft_plan, make_plan, spec_hash
from warmstack.plan.together import claimed_twice

__all__ = [
    "CHECKS",
    "DOCUMENT_VERSION",
    "FIRST_LMI_WITH_OUTPUT_FORMATTERS",
    "FORMATTERS_FILE",
    "INSIDE",
    "LMCACHE_FILE",
    "TEMPLATE_FILE",
    "AdapterPlan",
    "CarriedFiles",
    "Check",
    "CostPlan",
    "Derived",
    "DraftPlan",
    "EndpointPlan",
    "Finding",
    "GpuMemoryPlan",
    "HostMemoryPlan",
    "ImageBuild",
    "ImagePlan",
    "Permission",
    "Plan",
    "PlanError",
    "QuotaNeed",
    "RoutingPlan",
    "ServedModel",
    "TierPlan",
    "claimed_twice",
    "draft_plan",
    "make_plan",
    "physical_name",
    "plan_document",
    "spec_hash",
]
