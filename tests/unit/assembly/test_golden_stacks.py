"""The templates that our own specs become."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from warmstack.assembly import RoutingDefinition, read_assembly

STACKS = sorted((ROOT / "tests/golden/stacks").iterdir())


@pytest.mark.parametrize("folder", STACKS, ids=lambda one: one.name)
def test_every_template_is_read_without_a_notice(folder: Path) -> None:
    assembly = read_assembly(folder / "template.json", region="us-west-2")
    (endpoint,) = assembly.endpoints
    assert assembly.notices == ()
    models = [one.model for one in (*endpoint.variants, *endpoint.components) if one.model is not None]
    assert models
    for model in models:
        assert model.server is not None
        assert model.environment
        assert model.execution_role is not None
        assert model.image.startswith(("763104351884.dkr.ecr.us-west-2.", "111122223333.dkr.ecr.us-west-2."))


def test_components_and_adapters() -> None:
    assembly = read_assembly(ROOT / "tests/golden/stacks/lora-tenants/template.json", region="us-west-2")
    (endpoint,) = assembly.endpoints
    (variant,) = endpoint.variants
    assert (endpoint.name, variant.name, variant.model) == ("tenants-prod", "primary", None)
    assert (variant.instance_type, variant.min_instance_count, variant.max_instance_count) == ("ml.g5.12xlarge", 1, 3)
    assert variant.routing == RoutingDefinition(strategy="LEAST_OUTSTANDING_REQUESTS")
    base, *adapters = endpoint.components
    assert (base.name, base.copy_count, base.accelerators, base.min_memory_mib) == ("tenants-prod-base", 2, 2, 23508)
    assert (base.download_timeout_seconds, base.startup_timeout_seconds) == (480, 720)
    assert base.model.server == "lmi"
    assert base.model.image == ("763104351884.dkr.ecr.us-west-2.amazonaws.com/djl-inference:0.38.0-lmi29.0.0-cu130")
    assert base.model.environment["OPTION_MAX_LORAS"] == "4"
    assert base.model.model_data == "s3://acme-models/llama-3.1-8b-instruct/"
    assert len(adapters) == 20
    assert {one.base for one in adapters} == {"tenants-prod-base"}
    assert {one.variant_name for one in adapters} == {"primary"}
    assert adapters[0].name == "tenants-prod-base-billing"
    assert adapters[0].artifact_url == "s3://acme-adapters/tenants/billing-v1.tar.gz"
    assert adapters[0].model is base.model


def test_sessions() -> None:
    assembly = read_assembly(ROOT / "tests/golden/stacks/sticky-chat/template.json")
    (endpoint,) = assembly.endpoints
    (variant,) = endpoint.variants
    assert (endpoint.name, variant.initial_instance_count) == ("sticky-chat-prod", 2)
    assert (variant.download_timeout_seconds, variant.startup_timeout_seconds) == (480, 660)
    assert variant.model is not None
    assert variant.model.environment["OPTION_ENABLE_STATEFUL_SESSIONS"] == "true"
    assert variant.model.environment["OPTION_SESSIONS_EXPIRATION"] == "1200"
    assert endpoint.components == ()


def test_prefix_aware_routing() -> None:
    assembly = read_assembly(ROOT / "tests/golden/stacks/rag-prefix-aware/template.json")
    (variant,) = assembly.endpoints[0].variants
    assert variant.initial_instance_count == 7
    assert variant.routing == RoutingDefinition(strategy="PREFIX_AWARE", prefix_length=4096, concurrency_threshold=32)
    assert variant.model is not None
    assert variant.model.server == "vllm"


def test_an_image_that_is_built_in_the_account() -> None:
    assembly = read_assembly(ROOT / "tests/golden/stacks/sglang-sessions/template.json")
    (variant,) = assembly.endpoints[0].variants
    assert variant.model is not None
    assert variant.model.server == "sglang"
    assert variant.model.staged is None
    assert variant.model.environment["SAGEMAKER_ENABLE_STATEFUL_SESSIONS"] == "true"
    assert variant.model.image.startswith(
        "111122223333.dkr.ecr.us-east-1.amazonaws.com/template-imagesbuilderrepository1756f61c:"
    )
