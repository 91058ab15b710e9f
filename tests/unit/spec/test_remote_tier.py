"""Addresses of the store that instances share, and settings of blending."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.plan.specs import loaded
from warmstack.spec import SpecError, render


def complaint(cache: dict[str, Any]) -> str:
    with pytest.raises(SpecError) as caught:
        loaded({"cache": cache})
    return render(caught.value.diagnostics, caught.value.lines)


@pytest.mark.parametrize(
    "url", ["redis://kv:6379", "rediss://kv.acme.com:1/15", "redis://kv", "s3://acme-kv", "s3://a-b/"]
)
def test_addresses_of_stores(url: str) -> None:
    remote = loaded({"cache": {"tiers": {"remote": {"url": url}}}}).spec.cache.tiers.remote
    assert remote is not None
    assert remote.url == url


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("redis://host:99999", "port 99999"),
        ("redis://host:0", "port 0"),
        ("redis://host..x", "no valid name"),
        ("s3://my..bucket", "no valid name"),
        ("s3://my.bucket/", "certificate"),
        ("s3://192.168.1.1", "certificate"),
        ("redis://:hunter2hunter2@host", "without a password"),
        ("memcached://host", "redis://host:port"),
    ],
)
def test_what_is_no_store_is_refused_and_no_password_is_shown(url: str, says: str) -> None:
    shown = complaint({"tiers": {"remote": {"url": url}}})
    assert says in shown
    assert "hunter2" not in shown


def test_a_region_belongs_to_a_bucket() -> None:
    assert "region belongs to an s3:// url" in complaint(
        {"tiers": {"remote": {"url": "redis://kv", "region": "us-west-2"}}}
    )


def test_blending_fields_fit_each_other() -> None:
    ratios = {"enable_blending": True, "blend_recompute_ratios": [0.1, 0.2]}
    assert "each layer has its ratio" in complaint({"lmcache": ratios})
    assert "belongs to enable_blending" in complaint({"lmcache": {"blend_check_layers": [5]}})
