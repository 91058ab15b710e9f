"""`python3 -m sglang.launch_server`: start the stand-in with the flags that an engine gets."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from sglang.standin_engine import Engine
from sglang.standin_http import serve_connection
from sglang.standin_loras import Loras
from sglang.standin_options import Options


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="sglang.launch_server")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=30000)
    parser.add_argument("--model-path", "--model", required=True)
    parser.add_argument("--served-model-name")
    parser.add_argument("--enable-lora", action="store_true")
    parser.add_argument("--lora-paths", nargs="*", default=[])
    parser.add_argument("--max-loaded-loras", type=int)
    # The real engine has hundreds of flags and refuses what it does not know; the stand-in takes them all.
    return parser.parse_known_args(arguments)[0]


async def make_engine(arguments: argparse.Namespace, options: Options) -> Engine:
    loras = Loras(
        enabled=arguments.enable_lora or bool(arguments.lora_paths),
        max_loaded=arguments.max_loaded_loras,
        load_seconds=lambda: options.load_seconds,
    )
    served = arguments.served_model_name or arguments.model_path
    engine = Engine(options=options, loras=loras, model=arguments.model_path, served=served)
    for entry in arguments.lora_paths:
        name, _, path = entry.partition("=")
        await loras.load(name, path)
    return engine


async def run(arguments: argparse.Namespace, options: Options) -> int:
    engine = await make_engine(arguments, options)
    server = await asyncio.start_server(
        partial(serve_connection, handler=engine.handle), arguments.host, arguments.port, limit=1 << 26
    )
    loop = asyncio.get_running_loop()
    stop: asyncio.Future[int] = loop.create_future()
    loop.add_signal_handler(signal.SIGTERM, lambda: options.ignore_sigterm or stop.done() or stop.set_result(0))
    if options.die_seconds >= 0:
        loop.call_later(options.die_seconds, lambda: os._exit(options.die_status))
    port = server.sockets[0].getsockname()[1]
    print(f"stand-in engine: http://{arguments.host}:{port}", flush=True)
    status = await stop
    server.close()
    return status


def main() -> int:
    options = Options.from_environment(os.environ)
    if options.fork:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        Path(options.fork).write_text(str(child.pid), encoding="utf-8")
    return asyncio.run(run(parse(sys.argv[1:]), options))


if __name__ == "__main__":
    os._exit(main())  # at once: requests that still run end with the process, as they do with an engine
