"""The SGLang image from its start to its end: token and formatters, SIGTERM, an engine that dies."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.image.bases import ENGINE
from tests.image.buildah import Buildah, Mount
from tests.image.conftest import Built
from tests.image.containers import Container, command_of, environment_of, running
from tests.image.secrets_manager import TOKEN, SecretsManager

pytestmark = pytest.mark.image
MESSAGES = [{"role": "user", "content": "Hello"}]
Start = Callable[..., AbstractContextManager[Container]]


@pytest.fixture
def start(buildah: Buildah, build: Callable[[str], Built], platform: tuple[Mount, ...], tmp_path: Path) -> Start:
    """Run an image with the environment of its plan."""

    def run(name: str, *mounts: Mount, **extra: str) -> AbstractContextManager[Container]:
        image = build(name)
        environment = {**image.plan.models[0].environment, **extra}
        return running(buildah, image.tag, log=tmp_path / "log", environment=environment, mounts=[*platform, *mounts])

    return run


def test_the_token_reaches_the_engine_and_formatters_are_applied(start: Start, secrets_manager: SecretsManager) -> None:
    with start("sglang-all", **secrets_manager.environment) as container:
        container.wait_until_ready()
        assert environment_of(container.engine)["HF_TOKEN"] == TOKEN
        assert TOKEN not in " ".join([*command_of(container.main), *command_of(container.engine)])
        template = "/opt/warmstack/models/model/chat_template.jinja"
        assert template in command_of(container.engine)
        whole = container.invoke({"messages": MESSAGES, "max_tokens": 8}).json
        assert whole["formatted"] == "whole"
        assert whole["choices"][0]["message"]["content"] == "<base> 1 2"
        with container.stream({"messages": MESSAGES, "stream": True}) as lines:
            assert b'"formatted":"stream"' in next(lines).replace(b": ", b":")
        assert TOKEN not in container.printed


def test_the_weights_are_mounted_read_only(start: Start) -> None:
    with start("sglang-sessions") as container:
        container.wait_until_ready()
        place = Path(f"/proc/{container.main}/mountinfo").read_text(encoding="utf-8")
        options = [line.split()[5] for line in place.splitlines() if line.split()[4].endswith("/opt/ml/model")]
        assert options
        assert all("ro" in one.split(",") for one in options)


def test_sigterm_lets_requests_finish_and_ends_with_zero(start: Start) -> None:
    with start("sglang-sessions", STANDIN_HOLD_AFTER="1") as container:
        container.wait_until_ready()
        with container.stream({"messages": MESSAGES, "max_tokens": 6, "stream": True}) as lines:
            next(lines)
            container.terminate()
            asked = time.monotonic()
            container.wait_for(lambda: container.ping() == 0)
            container.control_engine(hold_after=-1)
            *chunks, last, done = lines
        assert b" 5" in chunks[-1]
        assert b'"finish_reason":"length"' in last
        assert done == b"data: [DONE]"
        assert container.wait_for_end() == 0, container.printed
        # SageMaker kills a container after 30 s.
        assert time.monotonic() - asked < 30


def test_a_dead_engine_fails_the_ping_and_ends_the_container(start: Start) -> None:
    with start("sglang-sessions") as container:
        container.wait_until_ready()
        os.kill(container.engine, signal.SIGKILL)
        container.wait_for(lambda: container.ping() != 200)
        assert container.wait_for_end() != 0
        assert "the engine exited with signal SIGKILL" in container.printed


def test_another_engine_can_stand_in_for_the_images_own(start: Start) -> None:
    """What docs/guides/images.md does where there is no GPU; the session server's own packages are not affected."""
    standin = Mount(host=ENGINE.parent, inside="/standin")
    with start("sglang-sessions", standin, PYTHONPATH="/standin", PYTHONDONTWRITEBYTECODE="", PYTHONVERBOSE="1") as one:
        one.wait_until_ready()
        assert "/standin/sglang/launch_server.py" in one.printed
        assert one.printed.count("/opt/warmstack/session_server/") == 0
        assert one.invoke({"prompt": "Hello", "max_tokens": 2}).json["choices"][0]["text"] == "<base> 1"


def test_a_bad_setting_ends_the_start_with_its_message(start: Start) -> None:
    with start("sglang-sessions", SAGEMAKER_SESSIONS_EXPIRATION="soon") as container:
        assert container.wait_for_end() != 0
        assert "SAGEMAKER_SESSIONS_EXPIRATION is 'soon'" in container.printed
