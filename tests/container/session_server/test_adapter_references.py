"""Which adapters a request names: nothing that is not registered gets by, whatever the body looks like."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from session_server.adapter_references import KnownModels, choose_adapters, named_adapter
from session_server.errors import AdapterNotFoundError, BadRequestError

SERVED = "s3://bucket/base"
KNOWN = KnownModels(served=SERVED, adapters={"legal", "tax"}, retired={"old"})
NAMES = st.sampled_from(["legal", "tax", "old", "ghost", "", "default", SERVED, "Qwen/Q", " legal", "legal "])
MODELS = st.one_of(NAMES, st.builds("{}:{}".format, NAMES, NAMES), st.text(max_size=12), st.none(), st.integers())
LORA_PATHS = st.one_of(NAMES, st.none(), st.lists(st.one_of(NAMES, st.none()), max_size=3))


def engines_choice(body: dict[str, Any]) -> set[str]:
    """Return the adapters that SGLang 0.5.23 would take from a body: the oracle, after its serving_base.py."""
    model, lora_path = body.get("model", "default"), body.get("lora_path")
    if isinstance(model, str) and ":" in model and model != SERVED:
        rest = model[len(SERVED) + 1 :] if model.startswith(f"{SERVED}:") else model.split(":", 1)[1]
        if rest.strip():
            return {rest.strip()}
    return {one for one in (lora_path if isinstance(lora_path, list) else [lora_path]) if one}


@given(
    model=MODELS,
    lora_path=LORA_PATHS,
    adapters=st.one_of(st.none(), NAMES, st.lists(NAMES, max_size=1)),
    header=st.one_of(st.none(), NAMES),
)
@example(model="legal", lora_path=[None], adapters=None, header=None)
def test_the_engine_is_asked_for_registered_adapters_only(
    model: object, lora_path: object, adapters: object, header: str | None
) -> None:
    body: dict[str, Any] = {"prompt": "x", "model": model, "lora_path": lora_path, "adapters": adapters}
    body = {key: value for key, value in body.items() if value is not None}
    try:
        choice = choose_adapters(body, header, KNOWN)
    except (AdapterNotFoundError, BadRequestError):
        return
    asked = engines_choice(choice.body)
    assert asked <= {"legal", "tax"}
    assert asked <= set(choice.names)
    assert "adapters" not in choice.body
    if header is not None:
        assert asked == {header}
    if isinstance(model, str) and model in ("legal", "tax") and header is None:
        assert asked
    assert model != "old" or header is not None or "adapters" in body


@pytest.mark.parametrize("model", [SERVED, "default", "", "Qwen/Qwen2.5", None, 5])
def test_a_base_models_body_is_left_as_it_is(model: object) -> None:
    body = {"prompt": "x", "model": model}
    assert choose_adapters(body, None, KNOWN).body is body


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"lora_path": 5}, "lora_path must be"),
        ({"lora_path": [5]}, "lora_path must be"),
        ({"adapters": ["legal", "tax"]}, "one adapter"),
        ({"adapters": 5}, "one adapter"),
        ({"model": "legal", "lora_path": "tax"}, "send one"),
    ],
)
def test_values_that_make_no_sense_are_refused(body: dict[str, Any], says: str) -> None:
    with pytest.raises(BadRequestError, match=re.escape(says)):
        choose_adapters(body, None, KNOWN)


@pytest.mark.parametrize("value", [None, "", []])
def test_an_empty_adapters_key_is_removed(value: object) -> None:
    assert choose_adapters({"prompt": "x", "adapters": value}, None, KNOWN).body == {"prompt": "x"}


def test_a_served_name_with_colons_is_no_adapter() -> None:
    assert named_adapter(SERVED, SERVED) == (SERVED, None)
    assert named_adapter(f"{SERVED}:legal", SERVED) == (SERVED, "legal")
    assert named_adapter("a: b ", None) == ("a", "b")


def test_a_long_name_is_cut_in_the_message() -> None:
    with pytest.raises(AdapterNotFoundError) as caught:
        choose_adapters({"lora_path": "x" * 10_000}, None, KNOWN)
    assert len(caught.value.message) < 500
