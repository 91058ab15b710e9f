"""The pages that show Python run it: from the spec to the template, a local endpoint of it, and the client on that.

A page's ``python run`` blocks run in one process, one after the other, as in a notebook. What the block after one
shows is what it printed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from tests.docs.test_documents import WRITTEN, blocks, matches, page_id
from tests.examples import EXAMPLES
from tests.infrastructure.synthesis import synthesized
from tests.unit.local.definitions import REGION
from tests.unit.local.running import Local, running
from warmstack.assembly import read_assembly
from warmstack.local.simulated import Latency

STACKS = ("sticky-chat", "rag-prefix-aware", "lora-tenants")
PAGES = [page for page in WRITTEN if any(block.info[:2] == ("python", "run") for block in blocks(page))]
MARK = "=== block ==="
DRIVER = f"""
import json, sys
space = {{"__name__": "__main__"}}
for line, text in json.load(sys.stdin):
    exec(compile("\\n" * line + text, sys.argv[1], "exec"), space)
    print({MARK!r}, flush=True)
"""
ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_DEFAULT_REGION": REGION}


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Local, Path]]:
    """The example stacks on this machine, and a folder with what they publish."""
    folder = tmp_path_factory.mktemp("deployed")
    published, definitions = {}, []
    for path in EXAMPLES:
        if path.stem in STACKS:
            stack = synthesized(path)
            template = folder / f"{stack.plan.stack_name}.template.json"
            template.write_text(stack.text, encoding="utf-8")
            assembly = read_assembly(template, region=REGION)
            definitions += assembly.endpoints
            published |= assembly.outputs
    (folder / "cdk-outputs.json").write_text(json.dumps(published), encoding="utf-8")
    with running(*definitions, folder=folder) as local:
        yield local, folder


def test_there_are_such_pages() -> None:
    assert {"docs/guides/client.md", "docs/guides/client-sessions.md"} <= {page_id(page) for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_python_prints_what_the_page_shows(page: Path, deployed: tuple[Local, Path]) -> None:
    local, folder = deployed
    found = blocks(page)
    runs = [
        (block, after) for block, after in zip(found, [*found[1:], None], strict=True) if block.info[1:] == ("run",)
    ]
    runs = [(block, after) for block, after in runs if block.info[0] == "python"]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", DRIVER, page_id(page)],
        cwd=folder,
        input=json.dumps([(block.line, block.text) for block, _ in runs]),
        env=os.environ | ENVIRONMENT | addresses(local),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(f"{MARK}\n")
    assert len(printed) == len(runs) + 1
    for (block, after), text in zip(runs, printed, strict=False):
        shown = after.text if after is not None and after.info == ("text",) else ""
        assert matches(shown, text), f"{page_id(page)}:{block.line} prints\n{text}"


def addresses(local: Local) -> dict[str, str]:
    return {"AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME": local.url, "AWS_ENDPOINT_URL_SAGEMAKER": local.url}


@pytest.fixture
def web(deployed: tuple[Local, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Local]]:
    """The page's web server, and the endpoint that it asks, which is a slow one."""
    _, folder = deployed
    (page,) = (one for one in PAGES if one.name == "client-web.md")
    (block,) = (one for one in blocks(page) if one.info == ("python", "run"))
    definitions = read_assembly(folder / "rag-prod.template.json", region=REGION).endpoints
    with running(*definitions, folder=folder, latency=Latency(decode_seconds_per_token=0.01)) as local:
        for name, value in (ENVIRONMENT | addresses(local)).items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(folder)
        space: dict[str, Any] = {}
        exec(compile(block.text, page_id(page), "exec"), space)
        server = uvicorn.Server(uvicorn.Config(space["app"], host="127.0.0.1", port=0, log_level="error"))
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            port = server.servers[0].sockets[0].getsockname()[1]
            yield f"http://127.0.0.1:{port}/answers?question=hello", local
        finally:
            server.should_exit = True
            thread.join(30)
            space["client"].close()


def test_the_web_server_streams_and_ends_what_nobody_reads(web: tuple[str, Local]) -> None:
    url, local = web
    copies = local.platform.endpoints["rag-prod"].copies.values()
    began = time.monotonic()
    with urllib.request.urlopen(url, timeout=30) as response:
        lines = [json.loads(line[6:]) for line in response.read().decode().splitlines() if line.startswith("data: ")]
    assert len([one for one in lines if "text" in one]) == 400
    assert lines[-1] == {"end": "length"}
    whole_seconds = time.monotonic() - began
    with urllib.request.urlopen(url, timeout=30) as response:
        assert response.readline().startswith(b'data: {"text"')
        assert sum(one.in_flight for one in copies) == 1
    deadline = time.monotonic() + 0.8 * whole_seconds
    while sum(one.in_flight for one in copies):
        assert time.monotonic() < deadline, "nobody reads the rest of the answer, and it is still computed"
        time.sleep(0.02)
