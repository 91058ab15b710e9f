"""The client against the local endpoint by real boto3: every server's forms, components, adapters, cuts and limits."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.unit.local.clients import session as credentials
from tests.unit.local.definitions import PREFIX_AWARE, component, endpoint, model, variant
from tests.unit.local.running import Local, running
from warmstack import EndpointClient
from warmstack.assembly import EndpointDefinition
from warmstack.client import NO_RETRIES, RetryPolicy
from warmstack.client import failures as fail
from warmstack.client.connections import is_loopback
from warmstack.client.events import Finish, TextDelta, Usage
from warmstack.client.timeouts import Timeouts
from warmstack.local.platform.fault_orders import FaultOrder, inflict
from warmstack.local.simulated import Latency
from warmstack.local.wire.parts import Cut

ENVIRONMENTS = {
    "lmi": {"OPTION_ENABLE_PROMPT_TOKENS_DETAILS": "true", "OPTION_ENABLE_STATEFUL_SESSIONS": "true"},
    "vllm": {"SM_VLLM_ENABLE_PROMPT_TOKENS_DETAILS": "true", "SAGEMAKER_ENABLE_STATEFUL_SESSIONS": "true"},
    "sglang": {"SM_SGLANG_ENABLE_CACHE_REPORT": "true", "SAGEMAKER_ENABLE_STATEFUL_SESSIONS": "true"},
}
SYSTEM = "You are an assistant of Acme. Grüße, 你好, 😀. " * 60


def of_server(server: str, name: str | None = None, **changes: Any) -> EndpointDefinition:
    # An image that is built with the stack is ours; SGLang's stock image has no session server.
    image = "${Image}" if server == "sglang" else f"{server}:1"
    hosted = model(server=server, image=image, environment=ENVIRONMENTS[server])
    return endpoint(name or server, variants=(variant(instances=3, model=hosted, routing=PREFIX_AWARE, **changes),))


@pytest.fixture(scope="module", params=[Cut.AS_WRITTEN, Cut.EVERY_BYTE], ids=["as written", "every byte"])
def local(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    parts = endpoint("parts", components=(component("chat"), component("legal", base="chat")))
    definitions = (*(of_server(one) for one in ENVIRONMENTS), parts)
    with running(*definitions, folder=tmp_path_factory.mktemp("local"), cut=request.param) as local:
        yield local


@pytest.fixture
def client(local: Local) -> Iterator[EndpointClient]:
    with EndpointClient("vllm", boto3_session=credentials(), endpoint_url=local.url) as client:
        yield client


@pytest.fixture(params=ENVIRONMENTS)
def server(request: pytest.FixtureRequest, local: Local) -> Iterator[EndpointClient]:
    with EndpointClient(request.param, boto3_session=credentials(), endpoint_url=local.url) as client:
        yield client


def test_a_stream_is_the_same_answer_in_parts(server: EndpointClient) -> None:
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Who are you?"}]
    whole = server.chat(messages, max_tokens=8)
    stream = server.stream(messages, max_tokens=8)
    events = list(stream)
    assert "".join(one.text for one in events if isinstance(one, TextDelta)) == whole.text != ""
    assert sum(isinstance(one, TextDelta) for one in events) > 1
    assert [one.reason for one in events if isinstance(one, Finish)] == ["length"]
    assert any(isinstance(one, Usage) for one in events)
    assert whole.usage is not None
    assert stream.response().usage is not None
    assert stream.response().usage.prompt_tokens == whole.usage.prompt_tokens


def test_a_prompt_is_continued(server: EndpointClient) -> None:
    whole = server.complete("def add(a, b):", max_tokens=6)
    assert len(whole.text.split()) == 6
    assert "".join(server.stream(prompt="def add(a, b):", max_tokens=6).text()) == whole.text


def test_turns_of_a_session_find_the_cache(server: EndpointClient) -> None:
    with server.session(system=SYSTEM, max_tokens=4) as session:
        assert session.id is not None
        first = session.chat("Who are you?")
        stream = session.stream("What can you do?")
        list(stream)
        second = stream.response()
    assert first.usage is not None
    assert second.usage is not None
    assert second.usage.cached_tokens is not None
    assert second.usage.cached_tokens > 0.9 * first.usage.prompt_tokens
    assert [one["content"] for one in session.transcript.messages()][3:] == ["What can you do?", second.text]


def test_a_server_without_sessions_has_conversations_all_the_same(tmp_path: Path) -> None:
    stock = model(server="sglang", image="763104351884.dkr.ecr.us-west-2.example/sglang:0.5.20-gpu")
    with running(endpoint("stock", variants=(variant(model=stock),)), folder=tmp_path) as local:
        with EndpointClient("stock", boto3_session=credentials(), endpoint_url=local.url) as client:
            with client.session(system=SYSTEM, max_tokens=4) as session:
                assert session.id is None
                session.chat("Who are you?")
                list(session.stream("What can you do?"))
            assert session.stats.turns == 2
        strict = EndpointClient("stock", boto3_session=credentials(), endpoint_url=local.url, sessions="on")
        with strict, pytest.raises(fail.ModelRefused), strict.session():
            pass


def test_requests_that_share_a_prefix_find_the_cache_without_a_session(server: EndpointClient) -> None:
    def ask(text: str, **options: Any) -> Any:
        messages = [{"role": "system", "content": f"Prefixes. {SYSTEM}"}, {"role": "user", "content": text}]
        return server.chat(messages, max_tokens=2, **options).usage

    cold, *warm = [ask(f"question {at}", temperature=at / 10, seed=at) for at in range(6)]
    assert cold.cached_tokens in (0, None)
    assert all(one.cached_tokens > 0.9 * cold.prompt_tokens for one in warm)


def test_a_component_and_its_adapter_answer(local: Local) -> None:
    with EndpointClient("parts", boto3_session=credentials(), endpoint_url=local.url) as client:
        with pytest.raises(fail.ComponentRequired):
            client.chat("Hello")
        with pytest.raises(fail.ComponentNotFound):
            client.component("nobody").chat("Hello")
        base = client.component("chat").chat("Hello", max_tokens=4)
        adapter = client.component("legal").chat("Hello", max_tokens=4)
        assert base.text != adapter.text
        assert list(client.component("legal").stream("Hello", max_tokens=4).text()) != []


def test_leaving_a_stream_ends_it_at_the_copy(tmp_path: Path) -> None:
    latency = Latency(decode_seconds_per_token=0.02)
    with running(of_server("vllm"), folder=tmp_path, latency=latency) as local:
        with EndpointClient("vllm", boto3_session=credentials(), endpoint_url=local.url) as client:
            for _ in client.stream("Hello", max_tokens=2000):
                break
            copies = local.platform.endpoints["vllm"].copies.values()
            local.until(lambda: sum(one.in_flight for one in copies) == 0)
        entry = next(local.services.journal.newest_first())
        assert entry.seconds is not None
        assert entry.seconds < 20, "2000 tokens take 40 s"


def test_another_thread_can_close_a_stream_that_is_read(tmp_path: Path) -> None:
    latency = Latency(decode_seconds_per_token=0.02)
    with (
        running(of_server("vllm"), folder=tmp_path, latency=latency) as local,
        EndpointClient("vllm", boto3_session=credentials(), endpoint_url=local.url) as client,
    ):
        stream = client.stream("Hello", max_tokens=2000)
        events = iter(stream)
        next(events)
        closing = threading.Thread(target=stream.close)
        closing.start()
        assert len(list(events)) < 1998
        closing.join()


def test_a_stream_that_is_cut_brings_what_had_come(tmp_path: Path) -> None:
    with running(of_server("vllm"), folder=tmp_path, latency=Latency(decode_seconds_per_token=0.001)) as local:
        for copy in local.platform.endpoints["vllm"].copies:
            local.run(inflict(local.platform, FaultOrder(fault="cut", target=copy, pieces=4)))
        with EndpointClient("vllm", boto3_session=credentials(), endpoint_url=local.url) as client:
            seen: list[str] = []
            with pytest.raises(fail.StreamInterrupted) as raised:
                seen.extend(client.stream("Hello", max_tokens=20).text())
    assert raised.value.response is not None
    assert raised.value.response.text == "".join(seen) != ""


def test_an_answer_that_takes_too_long_is_one_failure(tmp_path: Path) -> None:
    with running(of_server("vllm"), folder=tmp_path) as local:
        for copy in local.platform.endpoints["vllm"].copies:
            local.run(inflict(local.platform, FaultOrder(fault="slow", target=copy, seconds=5)))
        timeouts = Timeouts(read_seconds=0.3, stream_seconds=0.3)
        with EndpointClient("vllm", boto3_session=credentials(), endpoint_url=local.url, timeouts=timeouts) as client:
            with pytest.raises(fail.ReadTimedOut):
                client.chat("Hello")
            with pytest.raises(fail.ReadTimedOut):
                list(client.stream("Hello"))


def test_nobody_there_is_tried_again_and_then_one_failure(client: EndpointClient) -> None:
    policy = RetryPolicy(attempts=3, base_seconds=0.01)
    with EndpointClient("x", boto3_session=credentials(), endpoint_url="http://127.0.0.1:9", retry=policy) as nobody:
        with pytest.raises(fail.NotConnected):
            nobody.chat("Hello")
        with pytest.raises(fail.NotConnected):
            nobody.stream("Hello")


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    local: Local, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    given = {"boto3_session": credentials(), "retry": NO_RETRIES}
    with EndpointClient("vllm", endpoint_url=local.url, **given) as client:
        assert client.chat("Hello", max_tokens=2).text
        assert list(client.stream("Hello", max_tokens=2).text())
        with client.openai() as openai:
            openai.chat.completions.create(model="", messages=[{"role": "user", "content": "Hello"}], max_tokens=2)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME", local.url)
    with EndpointClient("vllm", **given) as client:
        assert client.chat("Hello", max_tokens=2).text
    elsewhere = EndpointClient("vllm", endpoint_url="http://runtime.test", **given)
    with elsewhere, pytest.raises(fail.NotConnected, match="proxy"):
        elsewhere.chat("Hello")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1.2.3", "[::1]"])
def test_the_loopback_is_known(host: str) -> None:
    assert is_loopback(f"http://{host}:8787")
    assert not is_loopback("https://runtime.sagemaker.us-west-2.amazonaws.com")


def test_threads_share_a_client(client: EndpointClient) -> None:
    answers: dict[int, str] = {}

    def ask(at: int) -> None:
        answers[at] = client.chat(f"Who are you, {at}?", max_tokens=6).text

    threads = [threading.Thread(target=ask, args=(at,)) for at in range(24)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(30)
    assert len(set(answers.values())) == 24
    assert answers == {at: client.chat(f"Who are you, {at}?", max_tokens=6).text for at in range(24)}


def test_any_body_can_be_sent(client: EndpointClient) -> None:
    answer = client.invoke({"max_tokens": 2, "messages": [{"content": "Hello", "role": "user"}]}, inference_id="i-1")
    assert json.loads(answer.body)["object"] == "chat.completion"
    assert client.invoke(b'{"prompt": "a", "max_tokens": 1}').request_id is not None
    with pytest.raises(fail.ModelRefused):
        client.invoke(b"not JSON")
    with pytest.raises(fail.InvalidArgument, match="invoke has no option 'max_tokens'"):
        client.invoke({}, max_tokens="3")


@pytest.mark.parametrize(
    ("options", "problem"),
    [({"endpoint_url": "nowhere"}, "endpoint_url is 'nowhere'"), ({"region": "not a region"}, "region|Region")],
)
def test_an_address_that_is_none_is_refused(options: dict[str, str], problem: str) -> None:
    with pytest.raises(fail.NotSent, match=problem):
        EndpointClient("x", boto3_session=credentials(), **options)


@pytest.mark.parametrize("name", ["region", "endpoint_url"])
def test_what_is_no_text_is_refused(name: str) -> None:
    options: Any = {name: 5}
    with pytest.raises(fail.InvalidArgument, match=f"{name} is of type int; it must be text"):
        EndpointClient("x", boto3_session=credentials(), **options)


def test_an_address_of_the_environment_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME", "nowhere")
    with pytest.raises(fail.NotConfigured, match="the address in the environment or the configuration: Invalid"):
        EndpointClient("x", boto3_session=credentials())


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_that_was_forked_has_connections_of_its_own(client: EndpointClient) -> None:
    expected = [client.chat(f"Who are you, {at}?", max_tokens=6).text for at in range(10)]
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            with suppress(BaseException):
                answers = [client.chat(f"Who are you, {at}?", max_tokens=6).text for at in range(10)]
                os._exit(0 if answers == expected else 3)
            os._exit(4)
        children.append(child)
    assert [client.chat(f"Who are you, {at}?", max_tokens=6).text for at in range(10)] == expected
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4
