"""No value of a spec becomes an instruction, a property, a key or a flag."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.plan.specs import FILES, planned
from tests.unit.render.builds import DOCKER, HERE, TIERS, VLLM, context, instructions, text
from warmstack.plan import PlanError
from warmstack.render import RenderError, serving_properties
from warmstack.render.templates import docker_label, exec_form, image_reference, java_property, yaml_value
from warmstack.spec import SpecError

NASTY = st.text(alphabet=st.sampled_from(list("\n\r\t\0\\\"'$%{}#`;&|:=-–é ab1RUN\u2028\u0085")), max_size=30)
HARMLESS = instructions(text(context(HERE, DOCKER, VLLM, TIERS), "Dockerfile"))


def _shape(lines: list[str]) -> list[str]:
    return [line.split(" ", 1)[0] for line in lines]


@settings(max_examples=60, deadline=None)
@given(NASTY)
def test_a_label_is_one_text(value: str) -> None:
    if not value.isprintable():
        with pytest.raises(RenderError, match="control character"):
            docker_label(value)
        return
    written = docker_label(value)
    assert "\n" not in written
    # As Docker reads it: a backslash takes the next character as it is, and nothing bare is left of " and $.
    inner, read, rest = written[1:-1], "", 0
    while rest < len(inner):
        if inner[rest] == "\\":
            rest += 1
        else:
            assert inner[rest] not in '"$'
        read += inner[rest]
        rest += 1
    assert read == value


@settings(max_examples=60, deadline=None)
@given(NASTY)
def test_a_value_in_yaml_stays_a_value(value: str) -> None:
    document = yaml.safe_load(f"one: {yaml_value(value)}\ntwo: {yaml_value({'a': value})}\n")
    assert document == {"one": value, "two": {"a": value}}


@settings(max_examples=60, deadline=None)
@given(NASTY)
def test_a_property_is_one_line_of_ascii(value: str) -> None:
    written = java_property(value)
    assert written.isascii()
    assert written.isprintable()
    # As java.util.Properties reads it.
    read = written[1:] if written.startswith("\\ ") else written
    assert json.loads('"' + read.replace('"', '\\"') + '"') == value


@settings(max_examples=60, deadline=None)
@given(NASTY)
def test_a_command_is_an_array_of_texts(value: str) -> None:
    try:
        written = exec_form(("/bin/true", value))
    except RenderError:
        assert not value.isprintable()
        return
    assert "\n" not in written
    assert json.loads(written) == ["/bin/true", value]


@settings(max_examples=60, deadline=None)
@given(NASTY)
def test_a_reference_has_no_room_for_more(value: str) -> None:
    try:
        assert image_reference(value) == value
    except RenderError:
        return
    assert not set(value) & set("\n\r\t \"'$\\`;&|{}")


@settings(max_examples=25, deadline=None)
@given(NASTY)
def test_no_field_of_a_spec_adds_an_instruction(value: str) -> None:
    """The chat template is the one free text that an image carries; every other field has a form of its own."""
    changes = [
        {"model": {"chat_template": "chat.jinja"}, FILES: {"chat.jinja": f"x{value}"}},
        {"engine": {"options": {"chat_template": value or "x"}}},
        {"engine": {"options": {"served_model_name": value or "x"}}},
        {"tags": {"team": value}},
        {"name": value},
        {"engine": {"version": value}},
        {"image": {"base": f"111122223333.dkr.ecr.us-west-2.amazonaws.com/lmi:1{value}"}},
        {"cache": {"tiers": {"remote": {"url": f"redis://host{value}"}}}},
    ]
    for change in changes:
        try:
            built = context(HERE, DOCKER, VLLM, TIERS, change)
        except (SpecError, RenderError, PlanError):
            continue
        lines = instructions(text(built, "Dockerfile"))
        assert _shape(lines) == _shape(HARMLESS)


@settings(max_examples=40, deadline=None)
@given(NASTY)
def test_no_option_adds_a_property(value: str) -> None:
    plain = serving_properties(planned({"engine": {"options": {"hf_token_file": "x"}}}).models[0])
    keys = [line.split("=", 1)[0] for line in plain.splitlines()]
    changed = planned({"engine": {"options": {"chat_template": value or "x"}}}).models[0]
    found = [line.split("=", 1)[0] for line in serving_properties(changed).splitlines()]
    assert sorted(set(found) - set(keys)) == ["option.chat_template"]
    assert len(found) == len(set(found))


def test_a_serving_properties_says_what_the_environment_says() -> None:
    (served,) = planned(TIERS).models
    lines = [line for line in serving_properties(served).splitlines() if not line.startswith("#")]
    read = dict(line.split("=", 1) for line in lines)
    assert read.pop("engine") == "Python"
    environment = {key: value for key, value in served.environment.items() if key.startswith("OPTION_")}
    assert {f"OPTION_{key.removeprefix('option.').upper()}": value for key, value in read.items()} == environment


def test_other_servers_read_no_properties() -> None:
    with pytest.raises(RenderError, match=r"vllm reads no serving\.properties"):
        serving_properties(planned(VLLM).models[0])
