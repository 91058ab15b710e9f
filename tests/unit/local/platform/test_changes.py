"""Copies that come and go in any order: none is lost, none is doubled, and what runs is what is wanted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

import pytest

from tests.unit.local.definitions import component, endpoint, variant
from warmstack.local.container import Container, ContainerRequest, MemoryReply
from warmstack.local.errors import LocalError
from warmstack.local.platform.copies import CopyState
from warmstack.local.platform.endpoints import Component, Endpoint
from warmstack.local.platform.orders import AdapterOrder, CopyOrder, Report
from warmstack.local.platform.platform import Platform
from warmstack.local.platform.settings import PlatformSettings
from warmstack.local.platform.start_plan import Room


class Answering:
    """A container that is well, or that fails /ping."""

    def __init__(self) -> None:
        self.status = 200

    async def send(self, request: ContainerRequest) -> MemoryReply:  # noqa: ARG002
        await asyncio.sleep(0)
        return MemoryReply(status=self.status)


class FakeCopy:
    """A process that runs until it is ended."""

    pid = None

    def __init__(self, living: set[FakeCopy]) -> None:
        self.answering = Answering()
        self._living = living
        self._ended = asyncio.Event()
        self.stop_seconds = 0.001
        self.stopping = False
        living.add(self)

    @property
    def container(self) -> Container:
        return self.answering

    engine = container

    async def register(self, adapter: AdapterOrder) -> None:
        """Take it."""

    async def wait(self) -> str:
        await self._ended.wait()
        return "signal SIGKILL"

    async def stop(self) -> None:
        self.stopping = True
        await asyncio.sleep(self.stop_seconds)
        await self.kill()

    async def kill(self) -> None:
        await asyncio.sleep(0)
        self._living.discard(self)
        self._ended.set()


class FakeStarter:
    """Starts copies in a while; the next ones in vain, as often as it is told."""

    def __init__(self) -> None:
        self.living: set[FakeCopy] = set()
        self.failures = 0
        self.seconds = 0.0
        self.begun = 0
        self.starting = 0

    async def start(self, order: CopyOrder, report: Report) -> FakeCopy:  # noqa: ARG002
        self.begun += 1
        self.starting += 1
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.starting -= 1
        if self.failures:
            self.failures -= 1
            raise LocalError(f"{order.copy} did not start")
        return FakeCopy(self.living)

    async def close(self) -> None:
        """Nothing is shared."""


Scene = Callable[[Platform, FakeStarter], Awaitable[None]]


def play(scene: Scene, *, components: bool = True, copies: int = 2, **settings: float) -> list[str]:
    """Run a scene on a platform; return what was reported. Nothing lives on after it."""
    reports: list[str] = []

    async def main() -> None:
        definition = (
            endpoint(components=(component(copies=copies),))
            if components
            else endpoint(variants=(variant(instances=copies),))
        )
        starter = FakeStarter()
        quick = {"restart_seconds": 0.01, "ping_seconds": 0.0, "drain_seconds": 0.2} | settings
        platform = Platform(
            [definition],
            starter=starter,
            settings=PlatformSettings(room=Room(copies=8, instances=8), **quick),  # type: ignore[arg-type]
            report=reports.append,
        )
        await platform.start()
        try:
            async with asyncio.timeout(10):
                await scene(platform, starter)
        finally:
            await platform.stop()
            await asyncio.sleep(0.02)
        assert starter.living == set()

    asyncio.run(main())
    assert [line for line in reports if "in the background" in line] == []
    return reports


def parts(platform: Platform) -> tuple[Endpoint, Component]:
    demo = platform.endpoints["demo"]
    return demo, demo.components["chat"]


async def comes_to(platform: Platform, starter: FakeStarter, count: int) -> None:
    """Wait until there are so many copies, all in service; and see that it stays so."""
    demo = platform.endpoints["demo"]

    def well() -> bool:
        states = [copy.state for copy in demo.copies.values()]
        return states == [CopyState.IN_SERVICE] * count and len(starter.living) == count

    for _ in range(300):
        await asyncio.sleep(0.01)
        if well():
            break
    await asyncio.sleep(0.1)
    assert well(), ([(copy.name, copy.state) for copy in demo.copies.values()], len(starter.living))
    assert all(copy.instance in demo.variants["primary"].instances for copy in demo.copies.values())


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_scaled_while_a_killed_copy_is_away(count: int) -> None:
    async def scene(platform: Platform, starter: FakeStarter) -> None:
        demo, chat = parts(platform)
        copy = next(iter(demo.copies.values()))
        await platform.kill(copy)
        await asyncio.sleep(0.005)
        await platform.scale(demo, chat, count)
        await comes_to(platform, starter, count)

    play(scene, restart_seconds=0.05)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_scaled_while_copies_start_in_vain(count: int) -> None:
    async def scene(platform: Platform, starter: FakeStarter) -> None:
        demo, chat = parts(platform)
        starter.failures = 2
        await platform.scale(demo, chat, 4)
        await asyncio.sleep(0.01)
        await platform.scale(demo, chat, count)
        await comes_to(platform, starter, count)

    play(scene, restart_seconds=0.05)


def test_an_instance_restarted_while_a_copy_on_it_drains() -> None:
    async def scene(platform: Platform, starter: FakeStarter) -> None:
        demo, chat = parts(platform)
        drained = list(demo.copies.values())[-1]
        drained.enter(in_session=False)
        await platform.scale(demo, chat, 1)
        await platform.restart_instance(demo, drained.instance)
        drained.leave(in_session=False)
        await comes_to(platform, starter, 1)

    play(scene)


def test_an_instance_restarted_while_its_copies_start_in_vain() -> None:
    async def scene(platform: Platform, starter: FakeStarter) -> None:
        demo, chat = parts(platform)
        starter.failures, starter.seconds = 1, 0.02
        await platform.scale(demo, chat, 3)
        await asyncio.sleep(0.005)
        new = list(demo.copies.values())[-1]
        assert new.state is CopyState.STARTING
        await platform.restart_instance(demo, new.instance)
        await comes_to(platform, starter, 3)

    play(scene)


@pytest.mark.parametrize("components", [True, False])
def test_an_instance_restarted_by_two_at_once(components: bool) -> None:
    async def scene(platform: Platform, starter: FakeStarter) -> None:
        demo = platform.endpoints["demo"]
        instance = demo.variants["primary"].instances[0]
        tried = await asyncio.gather(
            *(platform.restart_instance(demo, instance) for _ in range(2)), return_exceptions=True
        )
        assert [str(one) for one in tried if one] == [f"instance {instance.name} is gone"]
        await comes_to(platform, starter, 2)

    play(scene, components=components)


@pytest.mark.parametrize("at_once", [1, 2])
@pytest.mark.parametrize("components", [True, False])
def test_what_starts_in_a_fleet_ends_with_it(components: bool, at_once: int) -> None:
    async def scene(platform: Platform, starter: FakeStarter) -> None:
        demo = platform.endpoints["demo"]
        starter.seconds = 60
        for copy in list(demo.copies.values()):
            await platform.kill(copy)
        while starter.starting < at_once:
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.02)
        assert len(demo.copies) == 2, "with one at once, the other one waits for its turn"
        await platform.end_fleet(demo)
        assert (starter.starting, demo.copies) == (0, {})
        assert starter.begun == 2 + at_once

    reports = play(scene, components=components, starts_at_once=at_once)
    assert not any("did not start" in line for line in reports)


def test_a_scaled_down_component_starts_nothing_more() -> None:
    async def scene(platform: Platform, starter: FakeStarter) -> None:
        demo, chat = parts(platform)
        starter.seconds = 60
        await platform.scale(demo, chat, 6)
        await asyncio.sleep(0.01)
        await platform.scale(demo, chat, 2)
        await comes_to(platform, starter, 2)
        assert (starter.starting, starter.begun) == (0, 4)

    play(scene)


def test_a_copy_that_never_starts_makes_room_for_later_ones() -> None:
    async def scene(platform: Platform, starter: FakeStarter) -> None:
        demo, chat = parts(platform)
        starter.failures = 3
        await platform.scale(demo, chat, 3)
        for _ in range(200):
            await asyncio.sleep(0.01)
            if starter.failures == 0:
                break
        await asyncio.sleep(0.1)
        assert len(starter.living) == 2
        await platform.scale(demo, chat, 3)
        await comes_to(platform, starter, 3)

    play(scene)


def test_pings_go_on_after_an_instance_was_replaced_at_the_same_moment() -> None:
    async def scene(platform: Platform, starter: FakeStarter) -> None:
        demo = platform.endpoints["demo"]
        for _ in range(4):
            for copy in starter.living:
                copy.answering.status = 500
            await asyncio.gather(
                *(
                    platform.restart_instance(demo, instance)
                    for instance in list(demo.variants["primary"].instances)
                    if Random(instance.name).random() < 0.7
                ),
                return_exceptions=True,
            )
            await asyncio.sleep(0.01)
        for copy in starter.living:
            copy.answering.status = 500
        begun = starter.begun
        for _ in range(200):
            await asyncio.sleep(0.01)
            if starter.begun >= begun + 2:
                break
        await comes_to(platform, starter, 2)

    play(scene, components=False, ping_seconds=0.002, ping_failures=1)


def test_a_copy_that_is_being_stopped_while_another_starts_is_stopped_with_the_rest() -> None:
    async def scene(platform: Platform, starter: FakeStarter) -> None:
        demo, chat = parts(platform)
        starter.seconds = 60
        for one in starter.living:
            one.stop_seconds = 0.3
        await platform.scale(demo, chat, 1)
        while not any(one.stopping for one in starter.living):
            await asyncio.sleep(0.001)
        await platform.scale(demo, chat, 2)
        while not starter.starting:
            await asyncio.sleep(0.001)
        await platform.stop()
        assert starter.living == set()

    play(scene)


@pytest.mark.parametrize("seed", range(12))
def test_anything_in_any_order(seed: int) -> None:
    random = Random(seed)

    async def scene(platform: Platform, starter: FakeStarter) -> None:
        demo, chat = parts(platform)
        wanted = 2
        for _ in range(30):
            match random.randrange(5):
                case 0:
                    wanted = random.randrange(6)
                    await platform.scale(demo, chat, wanted)
                case 1 if demo.copies:
                    await platform.kill(random.choice(list(demo.copies.values())))
                case 2 if demo.variants["primary"].instances:
                    await platform.restart_instance(demo, random.choice(demo.variants["primary"].instances))
                case 3:
                    starter.failures, starter.seconds = random.randrange(2), random.choice([0, 0.003, 0.02])
                case 4:
                    await asyncio.sleep(random.choice([0, 0.001, 0.012, 0.03]))
        starter.failures = 0
        assert chat.desired_copies == wanted
        await comes_to(platform, starter, wanted)

    play(scene)
