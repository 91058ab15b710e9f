"""`src` and the names of POST /adapters: nothing of a request reaches the file system outside the allowed folders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from session_server.adapter_paths import adapter_folder
from session_server.errors import BadRequestError
from tests.container.session_server.harness import Stack, running_stack


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An allowed root and a place outside, each with an adapter."""
    root, outside = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("outside")
    for folder in (root / "good", outside / "secret"):
        folder.mkdir()
        (folder / "adapter_config.json").write_text("{}", encoding="utf-8")
    (root / "empty").mkdir()
    (root / "link").symlink_to(outside / "secret")
    (root / "inner").symlink_to(root / "good")
    (root / "loop").symlink_to(root / "loop")
    (root / "leaks").mkdir()
    (root / "leaks" / "adapter_config.json").write_text("{}", encoding="utf-8")
    (root / "leaks" / "weights").symlink_to(outside / "secret" / "adapter_config.json")
    (root / "near").mkdir()
    return root, outside


@pytest.fixture(scope="module")
def stack(folders: tuple[Path, Path]) -> Iterator[Stack]:
    with running_stack({"WARMSTACK_ADAPTER_ROOTS": f"{folders[0]}:/opt/ml/none"}) as running:
        yield running


@pytest.mark.parametrize(
    "source",
    [
        "{outside}/secret",
        "{root}/../{outside.name}/secret",
        "{root}/good/../../{outside.name}/secret",
        "{root}/link",
        "{root}/leaks",
        "{root}/loop",
        "{root}/absent",
        "{root}/empty",
        "{root}-near/x",
        "good",
        "./good",
        "~/good",
        "file://{root}/good",
        "s3://bucket/good",
        "/",
        "{root}/good\0",
        "{root}/" + "x" * 5000,
    ],
)
def test_sources_outside_or_without_an_adapter_are_refused(
    stack: Stack, folders: tuple[Path, Path], source: str
) -> None:
    root, outside = folders
    answer = stack.post({"name": "a", "src": source.format(root=root, outside=outside)}, "/adapters")
    assert (answer.status, answer.error["code"]) == (400, "invalid_adapter_source")
    assert stack.get("/adapters").json == {"adapters": []}
    assert stack.engine_requests("/load_lora_adapter") == []


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("{root}/absent", "there is no such folder"),
        ("{root}/good/absent", "there is no such folder"),
        ("{outside}/absent", "must be an absolute path inside"),
        ("{root}/../{outside.name}/absent", "must be an absolute path inside"),
        ("{root}/link/absent", "must be an absolute path inside"),
    ],
)
def test_only_what_is_absent_inside_the_root_is_called_absent(
    folders: tuple[Path, Path], source: str, told: str
) -> None:
    root, outside = folders
    with pytest.raises(BadRequestError, match=told):
        adapter_folder(source.format(root=root, outside=outside), (root,))


def test_a_link_inside_the_root_is_followed(folders: tuple[Path, Path]) -> None:
    root, _ = folders
    assert adapter_folder(str(root / "inner"), (root,)) == root / "good"


def test_a_root_may_be_a_link_itself(folders: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(folders[0])
    assert adapter_folder(str(tmp_path / "alias" / "good"), (tmp_path / "alias",)) == folders[0] / "good"
    with pytest.raises(BadRequestError):
        adapter_folder(str(folders[1] / "secret"), (tmp_path / "alias",))


@pytest.mark.parametrize("name", ["", "a/b", "..", "a:b", "-a", "a b", "a" * 129, "é", "a\n"])
def test_names_are_held_to_their_rule(stack: Stack, folders: tuple[Path, Path], name: str) -> None:
    assert stack.post({"name": name, "src": str(folders[0] / "good")}, "/adapters").status == 400


@pytest.mark.parametrize(
    "body", [b"[]", b"{", b'"x"', b'{"name": "a"}', b'{"src": "/x"}', b'{"name": 5, "src": "/x"}', b""]
)
def test_what_is_no_registration_is_refused(stack: Stack, body: bytes) -> None:
    answer = stack.request("POST", "/adapters", body)
    assert answer.status == 400


def test_flags_are_true_or_false(stack: Stack, folders: tuple[Path, Path]) -> None:
    answer = stack.post({"name": "a", "src": str(folders[0] / "good"), "preload": "maybe"}, "/adapters")
    assert answer.status == 400
    assert "preload is 'maybe'" in answer.error["message"]
