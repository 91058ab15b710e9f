"""The engine's process: started so that it cannot outlive this one, ended with everything that it started."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from session_server.errors import SettingsError

CUDA_COMPAT = Path("/usr/local/bin/start_cuda_compat.sh")
TETHER = Path(__file__).with_name("tether.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineCommand:
    """How the engine is started.

    Args:
        arguments: The whole command line, the program first.
        environment: Its environment.
    """

    arguments: tuple[str, ...]
    environment: Mapping[str, str]


def sglang_command(arguments: Sequence[str], environment: Mapping[str, str], python: str | None) -> EngineCommand:
    """Return the command that starts SGLang.

    Args:
        arguments: What `engine_arguments` returned.
        environment: This process's environment. The engine gets it, secrets included, without this server's own
            virtual environment.
        python: The interpreter that has SGLang; None to look for it.

    Raises:
        SettingsError: There is none.
    """
    ours = Path(sys.prefix, "bin")
    folders = [folder for folder in environment.get("PATH", os.defpath).split(os.pathsep) if Path(folder) != ours]
    path = os.pathsep.join(folders)
    found = python or shutil.which("python3", path=path)
    if found is None:
        raise SettingsError(
            [f"no python3 on PATH outside {ours}; name the engine's interpreter in WARMSTACK_ENGINE_PYTHON"]
        )
    inherited = {key: value for key, value in environment.items() if key not in ("VIRTUAL_ENV", "PYTHONHOME")}
    return EngineCommand(
        arguments=(found, "-m", "sglang.launch_server", *arguments), environment={**inherited, "PATH": path}
    )


def exit_description(returncode: int) -> str:
    """Say how a process ended."""
    if returncode >= 0:
        return f"status {returncode}"
    with suppress(ValueError):
        return f"signal {signal.Signals(-returncode).name}"
    return f"signal {-returncode}"


def exit_status(returncode: int) -> int:
    """Return the status for a process that ends because the engine did: never zero."""
    if returncode < 0:
        return 128 - returncode
    return returncode or 1


class EngineProcess:
    """A running engine, the leader of a process group of its own.

    Args:
        process: Its process.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.pid = process.pid

    @classmethod
    async def start(cls, command: EngineCommand) -> EngineProcess:
        """Start the engine; its output goes to this process's own.

        Args:
            command: How.
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-IS",
            str(TETHER),
            str(os.getpid()),
            *command.arguments,
            env=dict(command.environment),
            stdin=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        return cls(process)

    async def wait(self) -> int:
        """Wait for the end; return the status, negative for a signal."""
        return await self._process.wait()

    async def stop(self, *, grace_seconds: float) -> None:
        """End the engine and all that it started: SIGTERM, then SIGKILL.

        Args:
            grace_seconds: How long it has after SIGTERM.
        """
        if self._process.returncode is None:
            self._signal_group(signal.SIGTERM)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), grace_seconds)
        # Always: workers of an engine that has ended may still hold the GPU.
        self._signal_group(signal.SIGKILL)
        await self._process.wait()

    def _signal_group(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


async def run_cuda_compat(script: Path = CUDA_COMPAT) -> None:
    """Run the image's script for older drivers when the stock entrypoint would: with a GPU's tools at hand."""
    if not script.is_file() or not shutil.which("nvidia-smi") or not shutil.which("nvcc"):
        return
    process = await asyncio.create_subprocess_exec("bash", str(script))
    await process.wait()
