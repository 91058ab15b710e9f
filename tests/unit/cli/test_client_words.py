"""What the client's commands say in words of the command line, where the library would say Python's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cli.test_client_commands import OUTPUTS, run
from tests.unit.local.definitions import component, endpoint
from tests.unit.local.running import Local, running


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    with running(endpoint("parts", components=(component("parts-chat"),)), folder=tmp_path) as local:
        yield local


def test_that_a_component_is_needed_is_said_as_the_command_line_names_it(local: Local, tmp_path: Path) -> None:
    path = tmp_path / "cdk-outputs.json"
    more = {"Componentdraft1": '{"name":"draft","physical_name":"parts-draft","dialect":"vllm"}'}
    path.write_text(json.dumps({"stack": OUTPUTS | more}), encoding="utf-8")
    by_name = run(local, "invoke", "parts", "Hello")
    assert by_name.stderr.endswith(" Name one of them: --component NAME.\n")
    for done in (run(local, "invoke", str(path), "Hello"), run(local, "chat", str(path), "--no-session", said="a\n")):
        assert done.returncode == 1
        assert "Name one of them: --component NAME. It has chat, draft." in done.stderr
    document = json.loads(run(local, "invoke", str(path), "Hello", "--json").stdout)
    assert "--component NAME. It has chat, draft." in document["error"]["message"]
