"""`warmstack invoke`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warmstack.cli.client_output import error_document, read_argument, read_bytes, read_file, response_document
from warmstack.cli.client_target import TargetOrder, saying_options
from warmstack.cli.console import print_json
from warmstack.cli.steering import shown
from warmstack.client import EndpointClient, InvalidArgument, Response
from warmstack.errors import WarmstackError


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeOrder:
    """One request.

    Args:
        message: The user's.
        prompt: A text to be continued.
        body: A file with a whole request.
        verbatim: Whether its bytes are sent as they are.
        system: A system message.
        max_tokens: The most tokens.
        temperature: 0 for the likeliest.
        stream: Whether the answer is written as it comes.
        session_id: A session that is open.
        prefix_aware_id: PrefixAwareId.
    """

    message: str | None
    prompt: str | None
    body: Path | None
    verbatim: bool
    system: str | None
    max_tokens: int | None
    temperature: float | None
    stream: bool
    session_id: str | None
    prefix_aware_id: str | None


def run_invoke(where: TargetOrder, order: InvokeOrder, *, as_json: bool) -> int:
    """Send the request, and write its answer."""
    _check(order)
    try:
        with where.running_client(prefix_aware_id=order.prefix_aware_id) as client, saying_options(client):
            return _raw(client, order) if order.body is not None else _answer(client, order, as_json=as_json)
    except WarmstackError as error:
        if not as_json:
            raise
        print_json(error_document(error))
        return 1


def _check(order: InvokeOrder) -> None:
    given = [name for name in ("message", "prompt", "body") if getattr(order, name) is not None]
    if len(given) != 1:
        said = f"{' and '.join(given)} are given" if given else "none is given"
        raise InvalidArgument(f"a request is an endpoint (TARGET) and one of MESSAGE, --prompt and --body; {said}")
    if order.body is not None and (order.stream or order.system or order.max_tokens or order.temperature is not None):
        raise InvalidArgument("a body is the whole request: write its system message and parameters into it")
    if order.verbatim and order.body is None:
        raise InvalidArgument("--verbatim is for the bytes of a --body")
    if order.session_id is not None and order.body is None:
        raise InvalidArgument("--session-id goes with a --body; `warmstack chat` keeps a session of its own")
    if order.message == "-" and order.system == "@-":
        raise InvalidArgument("MESSAGE and --system both read standard input; write one of them into a file")
    if order.prompt is not None and order.system is not None:
        raise InvalidArgument("a prompt has no system message; write it into the prompt")


def _raw(client: EndpointClient, order: InvokeOrder) -> int:
    assert order.body is not None
    body: dict[str, Any] | bytes
    if order.verbatim:
        body = read_bytes(order.body, "--body")
    else:
        text = read_file(order.body, "--body")
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidArgument(
                f"--body: {order.body} is no JSON: {error}; --verbatim sends it all the same"
            ) from error
        if not isinstance(found, dict):
            raise InvalidArgument(f"--body: {order.body} is no JSON object; --verbatim sends it all the same")
        body = found
    answer = client.invoke(body, session_id=order.session_id)
    sys.stdout.flush()
    out = getattr(sys.stdout, "buffer", None)
    if out is None or sys.stdout.isatty():
        sys.stdout.write(shown(answer.body.decode("utf-8", "replace")))
    else:
        out.write(answer.body)
        out.flush()
    for name in ("x-amzn-sagemaker-new-session-id", "x-amzn-sagemaker-closed-session-id"):
        if name in answer.headers:
            print(f"{name}: {answer.headers[name]}", file=sys.stderr)
    return 0


def _answer(client: EndpointClient, order: InvokeOrder, *, as_json: bool) -> int:
    options: dict[str, Any] = {"max_tokens": order.max_tokens, "temperature": order.temperature}
    messages: list[dict[str, Any]] = []
    if order.message is not None:
        system = read_argument(order.system, "--system")
        messages = [] if system is None else [{"role": "system", "content": system}]
        said = read_file(Path("-"), "MESSAGE") if order.message == "-" else read_argument(order.message, "MESSAGE")
        messages.append({"role": "user", "content": said})
    prompt = read_argument(order.prompt, "--prompt")
    if order.stream and not as_json:
        stream = client.stream(prompt=prompt, **options) if prompt is not None else client.stream(messages, **options)
        for text in stream.text():
            print(shown(text), end="", flush=True)
        response = stream.response()
        _finish(response, text=False)
        return 0
    response = client.complete(prompt, **options) if prompt is not None else client.chat(messages, **options)
    if as_json:
        print_json(response_document(response))
    else:
        _finish(response, text=True)
    return 0


def _finish(response: Response, *, text: bool) -> None:
    print(shown(response.text) if text else "")
    for one in response.tool_calls:
        print(shown(f"{one.name}({one.arguments})"))
    if response.finish_reason == "length":
        print("the answer was cut at its most tokens; --max-tokens sets them", file=sys.stderr)
