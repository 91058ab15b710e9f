"""How many copies start, of what a template asks for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.local.definitions import component, endpoint, variant
from warmstack.local.platform.start_plan import Room, plan_start


def test_everything_starts_where_there_is_room() -> None:
    plan = plan_start(
        [endpoint(components=(component(copies=3), component("legal", base="chat")))], Room(copies=9, instances=9)
    )
    assert plan.reductions == ()
    assert plan.copies["demo", "chat"].given == 3
    assert ("demo", "legal") not in plan.copies
    assert plan.instances["demo", "primary"].given == 2


def test_each_component_gets_a_copy_before_one_gets_two() -> None:
    parts = (component("a", copies=3), component("b", copies=2), component("c", copies=1))
    plan = plan_start([endpoint(components=parts)], Room(copies=4, instances=2))
    assert [plan.copies["demo", name].given for name in "abc"] == [2, 1, 1]
    assert plan.reductions == (
        "demo: a: 2 of 3 copies start; --copies starts more",
        "demo: b: 1 of 2 copies start; --copies starts more",
    )


def test_what_gets_no_copy_is_told() -> None:
    parts = (component("a", copies=1), component("b", copies=1))
    plan = plan_start([endpoint(components=parts)], Room(copies=1, instances=1))
    assert plan.reductions == ("demo: b: 0 of 1 copies start; --copies starts more",)


def test_a_variants_own_model_takes_as_many_instances_as_copies() -> None:
    endpoints = [endpoint("one", variants=(variant(instances=7),)), endpoint("two")]
    plan = plan_start(endpoints, Room(copies=3, instances=9))
    assert {place: size.given for place, size in plan.instances.items()} == {
        ("one", "primary"): 2,
        ("two", "primary"): 1,
    }
    assert plan.reductions == (
        "one: variant primary: 2 of 7 copies start; --copies starts more",
        "two: variant primary: 1 of 2 copies start; --copies starts more",
    )


def test_a_host_without_copies_needs_no_instance() -> None:
    plan = plan_start([endpoint(components=(component(copies=0),))], Room(copies=4, instances=4))
    assert plan.instances["demo", "primary"].given == 0


def test_a_host_that_is_created_before_its_components_has_its_instances() -> None:
    hosts = endpoint(variants=(variant(model=None, instances=3), variant("none", model=None, instances=0)))
    plan = plan_start([hosts], Room(copies=1, instances=9), empty_hosts=True)
    assert [size.given for size in plan.instances.values()] == [3, 0]
    plan = plan_start([hosts], Room(copies=9, instances=2), empty_hosts=True)
    assert plan.reductions == ("demo: variant primary: 2 of 3 instances start; --copies starts more",)
    assert plan.instances["demo", "primary"].given == 2
    assert plan_start([hosts], Room(copies=9, instances=9)).instances["demo", "primary"].given == 0


@given(
    st.lists(st.tuples(st.integers(0, 9), st.lists(st.integers(0, 9), max_size=4)), min_size=1, max_size=4),
    st.integers(1, 12),
    st.integers(1, 12),
)
def test_no_more_than_the_room_starts_and_every_reduction_is_told(
    shapes: list[tuple[int, list[int]]], copies: int, instances: int
) -> None:
    endpoints = [
        endpoint(
            f"e{at}",
            variants=(variant(instances=hosts, **({"model": None} if counts else {})),),
            components=tuple(component(f"c{number}", copies=count) for number, count in enumerate(counts)),
        )
        for at, (hosts, counts) in enumerate(shapes)
    ]
    plan = plan_start(endpoints, Room(copies=copies, instances=instances))
    own = sum(size.given for (name, _), size in plan.instances.items() if not shapes[int(name[1:])][1])
    assert own + sum(size.given for size in plan.copies.values()) <= copies
    assert sum(size.given for size in plan.instances.values()) <= instances
    for place, size in plan.copies.items():
        assert size.given <= size.asked
        assert any(f"{place[0]}: {place[1]}: " in line for line in plan.reductions) == (size.given < size.asked)
