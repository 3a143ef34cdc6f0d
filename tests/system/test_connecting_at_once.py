"""An `AsyncIndex` that several tasks use first at the same time has one connection, which is closed once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Barrier
from typing import Any

import pytest

from es_simhash.engines.base import AsyncEngine
from es_simhash.engines.connect import connect_async
from es_simhash.errors import MissingError, UnreachableError
from es_simhash.index import AsyncIndex, Index
from es_simhash.index import connections as connection
from tests.support.whole_indices import FIELDS

AT_ONCE = 8


@dataclass
class Counted:
    """The engines that were made, each with how often it was closed; the first ``failing`` attempts fail."""

    closed: dict[int, int] = field(default_factory=dict)
    engines: list[AsyncEngine] = field(default_factory=list)
    attempts: int = 0
    failing: int = 0
    waits: Callable[[], Awaitable[Any]] | None = None

    async def connect(self, target: Any) -> AsyncEngine:
        self.attempts += 1
        if self.waits:
            await self.waits()
        if self.attempts <= self.failing:
            raise UnreachableError("away")
        engine = await connect_async(target)
        number, close = len(self.engines), engine.close
        self.engines.append(engine)
        self.closed[number] = 0

        async def count() -> None:
            self.closed[number] += 1
            await close()

        engine.close = count  # type: ignore[method-assign]
        return engine


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counted = Counted()
    monkeypatch.setattr(connection, "connect_async", counted.connect)
    return counted


async def look(index: AsyncIndex) -> None:
    with pytest.raises(MissingError):
        await index.find("a text")


def test_tasks_that_use_it_first_at_once_share_a_connection(place: str, counted: Counted) -> None:
    async def all_at_once() -> None:
        async with AsyncIndex("no-such-index", place, fields=FIELDS) as index:
            await asyncio.gather(*(look(index) for _ in range(AT_ONCE)))
            await look(index)
        await index.close()

    asyncio.run(all_at_once())
    assert counted.closed == {0: 1}


def test_each_task_that_waits_for_it_can_be_cancelled(place: str, counted: Counted) -> None:
    async def first_is_cancelled() -> None:
        may_connect = asyncio.Event()
        counted.waits = may_connect.wait if place.startswith("http") else None
        async with AsyncIndex("no-such-index", place, fields=FIELDS) as index:
            first, *others = [asyncio.create_task(look(index)) for _ in range(AT_ONCE)]
            await asyncio.sleep(0)
            first.cancel()
            await asyncio.wait([first])
            may_connect.set()
            await asyncio.gather(*others)

    asyncio.run(first_is_cancelled())
    assert counted.closed == {0: 1}


def test_what_was_begun_for_tasks_that_were_cancelled_is_closed_as_well(counted: Counted) -> None:
    async def all_are_cancelled() -> None:
        counted.waits = asyncio.Event().wait
        async with AsyncIndex("news", "http://127.0.0.1:9", fields=FIELDS) as index:
            tasks = [asyncio.create_task(look(index)) for _ in range(AT_ONCE)]
            await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(all_are_cancelled())
    assert (counted.attempts, counted.engines) == (1, [])


def test_the_next_use_tries_again_where_connecting_failed(place: str, counted: Counted) -> None:
    counted.failing = 1

    async def tried_twice() -> None:
        async with AsyncIndex("no-such-index", place, fields=FIELDS) as index:
            with pytest.raises(UnreachableError):
                await index.find("a text")
            await look(index)

    asyncio.run(tried_twice())
    assert (counted.attempts, counted.closed) == (2, {0: 1})


def test_it_serves_several_event_loops(place: str, counted: Counted) -> None:
    index = AsyncIndex("no-such-index", place, fields=FIELDS)
    begun, used, closed = Barrier(3), Barrier(3), Barrier(3)

    async def in_a_loop(closes: bool) -> None:
        begun.wait()
        await asyncio.gather(*(look(index) for _ in range(3)))
        await asyncio.to_thread(used.wait)
        if closes:
            await index.close()
        # The others' loops run until their clients are closed.
        await asyncio.to_thread(closed.wait)

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(asyncio.run, [in_a_loop(closes) for closes in (True, False, False)]))
    assert set(counted.closed.values()) == {1}
    assert len(counted.closed) == (3 if place.startswith("http") else 1)


def test_loops_that_follow_one_another_each_work(place: str, counted: Counted) -> None:
    index = AsyncIndex("no-such-index", place, fields=FIELDS)

    async def used_and_closed() -> None:
        await look(index)
        await index.close()

    for _ in range(3):
        asyncio.run(used_and_closed())
    assert counted.closed == {0: 1, 1: 1, 2: 1}


def test_threads_share_the_engine_of_a_synchronous_index(place: str) -> None:
    with Index("no-such-index", place, fields=FIELDS) as index:
        engine = index.engine

        def look_too(_: int) -> bool:
            with pytest.raises(MissingError):
                index.find("a text")
            return index.engine is engine

        with ThreadPoolExecutor(AT_ONCE) as threads:
            assert all(threads.map(look_too, range(AT_ONCE)))
