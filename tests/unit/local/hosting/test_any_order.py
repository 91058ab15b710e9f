"""Changes, faults and scaling of components in any order: all comes to rest, with the copies that are wanted."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from random import Random

import pytest

from tests.unit.local.definitions import component, endpoint, model, variant
from tests.unit.local.platform.test_changes import FakeCopy
from warmstack.local.errors import LocalError
from warmstack.local.hosting import changes
from warmstack.local.hosting.changes import Changes
from warmstack.local.platform.copies import CopyState
from warmstack.local.platform.endpoints import Component, Endpoint
from warmstack.local.platform.orders import AdapterOrder, CopyOrder, Report
from warmstack.local.platform.platform import Platform
from warmstack.local.platform.settings import PlatformSettings
from warmstack.local.platform.start_plan import Room

HOSTS = variant(model=None, min_instance_count=1, max_instance_count=4)
LASTING = ("InService", "Failed")


class AdaptedCopy(FakeCopy):
    """Takes adapters in a while, but for some."""

    async def register(self, adapter: AdapterOrder) -> None:
        await asyncio.sleep(0.002)
        if adapter.name.startswith("bad"):
            raise LocalError(f"{adapter.name} is refused")


class Starter:
    """Starts copies in a while, those of a broken model never, and the next ones in vain as often as it is told."""

    def __init__(self, random: Random) -> None:
        self.living: set[FakeCopy] = set()
        self.failures = 0
        self._random = random

    async def start(self, order: CopyOrder, report: Report) -> FakeCopy:  # noqa: ARG002
        await asyncio.sleep(self._random.choice([0, 0.003, 0.01]))
        if order.model.name == "broken":
            raise LocalError(f"{order.copy} ended")
        if self.failures:
            self.failures -= 1
            raise RuntimeError(f"{order.copy} is odd")
        return AdaptedCopy(self.living)

    async def close(self) -> None:
        """Nothing is shared."""


class Scene:
    """An endpoint, and what may happen to it."""

    def __init__(self, random: Random, platform: Platform, starter: Starter, demo: Endpoint) -> None:
        self.random, self.platform, self.starter, self.demo = random, platform, starter, demo
        self.changes = Changes(platform=platform)
        self._made = 0

    def bases(self, *statuses: str) -> list[Component]:
        there = [one for one in self.demo.components.values() if one.definition.base is None]
        return [one for one in there if not statuses or one.progress.status in statuses]

    async def anything(self) -> None:
        random, demo, platform = self.random, self.demo, self.platform
        instances = demo.variants["primary"].instances
        match random.randrange(11):
            case 0 if len(self.bases()) < 3:
                made = component(self._name("c"), copies=random.randrange(1, 4), model=model("m-1"))
                self.changes.create_component(demo, made)
            case 1 if there := self.bases(*LASTING):
                one, other = random.choice(there), model(random.choice(["m-1", "m-2", "broken"]))
                changed = replace(one.definition, model=other, copy_count=random.randrange(4))
                self.changes.update_component(demo, changed)
            case 2 if there := self.bases("InService"):
                one = random.choice(there)
                if all(copy.state is not CopyState.STARTING for copy in demo.copies_of(one.name)):
                    await platform.scale(demo, one, min(random.randrange(4), platform.left_for(demo, one).copies))
            case 3 if demo.copies:
                await platform.kill(random.choice(list(demo.copies.values())))
            case 4 if instances:
                await platform.restart_instance(demo, random.choice(instances))
            case 5 if there := self.bases("InService"):
                name = self._name(random.choice(["a", "a", "bad"]))
                self.changes.create_component(demo, component(name, base=random.choice(there).name))
            case 6 if demo.components:
                one = random.choice(list(demo.components.values()))
                if one.progress.status != "Deleting" and not [*demo.adapters_of(one.name)]:
                    self.changes.delete_component(demo, one)
            case 7:
                self.starter.failures = random.randrange(3)
            case 8 if demo.progress.status == "InService":
                hosts = replace(HOSTS, initial_instance_count=random.randrange(1, 4))
                self.changes.update(demo, replace(demo.definition, variants=(hosts,)))
            case _:
                await asyncio.sleep(random.choice([0, 0.001, 0.005, 0.02]))

    def _name(self, kind: str) -> str:
        self._made += 1
        return f"{kind}{self._made}"

    def unsettled(self) -> list[str]:
        """Return what is not at rest, or not as it is to be."""
        demo = self.demo
        found = [one.name for one in demo.components.values() if one.progress.status not in LASTING]
        found += [demo.name] if demo.progress.status != "InService" else []
        for one in self.bases("InService"):
            copies = demo.copies_of(one.name)
            found += [one.name] if len(copies) != one.desired_copies else []
            found += [copy.name for copy in copies if copy.model != one.definition.model]
        for copy in demo.copies.values():
            is_placed = copy.instance in demo.variants["primary"].instances and copy.component in demo.components
            is_at_rest = copy.state is CopyState.IN_SERVICE or (copy.state is CopyState.FAILED and not copy.counts())
            found += [] if is_placed and is_at_rest else [copy.name]
        served = sum(copy.state is CopyState.IN_SERVICE for copy in demo.copies.values())
        return found + (["living"] if len(self.starter.living) != served else [])


@pytest.mark.parametrize("seed", range(10))
def test_all_comes_to_rest(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "POLL_SECONDS", 0.002)
    random = Random(seed)
    starter = Starter(random)
    reports: list[str] = []

    async def main() -> None:
        settings = PlatformSettings(
            room=Room(copies=8, instances=8), restart_seconds=0.003, ping_seconds=0.0, drain_seconds=0.02
        )
        platform = Platform([], starter=starter, settings=settings, accelerators=lambda _: 4, report=reports.append)
        await platform.start()
        demo = Changes(platform=platform).create(endpoint(variants=(HOSTS,)))
        while demo.progress.status != "InService":
            await asyncio.sleep(0.002)
        scene = Scene(random, platform, starter, demo)
        for _ in range(60):
            await scene.anything()
        starter.failures = 0
        async with asyncio.timeout(10):
            while scene.unsettled():
                await asyncio.sleep(0.005)
        await asyncio.sleep(0.05)
        assert scene.unsettled() == [], "it stays so"
        await platform.stop()
        await asyncio.sleep(0.02)
        assert starter.living == set()

    asyncio.run(main())
    assert [line for line in reports if "in the background" in line] == []
