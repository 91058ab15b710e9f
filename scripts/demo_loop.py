"""Close the loop on this machine: a spec is deployed by the CDK's own CLI, measured, edited, and measured again.

    spec ─▶ cdk deploy ─▶ endpoint with two copies ─▶ documents asked about, a conversation held ─▶ one line edited
         ─▶ cdk deploy ─▶ the same again ─▶ a table

No AWS account: `warmstack local aws` is what it deploys to. Each copy's KV cache holds three of the four documents, and
not four: whether the cache is warm depends on where requests go. Runs with the development set of packages.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from cloud_assembly import ROOT
from demo_stage import (
    BIN,
    SHOWN_BIN,
    DemoError,
    EndedError,
    Signals,
    call,
    down_command,
    leave_only_what_is_here,
    local_aws,
    refuse_a_port_in_use,
)

FOLDER = ROOT / "build" / "demo"
SPEC = FOLDER / "demo.yaml"
OUTPUTS = FOLDER / "cdk-outputs.json"
ASSEMBLY = FOLDER / "cdk.out"
STACK = "demo-local"
PORT = 8789
REGION = "us-west-2"
ACCOUNT = "111122223333"
DOCUMENTS = 4
TURNS = 4
ANSWER_TOKENS = 4
RANDOM = "{strategy: RANDOM}"
AWARE = "{strategy: PREFIX_AWARE, prefix_length: 4096, concurrency_threshold: 16}"
TEXT = """\
name: demo
environment: local
model:
  id: Qwen/Qwen2.5-7B-Instruct
  weights: {s3: s3://acme-models/qwen2.5-7b-instruct/}
  max_model_len: 6144
engine: {server: vllm, version: 0.30.0}
cache: {tiers: {cpu: none, disk: none}}      # what the GPU's cache loses is lost
endpoint:
  instance_type: ml.g5.12xlarge
  instances: {min: 2}
  routing: ROUTING
  sessions: {ttl: 20m}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What computes the answers, and how large a document and a copy's cache are for it.

    Args:
        name: vllm or simulated.
        options: Of `warmstack local aws up`.
        sentences: Of a document: some 3,000 tokens.
    """

    name: str
    options: tuple[str, ...]
    sentences: int


ENGINES = {
    "vllm": Engine(name="vllm", options=("--kv-cache", "64MiB"), sentences=140),
    "simulated": Engine(name="simulated", options=("--cache-blocks", "640", "--latency", "120:2"), sentences=170),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a run of the workload showed.

    Args:
        what: A row's name.
        cold_seconds: The median TTFT of a document's first request.
        warm_seconds: The median TTFT of its later ones.
        hit_rate: Tokens found in the engines' caches, of all that were looked up, by the engines' own counters.
        turns: How many requests there were.
    """

    what: str
    cold_seconds: float
    warm_seconds: float
    hit_rate: float
    turns: int


def main() -> int:
    """Run the demo; return the exit status."""
    parser = argparse.ArgumentParser(prog="demo", description=(__doc__ or "").splitlines()[0])
    engines = ("auto", *ENGINES)
    parser.add_argument("--engine", choices=engines, default="auto", help="what computes; auto: vllm where it can")
    parser.add_argument("--port", type=port_number, default=PORT, help="the port of the local AWS")
    parser.add_argument("--keep", action="store_true", help="leave it running at the end")
    parser.add_argument("--check", action="store_true", help="only look whether it can run as it is asked to")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    signals = Signals()
    signals.install()
    try:
        run(options, console, signals)
    except EndedError as ended:
        name = "interrupted" if ended.number == signal.SIGINT else f"ended by {signal.Signals(ended.number).name}"
        last_words(console, f"demo: {name}; what it started is stopped")
        return ended.status
    except Exception as error:
        if os.environ.get("WARMSTACK_TRACEBACK"):
            raise
        told = str(error) if isinstance(error, DemoError) else f"{type(error).__name__}: {error}"
        last_words(console, f"demo: {told}")
        return 1
    return 0


def port_number(text: str) -> int:
    """Return a port."""
    number = int(text)
    if not 1 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is no port; a port is 1 to 65535")
    return number


def last_words(console: Console, text: str) -> None:
    """Write why it ended, where somebody may have closed the terminal."""
    with suppress(OSError, ValueError):
        console.print(text, style="red", markup=False, soft_wrap=True)


def run(options: argparse.Namespace, console: Console, signals: Signals) -> None:
    """Run the demo, and leave nothing running that is not to be kept.

    Raises:
        DemoError: A step failed.
        EndedError: A signal came.
    """
    began, port = time.monotonic(), options.port
    leave_only_what_is_here(os.environ)
    again = f"make demo ENGINE={options.engine}" + (" KEEP=1" if options.keep else "")
    refuse_a_port_in_use(port, STACK, again)
    if options.check:
        return
    engine = ENGINES[chosen(options.engine, console)]
    console.rule("[bold]An AWS on this machine", align="left")
    order = ("--engine", engine.name, *engine.options, "--region", REGION, "--account", ACCOUNT)
    try:
        with local_aws(order, port, console, signals, keep=options.keep) as variables:
            # For what runs in this process, too: a proxy would take the requests of the measurements elsewhere.
            os.environ.update(variables)
            rows = show(engine, port, console)
            console.print(table(rows))
    except Exception as error:
        told = str(error) if isinstance(error, DemoError) else f"{type(error).__name__}: {error}"
        spec = SPEC.relative_to(ROOT)
        raise DemoError(
            f"{told}\nWhat it started is stopped. It deploys {spec}; to run it again: {again} PORT={port}"
        ) from error
    console.print(f"{time.monotonic() - began:.0f} s in all, with {engine.name} copies. No account was used.")
    console.print("Next: source .venv/bin/activate, and docs/guides/local-aws.md to deploy a spec of your own.")
    if options.keep:
        status = f"{SHOWN_BIN}/warmstack local status --port {port}"
        console.print(f"It still runs: {status} shows it, and {down_command(port)} ends it.", soft_wrap=True)


def chosen(wanted: str, console: Console) -> str:
    """Return the engine to use, installed."""
    from warmstack.local.engines import find_engine, platform_problem

    if wanted == "simulated":
        return wanted
    problem = platform_problem()
    if problem is not None and find_engine() is None:
        if wanted == "vllm":
            raise DemoError(f"{problem}; ENGINE=simulated needs nothing")
        console.print(f"{problem}: going on with simulated copies")
        return "simulated"
    if find_engine() is None:
        console.rule("[bold]vLLM for this machine, once (2.3 GB)", align="left")
        began = time.monotonic()
        call(console, BIN / "warmstack", "local", "install")
        console.print(f"downloaded and installed in {time.monotonic() - began:.0f} s")
    return "vllm"


def show(engine: Engine, port: int, console: Console) -> list[Measured]:
    """Deploy, measure, edit one line, deploy and measure again."""
    documents = [document(engine, number) for number in range(DOCUMENTS)]
    spec = SPEC.relative_to(ROOT)
    console.rule(f"[bold]The stock CDK deploys a small spec of the demo's own ({spec}): RANDOM routing", align="left")
    write_spec(RANDOM)
    call(console, BIN / "cdk", "bootstrap", f"aws://{ACCOUNT}/{REGION}", quiet=True)
    deploy(console)
    rows = [measure("RANDOM, boto3 and json.dumps", port, console, lambda: naive(port, documents))]
    console.rule("[bold]One line of the spec is edited", align="left")
    console.print(f"-  routing: {RANDOM}\n+  routing: {AWARE}", markup=False)
    write_spec(AWARE)
    deploy(console)
    console.rule("[bold]Is what runs what was deployed?", align="left")
    place = (OUTPUTS.relative_to(ROOT), "--assembly", ASSEMBLY.relative_to(ROOT))
    call(console, BIN / "warmstack", "verify", *place, "--local", "--port", str(port))
    # Other documents: those of the next row must not be known already.
    others = [document(engine, DOCUMENTS + 1 + number) for number in range(DOCUMENTS)]
    rows += [
        measure("PREFIX_AWARE, boto3 and json.dumps", port, console, lambda: naive(port, others)),
        measure("PREFIX_AWARE, warmstack's client", port, console, lambda: stable(port, documents)),
        measure("a conversation on a session", port, console, lambda: conversation(port, document(engine, DOCUMENTS))),
    ]
    return rows


def deploy(console: Console) -> None:
    """Deploy the spec's stack, as a user would."""
    call(
        console,
        BIN / "cdk",
        "deploy",
        "-c",
        f"spec={SPEC.relative_to(ROOT)}",
        "--require-approval",
        "never",
        "--outputs-file",
        str(OUTPUTS.relative_to(ROOT)),
        "--progress",
        "events",
        "--output",
        str(ASSEMBLY.relative_to(ROOT)),
        env={**os.environ, "CDK_VALIDATION": "false"},
    )


def measure(what: str, port: int, console: Console, run: Callable[[], Iterator[tuple[bool, float]]]) -> Measured:
    """Run a workload, and compare the engines' counters of before and after."""
    before = counters(port)
    taken: dict[bool, list[float]] = {True: [], False: []}
    for is_cold, seconds in run():
        taken[is_cold].append(seconds)
        console.print(f"  {'first' if is_cold else 'later'} request: {seconds:6.2f} s to the first token")
    after = counters(port)
    looked, hit = (after[name] - before[name] for name in ("queried_tokens", "hit_tokens"))
    return Measured(
        what=what,
        cold_seconds=statistics.median(taken[True]),
        warm_seconds=statistics.median(taken[False]),
        hit_rate=hit / looked if looked else 0.0,
        turns=sum(map(len, taken.values())),
    )


def naive(port: int, documents: list[str]) -> Iterator[tuple[bool, float]]:
    """Ask as most programs do: parameters first, spaces and escapes, an id in each body."""
    import boto3

    from warmstack.client import StreamParser, TextDelta

    runtime = boto3.client("sagemaker-runtime", region_name=REGION, **credentials(port))
    for turn in range(TURNS):
        for number, text in enumerate(documents):
            body = {
                "max_tokens": ANSWER_TOKENS,
                "temperature": 0.1 * turn,
                "user": str(uuid.uuid4()),
                "stream": True,
                "messages": asked(text, number, turn),
            }
            began = time.monotonic()
            answer = runtime.invoke_endpoint_with_response_stream(
                EndpointName=STACK, ContentType="application/json", Body=json.dumps(body)
            )
            parser, first = StreamParser(), 0.0
            for part in answer["Body"]:
                texts = [one for one in parser.feed(part["PayloadPart"]["Bytes"]) if isinstance(one, TextDelta)]
                first = first or (time.monotonic() - began if texts else 0.0)
            yield turn == 0, first
    runtime.close()


def stable(port: int, documents: list[str]) -> Iterator[tuple[bool, float]]:
    """Ask with the client: the prompt first, the same bytes each time."""
    with client(port) as endpoint:
        for turn in range(TURNS):
            for number, text in enumerate(documents):
                stream = endpoint.stream(
                    asked(text, number, turn), max_tokens=ANSWER_TOKENS, temperature=0.1 * turn, user=str(uuid.uuid4())
                )
                yield turn == 0, first_token(stream)


def conversation(port: int, text: str) -> Iterator[tuple[bool, float]]:
    """Hold a conversation on a session: each turn returns to the instance that has the others."""
    with client(port) as endpoint, endpoint.session(system=text, max_tokens=ANSWER_TOKENS) as session:
        for turn, question in enumerate(("Who is it about?", "What happens?", "And then?", "How does it end?")):
            yield turn == 0, first_token(session.stream(question))


def first_token(stream: Any) -> float:
    """Read a stream to its end; return how long its first token took."""
    for _ in stream:
        pass
    seconds: float = stream.response().call.ttft_seconds
    return seconds


def client(port: int) -> Any:
    """Return the client of what was deployed, from the outputs of the deploy."""
    import boto3

    from warmstack import EndpointClient

    given = credentials(port)
    url = given.pop("endpoint_url")
    session = boto3.Session(region_name=REGION, **given)
    return EndpointClient.from_outputs(OUTPUTS, boto3_session=session, endpoint_url=url)


def credentials(port: int) -> dict[str, str]:
    """Return what boto3 needs for the local AWS."""
    return {
        "endpoint_url": f"http://localhost:{port}",
        "aws_access_key_id": "local",
        "aws_secret_access_key": "local",
    }


def counters(port: int) -> dict[str, int]:
    """Return the engines' own counters of their caches."""
    from warmstack.local.remote import ask

    (endpoint,) = ask(f"http://localhost:{port}", "status")["endpoints"]
    found: dict[str, int] = endpoint["cache"]
    return found


def asked(text: str, number: int, turn: int) -> list[dict[str, str]]:
    """Return a question about a document."""
    return [
        {"role": "system", "content": text},
        {"role": "user", "content": f"Question {turn} about document {number}?"},
    ]


def document(engine: Engine, number: int) -> str:
    """Return a document of some 3,000 tokens that shares no beginning with the others."""
    sentence = "the quick brown fox number {} jumps over the lazy dog again and again; "
    return "".join(sentence.format(number * 1000 + at) for at in range(engine.sentences))


def write_spec(routing: str) -> None:
    """Write the spec with one strategy or the other."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    SPEC.write_text(TEXT.replace("ROUTING", routing), encoding="utf-8")


def table(rows: list[Measured]) -> Table:
    """Return the table that the demo ends with."""
    made = Table(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        title="Where requests go decides what is warm, and their first bytes where they go",
    )
    for heading in ("", "requests", "TTFT cold", "TTFT later", "hit rate"):
        made.add_column(heading, justify="left" if not heading else "right", no_wrap=True)
    for row in rows:
        made.add_row(
            row.what, str(row.turns), f"{row.cold_seconds:.2f} s", f"{row.warm_seconds:.2f} s", f"{row.hit_rate:.0%}"
        )
    return made


if __name__ == "__main__":
    sys.exit(main())
