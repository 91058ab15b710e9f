"""The middleware runs what lies where SageMaker puts adapters, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from formatter_middleware import ROOTS, FormatterMiddleware
from tests.container.formatters.conftest import Write
from tests.container.formatters.servers import Engine, ask

MARKING = """
from pathlib import Path

(Path(__file__).parent / "ran").touch()

@input_formatter
def to_model(payload):
    return {**payload, "seen": True}
"""


@pytest.fixture
def engine() -> Engine:
    return Engine(lambda _: {"id": "x"})


def test_the_roots_are_sagemakers() -> None:
    assert (Path("/opt/ml/models"), Path("/opt/ml/model")) == ROOTS


def test_code_outside_the_roots_does_not_run(write: Write, engine: Engine, tmp_path: Path) -> None:
    path = write(MARKING, "elsewhere")
    for roots in ([tmp_path / "models"], ROOTS):
        app = FormatterMiddleware(engine, roots=roots)
        answer = ask(app, {"name": "legal", "src": str(path.parent)}, "/adapters")
        assert answer.status == 424
        assert "the formatters of legal are not run: they must lie inside" in answer.json["error"]["message"]
    assert not (path.parent / "ran").exists()
    assert engine.payloads == []


def test_links_are_followed_before_the_roots_are_looked_at(write: Write, engine: Engine, tmp_path: Path) -> None:
    path = write(MARKING, "elsewhere")
    models = tmp_path / "models"
    (models / "legal").mkdir(parents=True)
    (models / "legal" / "formatters.py").symlink_to(path)
    (models / "whole").symlink_to(path.parent)
    app = FormatterMiddleware(engine, roots=[models])
    for source in (models / "legal", models / "whole", models / ".." / "elsewhere"):
        assert ask(app, {"name": "legal", "src": str(source)}, "/adapters").status == 424
    assert not (path.parent / "ran").exists()


def test_a_root_may_be_a_link(write: Write, engine: Engine, tmp_path: Path) -> None:
    path = write(MARKING, "real/legal")
    (tmp_path / "models").symlink_to(tmp_path / "real")
    app = FormatterMiddleware(engine, roots=[tmp_path / "models"])
    assert ask(app, {"name": "legal", "src": str(tmp_path / "models" / "legal")}, "/adapters").status == 200
    ask(app, {"prompt": "x"}, adapter="legal")
    assert engine.payloads[-1] == {"prompt": "x", "seen": True}
    assert (path.parent / "ran").exists()


@pytest.mark.parametrize("source", ["x" * 5000, "/" + "x" * 5000, "/opt/\0", "/none", "", "/x/" * 3000])
def test_a_path_that_is_none_is_the_servers_to_refuse(engine: Engine, source: str) -> None:
    registration = {"name": "legal", "src": source}
    assert ask(FormatterMiddleware(engine), registration, "/adapters").status == 200
    assert engine.payloads == [registration]


def test_links_in_a_circle_are_the_servers_to_refuse(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "legal").mkdir()
    (tmp_path / "legal" / "formatters.py").symlink_to(tmp_path / "legal" / "formatters.py")
    app = FormatterMiddleware(engine, roots=[tmp_path])
    assert ask(app, {"name": "legal", "src": str(tmp_path / "legal")}, "/adapters").status == 200
