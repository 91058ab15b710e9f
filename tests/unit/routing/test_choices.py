"""The named choices: read, listed, documented."""

from __future__ import annotations

from pathlib import Path

import pytest

from warmstack.routing import RoutingChoices, RoutingError, Spill, describe_choices, parse_choices


def test_nothing_given_is_the_defaults() -> None:
    assert parse_choices([]) == RoutingChoices()


def test_choices_are_read() -> None:
    assert parse_choices(["spill=next_in_hash_order", " kv_match_worth_requests = 3 "]) == RoutingChoices(
        spill=Spill.NEXT_IN_HASH_ORDER, kv_match_worth_requests=3
    )


def test_every_listed_value_is_read() -> None:
    for one in describe_choices():
        for value in one.values:
            text = "7" if value.startswith("a whole number") else value
            assert str(getattr(parse_choices([f"{one.name}={text}"]), one.name)) == text
        assert str(getattr(RoutingChoices(), one.name)) == one.default


@pytest.mark.parametrize(("settings", "message"), [
    (["spill"], "routing choice 'spill' has no value; write name=value"),
    (["spil=x"], "there is no routing choice 'spil'; did you mean 'spill'?"),
    (["hash=maglev"], "routing choice hash is 'maglev'; it takes rendezvous or ring"),
    (["hash=ring", "hash=ring"], "routing choice 'hash' is given twice; give it once"),
    (["hash=x", "hash=ring"],
     "routing choice hash is 'x'; it takes rendezvous or ring\nrouting choice 'hash' is given twice; give it once"),
    (["kv_match_worth_requests=-1"],
     "routing choice kv_match_worth_requests is '-1'; it takes a whole number from 0 to 1000000"),
    (["kv_match_worth_requests=9999999"],
     "routing choice kv_match_worth_requests is '9999999'; it takes a whole number from 0 to 1000000"),
    (["kv_match_worth_requests=" + "9" * 5000],
     f"routing choice kv_match_worth_requests is '{'9' * 5000}'; it takes a whole number from 0 to 1000000"),
])  # fmt: skip
def test_what_cannot_be_read_is_said(settings: list[str], message: str) -> None:
    with pytest.raises(RoutingError) as caught:
        parse_choices(settings)
    assert str(caught.value) == message


def test_an_unknown_name_with_no_near_one_lists_them() -> None:
    with pytest.raises(RoutingError, match="there are hash, short_bodies, spill"):
        parse_choices(["qqq=1"])


def test_every_problem_is_reported_at_once() -> None:
    with pytest.raises(RoutingError) as caught:
        parse_choices(["hash=maglev", "spil=x", "z"])
    assert len(str(caught.value).splitlines()) == 3


def test_the_page_lists_every_choice(root: Path) -> None:
    page = (root / "docs/concepts/local-routing.md").read_text(encoding="utf-8")
    for one in describe_choices():
        values = ", ".join(f"**`{v}`**" if v == one.default else f"`{v}`" for v in one.values)
        if one.default not in one.values:
            values = f"{one.values[0]}, **`{one.default}`**"
        assert f"| `{one.name}` | {values} | {one.meaning} |" in page.splitlines()
