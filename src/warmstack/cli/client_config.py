"""`warmstack client-config`: settings of other clients for an endpoint, and what their bytes begin with.

What each client sends was captured from its own package (tests/data/client_bodies; the versions are in
requirements/clients.txt), and `make test-clients` captures it again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from warmstack.cli.client_target import TargetOrder
from warmstack.cli.console import print_json
from warmstack.client import EndpointClient, InvalidArgument

_AWS = re.compile(r"https://runtime(-fips)?\.sagemaker\.")
_PLAIN = re.compile(r"[A-Za-z](?:[A-Za-z0-9_./-]|:(?!\Z))*", re.ASCII)
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""What YAML 1.1 takes for a truth value or for nothing."""
_OPENAI_PATH = (
    "on the OpenAI path PREFIX_AWARE counts characters of the messages' text: what else a body holds is no matter"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfig:
    """Settings of one client.

    Args:
        client: Its name.
        form: What the settings are: ``yaml`` or ``python``.
        settings: They, ready to copy.
        path: What it calls: ``/invocations`` or the OpenAI path.
        volatile_first: Whether its bytes begin with what varies from request to request, so that PREFIX_AWARE cannot
            keep requests together.
        remarks: What to know.
    """

    client: str
    form: str
    settings: str
    path: str
    volatile_first: bool
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where an endpoint is.

    Args:
        endpoint: Its name.
        component: A component's physical name.
        region: The Region, or a text that says to put it in.
        url: The runtime's address, if it is not AWS's.
        base_url: Of the OpenAI path.
        dialect: The server, where it is known.
    """

    endpoint: str
    component: str | None
    region: str
    url: str | None
    base_url: str
    dialect: str | None


def show_config(where: TargetOrder, only: str | None, *, as_json: bool) -> int:
    """Write the settings."""
    with where.client(sessions="off") as client:
        place = _place(client)
    found = [make(place) for name, make in _CLIENTS.items() if only in (None, name)]
    if not found:
        near = get_close_matches(str(only), _CLIENTS, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_CLIENTS)}"
        raise InvalidArgument(f"--for {only!r} is no client that is known here; {hint}")
    if as_json:
        print_json([_document(one) for one in found])
        return 0
    for at, one in enumerate(found):
        begins = "VARIES FROM THE FIRST BYTES ON" if one.volatile_first else "the prompt comes first"
        if at:
            print()
        print(f"# {one.client} ({one.path}): {begins}")
        for remark in one.remarks:
            print(f"#   {remark}")
        print(one.settings, end="")
    return 0


def _place(client: EndpointClient) -> _Place:
    return _Place(
        endpoint=client.target.endpoint,
        component=client.target.component,
        region=client.region,
        url=None if _AWS.match(client.runtime_url) else client.runtime_url,
        base_url=client.openai_base_url(),
        dialect=client.target.dialect,
    )


def _document(one: ClientConfig) -> dict[str, Any]:
    return {
        "client": one.client,
        "form": one.form,
        "settings": one.settings,
        "path": one.path,
        "volatile_first": one.volatile_first,
        "remarks": list(one.remarks),
    }


def _litellm_settings(place: _Place, provider: str) -> str:
    lines = [
        "model_list:",
        f"  - model_name: {_yaml(place.endpoint)}",
        "    litellm_params:",
        f"      model: {_yaml(f'{provider}/{place.endpoint}')}",
        f"      aws_region_name: {_yaml(place.region)}",
    ]
    lines += [f"      model_id: {_yaml(place.component)}"] if place.component else []
    if place.url:
        lines += [f"      sagemaker_base_url: {_yaml(f'{place.url}/endpoints/{place.endpoint}/invocations')}"]
    return "\n".join(lines) + "\n"


def _yaml(text: str) -> str:
    """Return a text as YAML, quoted unless every reader takes it for a text as it is: 123 and yes are none."""
    return text if _PLAIN.fullmatch(text) and text.lower() not in _WORDS else json.dumps(text)


def _litellm(place: _Place) -> ClientConfig:
    return ClientConfig(
        client="litellm",
        form="yaml",
        settings=_litellm_settings(place, "sagemaker_chat"),
        path="/invocations",
        volatile_first=False,
        remarks=(
            "model, then messages: the model's name is the same in each request",
            "spaces and \\u escapes: a character that is not ASCII takes 6 bytes of prefix_length instead of 2 to 4",
            "the provider sagemaker/ is another one: see litellm-text",
        ),
    )


def _litellm_text(place: _Place) -> ClientConfig:
    return ClientConfig(
        client="litellm-text",
        form="yaml",
        settings=_litellm_settings(place, "sagemaker"),
        path="/invocations",
        volatile_first=True,
        remarks=(
            "`parameters` before `inputs`: two requests of one prompt with another temperature share no prefix",
            "use litellm (sagemaker_chat/) where the server takes messages, or hold the parameters fixed",
        ),
    )


def _langchain(place: _Place) -> ClientConfig:
    lines = [
        "from langchain_openai import ChatOpenAI",
        "",
        "from warmstack import EndpointClient",
        "",
        *_made(place),
        'chat = ChatOpenAI(model="", base_url=client.openai_base_url(), api_key=client.token_source())',
    ]
    return ClientConfig(
        client="langchain",
        form="python",
        settings="\n".join(lines) + "\n",
        path="OpenAI path",
        volatile_first=False,
        remarks=(
            f"model and stream come before messages; but {_OPENAI_PATH}",
            "sent to /invocations instead, streamed and plain requests would share no prefix",
            *_streams(place),
        ),
    )


def _langchain_aws(place: _Place) -> ClientConfig:
    lines = [
        "from langchain_aws.llms.sagemaker_endpoint import LLMContentHandler, SagemakerEndpoint",
        "",
        "from warmstack.client import read_response",
        "from warmstack.payload import canonical",
        "",
        "",
        "class Handler(LLMContentHandler):",
        '    content_type = accepts = "application/json"',
        "",
        "    def transform_input(self, prompt, model_kwargs):",
        '        return canonical({"prompt": prompt} | model_kwargs)',
        "",
        "    def transform_output(self, output):",
        "        return read_response(output.read()).text",
        "",
        "",
        "llm = SagemakerEndpoint(",
        f"    endpoint_name={place.endpoint!r},",
        *([f"    inference_component_name={place.component!r},"] if place.component else []),
        f"    region_name={place.region!r},",
        *([f"    endpoint_url={place.url!r},"] if place.url else []),
        "    content_handler=Handler(),",
        ")",
    ]
    return ClientConfig(
        client="langchain-aws",
        form="python",
        settings="\n".join(lines) + "\n",
        path="/invocations",
        volatile_first=False,
        remarks=("the bytes are the content handler's: json.dumps would keep your own order, spaces and escapes",),
    )


def _openai(place: _Place) -> ClientConfig:
    lines = [
        "from warmstack import EndpointClient",
        "",
        *_made(place),
        "openai = client.openai()",
        'openai.chat.completions.create(model="", messages=[{"role": "user", "content": "Hello"}])',
    ]
    return ClientConfig(
        client="openai",
        form="python",
        settings="\n".join(lines) + "\n",
        path="OpenAI path",
        volatile_first=False,
        remarks=(
            f"model, stream if it is given, then messages; but {_OPENAI_PATH}",
            "the token is made anew before it expires",
            *_streams(place),
        ),
    )


def _boto3(place: _Place) -> ClientConfig:
    address = f", endpoint_url={place.url!r}" if place.url else ""
    lines = [
        "import boto3",
        "",
        "from warmstack.payload import canonical",
        "",
        f'runtime = boto3.client("sagemaker-runtime", region_name={place.region!r}{address})',
        "runtime.invoke_endpoint(",
        f"    EndpointName={place.endpoint!r},",
        *([f"    InferenceComponentName={place.component!r},"] if place.component else []),
        '    ContentType="application/json",',
        '    Body=canonical({"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 64}),',
        ")",
    ]
    return ClientConfig(
        client="boto3",
        form="python",
        settings="\n".join(lines) + "\n",
        path="/invocations",
        volatile_first=False,
        remarks=("boto3 sends the bytes that it is given: json.dumps writes the order of the caller's dict",),
    )


def _made(place: _Place) -> list[str]:
    given = [repr(place.endpoint), *([f"component={place.component!r}"] if place.component else [])]
    given += [f"region={place.region!r}", *([f"endpoint_url={place.url!r}"] if place.url else [])]
    return [f"client = EndpointClient({', '.join(given)})"]


def _streams(place: _Place) -> tuple[str, ...]:
    if "lmi" not in (place.dialect or ""):
        return ()
    return ("LMI streams JSON lines, of which OpenAI's clients make nothing: do not stream, or use warmstack's client",)


_CLIENTS: dict[str, Callable[[_Place], ClientConfig]] = {
    "litellm": _litellm,
    "litellm-text": _litellm_text,
    "langchain": _langchain,
    "langchain-aws": _langchain_aws,
    "openai": _openai,
    "boto3": _boto3,
}
