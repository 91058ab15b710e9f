"""Every model of the catalog on small, middling and large instances, in both forms: a plan or findings, never less."""

from __future__ import annotations

import pytest

from warmstack.catalog import load_catalog
from warmstack.plan import PlanError, draft_plan
from warmstack.spec import DeploymentSpec

CATALOG = load_catalog()
INSTANCES = ("ml.g5.xlarge", "ml.g6e.12xlarge", "ml.p4de.24xlarge", "ml.p5en.48xlarge", "ml.p6e-gb200.36xlarge")


@pytest.mark.parametrize("instance_type", INSTANCES)
@pytest.mark.parametrize("as_component", [False, True])
def test_every_model_on_every_size(instance_type: str, *, as_component: bool) -> None:
    planned = 0
    for model_id in CATALOG.models:
        served = {
            "model": {"id": model_id, "weights": {"s3": "s3://acme/x/"}},
            "engine": {"server": "vllm", "version": "0.30.0"},
        }
        root = {"components": ({"name": "one", **served},)} if as_component else served
        spec = DeploymentSpec.model_validate({"name": "a", "endpoint": {"instance_type": instance_type}, **root})
        if not CATALOG.models[model_id].complete:
            with pytest.raises(PlanError, match="WS030"):
                draft_plan(spec, CATALOG)
            continue
        plan = draft_plan(spec, CATALOG)
        planned += 1
        (model,) = plan.models
        too_large = "WS020" in {one.check for one in plan.findings}
        assert too_large == (model.memory.kv_tokens < 1024), model_id
        if not too_large:
            assert model.max_model_len <= model.memory.kv_tokens
            assert model.max_num_seqs >= 1
            used = model.memory.weight_bytes / model.memory.tensor_parallel_degree
            used += model.memory.overhead_bytes_per_gpu + model.memory.kv_bytes_per_gpu
            assert used <= model.memory.gpu_memory_bytes
    assert planned > 90
