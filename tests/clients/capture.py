"""Have each client send the conversation to a recorder, and write the bodies: one a line, as they were sent.

Runs in `.venv-clients` (scripts/clients.py):
`PYTHONPATH=.:src .venv-clients/bin/python tests/clients/capture.py FOLDER [CLIENT …]`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.clients.conversation import ANSWER, CASES, ENDPOINT, MODEL, QUESTIONS, REGION, SYSTEM, TOOLS, TURNS
from tests.clients.conversation import messages as messages_of
from tests.clients.conversation import prompt as prompt_of
from tests.clients.recorder import recording

Ask = Callable[[str, int, str], object]
"""Sends one turn of one case to a base address."""


def openai(url: str, turn: int, case: str) -> None:
    from openai import OpenAI

    # As applications write it: stream is named only where it is wanted.
    more: dict[str, Any] = {"tools": {"tools": TOOLS}, "streamed": {"stream": True}}.get(case, {})
    with OpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client:
        answer: Any = client.chat.completions.create(
            model=MODEL,
            messages=messages_of(turn),  # type: ignore[arg-type]
            temperature=TURNS[turn].temperature,
            max_tokens=TURNS[turn].max_tokens,
            **more,
        )
        if case == "streamed":
            list(answer)


def langchain_openai(url: str, turn: int, case: str) -> None:
    from langchain_openai import ChatOpenAI

    sampled = TURNS[turn]
    options: Any = {"temperature": sampled.temperature, "max_tokens": sampled.max_tokens, "max_retries": 0}
    chat: Any = ChatOpenAI(model=MODEL, base_url=f"{url}/v1", api_key="x", **options)
    if case == "tools":
        chat = chat.bind_tools(TOOLS)
    if case == "streamed":
        list(chat.stream(messages_of(turn)))
    else:
        chat.invoke(messages_of(turn))


def langchain_aws(url: str, turn: int, case: str) -> None:
    import boto3
    from langchain_aws.llms import SagemakerEndpoint
    from langchain_aws.llms.sagemaker_endpoint import LLMContentHandler

    class Handler(LLMContentHandler):
        """The form that samples for text generation containers show."""

        content_type = accepts = "application/json"

        def transform_input(self, prompt: str, model_kwargs: dict[str, Any]) -> bytes:
            return json.dumps({"inputs": prompt, "parameters": model_kwargs}).encode()

        def transform_output(self, output: Any) -> str:
            if not hasattr(output, "read"):
                return ANSWER  # a line of a stream, in whatever form its container has
            return str(json.loads(output.read().decode())[0]["generated_text"])

    sampled = TURNS[turn]
    model = SagemakerEndpoint(
        endpoint_name=ENDPOINT,
        client=boto3.client("sagemaker-runtime"),
        content_handler=Handler(),
        model_kwargs={"temperature": sampled.temperature, "max_new_tokens": sampled.max_tokens},
        streaming=case == "streamed",
    )
    model.invoke(prompt_of(turn))


def litellm_openai(url: str, turn: int, case: str) -> None:
    _litellm(f"openai/{MODEL}", turn, case, api_base=f"{url}/v1", api_key="x")


def litellm_sagemaker_chat(url: str, turn: int, case: str) -> None:
    with _redirected(url):
        _litellm(f"sagemaker_chat/{ENDPOINT}", turn, case)


def litellm_sagemaker(url: str, turn: int, case: str) -> None:
    with _redirected(url):
        _litellm(f"sagemaker/{ENDPOINT}", turn, case)


def strands_openai(url: str, turn: int, case: str) -> None:
    from strands.models.openai import OpenAIModel

    sampled = TURNS[turn]
    params = {"temperature": sampled.temperature, "max_tokens": sampled.max_tokens}
    model = OpenAIModel(client_args={"base_url": f"{url}/v1", "api_key": "x"}, model_id=MODEL, params=params)
    model.update_config(stream=case == "streamed")  # type: ignore[call-arg]
    _strands(model, turn, case)


def strands_sagemaker(url: str, turn: int, case: str) -> None:
    from strands.models.sagemaker import SageMakerAIModel

    sampled = TURNS[turn]
    model = SageMakerAIModel(
        endpoint_config={"endpoint_name": ENDPOINT, "region_name": REGION},
        payload_config={
            "max_tokens": sampled.max_tokens,
            "temperature": sampled.temperature,
            "stream": case == "streamed",
        },
    )
    _strands(model, turn, case)


def huggingface(url: str, turn: int, case: str) -> None:
    from huggingface_hub import InferenceClient

    client = InferenceClient(base_url=f"{url}/v1", api_key="x")
    answer = client.chat_completion(
        messages_of(turn),
        model=MODEL,
        stream=case == "streamed",
        temperature=TURNS[turn].temperature,
        max_tokens=TURNS[turn].max_tokens,
        tools=TOOLS if case == "tools" else None,  # type: ignore[arg-type]
    )
    if case == "streamed":
        list(answer)


def boto3_json(url: str, turn: int, case: str) -> None:
    """Send what samples write by hand: json.dumps with its defaults."""
    import boto3

    sampled = TURNS[turn]
    body: dict[str, Any] = {"messages": messages_of(turn), "temperature": sampled.temperature}
    body["max_tokens"] = sampled.max_tokens
    client = boto3.client("sagemaker-runtime")
    request = {"EndpointName": ENDPOINT, "ContentType": "application/json"}
    if case == "streamed":
        body["stream"] = True
        stream = client.invoke_endpoint_with_response_stream(Body=json.dumps(body), **request)
        list(stream["Body"])
    else:
        if case == "tools":
            body["tools"] = TOOLS
        client.invoke_endpoint(Body=json.dumps(body), **request)["Body"].read()


CLIENTS: dict[str, tuple[Ask, tuple[str, ...]]] = {
    "boto3": (boto3_json, CASES),
    "huggingface": (huggingface, CASES),
    "langchain-aws": (langchain_aws, CASES[:2]),
    "langchain-openai": (langchain_openai, CASES),
    "litellm-openai": (litellm_openai, CASES),
    "litellm-sagemaker": (litellm_sagemaker, CASES[:2]),
    "litellm-sagemaker-chat": (litellm_sagemaker_chat, CASES),
    "openai": (openai, CASES),
    "strands-openai": (strands_openai, CASES),
    "strands-sagemaker": (strands_sagemaker, CASES),
}


def main() -> int:
    """Write a file a client; return the exit status."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    wanted = sys.argv[2:] or list(CLIENTS)
    with recording() as (url, bodies):
        os.environ |= {
            # The documentation's own example of a key.
            "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "not-a-secret",
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME": url,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LANGSMITH_TRACING": "false",
            "NO_PROXY": "127.0.0.1",
        }
        for name in wanted:
            ask, cases = CLIENTS[name]
            bodies.clear()
            for case in cases:
                for turn in range(len(TURNS)):
                    seen = len(bodies)
                    ask(url, turn, case)
                    if len(bodies) != seen + 1:
                        raise RuntimeError(f"{name}, {case}: a turn sent {len(bodies) - seen} requests and not one")
            if any(b"\n" in body for body in bodies):
                raise RuntimeError(f"{name}: a body has a line break, and cannot be a line")
            (folder / f"{name}.jsonl").write_bytes(b"".join(body + b"\n" for body in bodies))
            print(f"capture: {name}: {len(bodies)} bodies", flush=True)
    return 0


def _litellm(model: str, turn: int, case: str, **more: Any) -> None:
    import litellm

    litellm.telemetry = False
    if case == "tools":
        more["tools"] = TOOLS
    if case == "streamed":
        more["stream"] = True
    answer = litellm.completion(
        model=model,
        messages=messages_of(turn),
        temperature=TURNS[turn].temperature,
        max_tokens=TURNS[turn].max_tokens,
        **more,
    )
    if case == "streamed":
        list(answer)


class _redirected:  # noqa: N801 - read as a verb
    """Send to the recorder what goes to SageMaker: LiteLLM's own setting for it would be in the body.

    Args:
        url: The recorder.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    def __enter__(self) -> None:
        import httpx

        target = httpx.URL(self._url)
        self._real = real = httpx.HTTPTransport.handle_request

        def handle(transport: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
            if request.url.host.startswith("runtime.sagemaker."):
                request.url = request.url.copy_with(scheme=target.scheme, host=target.host, port=target.port)
            return real(transport, request)

        httpx.HTTPTransport.handle_request = handle  # type: ignore[method-assign]

    def __exit__(self, *_: object) -> None:
        import httpx

        httpx.HTTPTransport.handle_request = self._real  # type: ignore[method-assign]


def _strands(model: Any, turn: int, case: str) -> None:
    from strands import Agent, tool

    @tool(name="prezzo", description="Dà il prezzo di una bevanda, in €.")
    def prezzo(bevanda: str) -> str:
        """Dà il prezzo di una bevanda, in €."""
        return f"{bevanda}: 4 €"

    past: Any = []
    for question in QUESTIONS[:turn]:
        past += [
            {"role": "user", "content": [{"text": question}]},
            {"role": "assistant", "content": [{"text": ANSWER}]},
        ]
    tools: Any = [prezzo] if case == "tools" else []
    agent = Agent(model=model, system_prompt=SYSTEM, tools=tools, messages=past, callback_handler=None)
    agent(QUESTIONS[turn])


if __name__ == "__main__":
    sys.exit(main())
