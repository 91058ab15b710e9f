"""Server images: the tags, what each can do, and the address in each region."""

from __future__ import annotations

import dataclasses
from types import MappingProxyType

import pytest

from warmstack.catalog import ServerImage, image_uri, load_catalog
from warmstack.errors import CatalogError

CATALOG = load_catalog()
CUDA_13_AMI = "al2023-ami-sagemaker-inference-gpu-4-1"


def _versions(server: str) -> list[str]:
    return [image.version for image in CATALOG.images if image.server == server]


def test_the_newest_comes_first() -> None:
    assert CATALOG.image("lmi").version == "0.38.0-lmi29.0.0-cu130"
    assert CATALOG.image("vllm").version == "0.30.0"
    assert CATALOG.image("sglang").version == "0.5.20"


def test_every_lmi_release_from_14_is_there_newest_first() -> None:
    releases = [image.lmi_release for image in CATALOG.images if image.server == "lmi"]
    assert releases == list(range(29, 13, -1))


def test_the_ubuntu_images_come_before_the_al2023_images() -> None:
    assert _versions("sglang") == [
        *(f"0.5.{patch}" for patch in range(20, 12, -1)),
        *(f"server-v1.{minor}" for minor in range(4, -1, -1)),
    ]
    assert _versions("vllm")[9:] == [f"server-v2.{minor}" for minor in range(6, 0, -1)]


def test_tags_that_move_are_left_out() -> None:
    tags = {image.tag for image in CATALOG.images}
    assert not tags & {"server-sagemaker-cuda-v2", "server-sagemaker-cuda-v1"}


def test_an_image_is_found_by_version_and_by_tag() -> None:
    assert CATALOG.image("vllm", "server-v2.5") is CATALOG.image("vllm", "server-sagemaker-cuda-v2.5")
    ubuntu = CATALOG.image("vllm", "0.30.0-gpu-py312-cu130-ubuntu24.04-sagemaker")
    assert ubuntu.version == "0.30.0"


LMI_RELEASES = {
    # release: engine, CUDA, sessions and adapters, LMCache auto configuration, false booleans, explicit async
    15: ("0.8.4", "12.8", False, False, False, True),
    16: ("0.10.2", "12.8", True, False, False, True),
    17: ("0.11.1", "12.8", True, False, False, False),
    18: ("0.12.0", "12.8", True, False, False, False),
    19: ("0.14.0", "12.8", True, True, False, False),
    24: ("0.19.0", "12.9", True, True, False, False),
    25: ("0.20.1", "13.0", True, True, False, False),
    26: ("0.22.1", "13.0", True, True, True, False),
    29: ("0.28.0", "13.0", True, True, True, False),
}


@pytest.mark.parametrize("release", LMI_RELEASES)
def test_what_an_lmi_release_can_do(release: int) -> None:
    image = next(image for image in CATALOG.images if image.lmi_release == release)
    assert image.supports_adapters is image.supports_sessions
    assert LMI_RELEASES[release] == (
        image.engine_version,
        image.cuda,
        image.supports_sessions,
        image.supports_lmcache_auto_config,
        image.renders_false_booleans,
        image.needs_explicit_async,
    )


def test_cuda_13_needs_its_ami_and_cuda_12_takes_the_default() -> None:
    for image in CATALOG.images:
        if image.cuda == "13.0":
            assert image.inference_ami_version == CUDA_13_AMI, image.tag
        else:
            assert image.inference_ami_version is None, image.tag
    assert CATALOG.image("lmi", "0.36.0-lmi24.0.0-cu129").inference_ami_version is None


def test_stock_sglang_has_neither_sessions_nor_adapters() -> None:
    for image in CATALOG.images:
        if image.server != "lmi":
            assert image.supports_sessions is (image.server == "vllm"), image.tag
            assert image.supports_adapters is (image.server == "vllm"), image.tag


def test_an_unknown_engine_version_stays_unknown() -> None:
    known = {image.version: image.engine_version for image in CATALOG.images if "server-v" in image.version}
    assert {version: engine for version, engine in known.items() if engine is not None} == {
        "server-v2.5": "0.30.0",
        "server-v2.4": "0.27.1",
        "server-v2.3": "0.27.0",
        "server-v1.3": "0.5.17",
    }
    newest = CATALOG.image("vllm", "server-v2.6")
    assert (newest.cuda, newest.inference_ami_version) == (None, None)
    assert "not stated" in newest.notes[0]


def test_registries_of_tags_that_the_sdk_cannot_reach_say_where_they_come_from() -> None:
    image = CATALOG.image("lmi", "0.36.0-lmi26.0.0-cu130")
    assert "region list of 0.36.0" in image.source
    assert image.registries == CATALOG.image("lmi", "0.36.0-lmi27.0.0-cu130").registries
    assert "region list" not in CATALOG.image("lmi").source


def _image(region: str) -> ServerImage:
    return dataclasses.replace(CATALOG.image("lmi"), registries=MappingProxyType({region: "111122223333"}))


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("us-west-2", "us-west-2.amazonaws.com"),
        ("us-gov-west-1", "us-gov-west-1.amazonaws.com"),
        ("cn-north-1", "cn-north-1.amazonaws.com.cn"),
        ("eusc-de-east-1", "eusc-de-east-1.amazonaws.eu"),
        ("us-iso-east-1", "us-iso-east-1.c2s.ic.gov"),
    ],
)
def test_the_domain_follows_the_partition(region: str, host: str) -> None:
    assert image_uri(_image(region), region) == (f"111122223333.dkr.ecr.{host}/djl-inference:0.38.0-lmi29.0.0-cu130")


def test_a_region_without_the_image_is_refused_with_the_regions_that_have_it() -> None:
    with pytest.raises(CatalogError, match=r"not published in region 'cn-north-1'; it is in .*us-west-2"):
        image_uri(CATALOG.image("vllm"), "cn-north-1")


def test_a_region_of_an_unknown_partition_is_not_guessed() -> None:
    with pytest.raises(CatalogError, match="domain of region 'moon-base-1' is not known"):
        image_uri(_image("moon-base-1"), "moon-base-1")


def test_a_region_that_only_begins_like_one_is_not_guessed() -> None:
    with pytest.raises(CatalogError, match="not known"):
        image_uri(_image("us-east-1-moon"), "us-east-1-moon")


@pytest.mark.parametrize("part", ["0.38.0", "lmi29"])
def test_a_part_of_a_tag_brings_the_tag_as_a_suggestion(part: str) -> None:
    with pytest.raises(CatalogError, match=r"did you mean 0\.38\.0-lmi29\.0\.0-cu130"):
        CATALOG.image("lmi", part)


def test_a_near_version_is_suggested() -> None:
    with pytest.raises(CatalogError, match=r"vllm version '0\.30\.1' .*did you mean 0\.30\.0"):
        CATALOG.image("vllm", "0.30.1")


def test_a_version_like_none_names_the_newest() -> None:
    with pytest.raises(CatalogError, match=r"the newest are 0\.5\.20, 0\.5\.19, 0\.5\.18"):
        CATALOG.image("sglang", "banana")


def test_an_unknown_server_names_the_servers() -> None:
    with pytest.raises(CatalogError, match="it is one of lmi, vllm, sglang"):
        CATALOG.image("tgi")
