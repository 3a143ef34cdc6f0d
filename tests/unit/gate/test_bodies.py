"""Bodies that come slowly, in any parts, or too many at once; hours pass in no time here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from es_simhash.gate import limits
from es_simhash.gate.bodies import Bodies, Lines, Reading, RefusedError
from tests.support.timeless import run_timeless

# Parts of a body, each with the seconds that pass before it.
Parts = Iterable[tuple[float, bytes]]


def receiving(parts: Parts, *, ends: bool = True) -> Callable[[], Any]:
    """Return what an application is given to read from; a body that does not end is waited for."""
    left = iter(parts)

    async def receive() -> Any:
        for seconds, part in left:
            await asyncio.sleep(seconds)
            return {"type": "http.request", "body": part, "more_body": True}
        if not ends:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": b"", "more_body": False}

    return receive


def whole(parts: Parts, *, ends: bool = True) -> bytes:
    async def read() -> bytes:
        with Bodies().reading(receiving(parts, ends=ends)) as reading:
            return await reading.whole()

    return run_timeless(read())


def lines(parts: Parts, *, ends: bool = True, answer_takes: float = 0.0) -> list[bytes]:
    found: list[bytes] = []

    async def read() -> None:
        with Bodies().reading(receiving(parts, ends=ends)) as reading:
            async for some in reading.lines():
                found.extend(some)
                await asyncio.sleep(answer_takes)

    run_timeless(read())
    return found


def test_a_slow_upload_that_goes_on_is_read_to_its_end() -> None:
    sent = [(1.0, b"x" * 2048)] * 4096
    assert len(whole(sent)) == limits.BODY


@pytest.mark.parametrize("seconds", [1.0, 29.0])
def test_a_body_that_comes_byte_by_byte_is_refused(seconds: float) -> None:
    with pytest.raises(RefusedError, match=r"Less than 32,768 bytes came in 30 s") as found:
        whole([(seconds, b"x")] * 1000)
    assert found.value.status == 408


def test_a_body_that_stops_is_refused() -> None:
    with pytest.raises(RefusedError, match=r"Send it again, faster"):
        whole([(0.0, b"x" * 1_000_000)], ends=False)


def test_lines_may_come_hours_apart() -> None:
    sent = [(3500.0, b'{"a": 1}\n')] * 20
    assert lines(sent, answer_takes=5000.0) == [b'{"a": 1}'] * 20


def test_the_beginning_of_a_line_may_wait_in_the_buffer_of_its_client() -> None:
    assert lines([(0.0, b"first\nsec"), (3000.0, b"ond\n")]) == [b"first", b"second"]


def test_lines_that_end_for_good_without_the_end_of_the_body_are_not_waited_for() -> None:
    with pytest.raises(RefusedError, match=r"came in 3600 s"):
        lines([(0.0, b"first\n")], ends=False)


def test_the_room_that_a_long_line_takes_is_not_held_for_long() -> None:
    with pytest.raises(RefusedError, match=r"came in 30 s"):
        lines([(0.0, b"x" * 100_000)], ends=False)


@given(
    st.lists(st.sampled_from([b"a", b"bc", b" ", b"", b"{}", b"\r"]), max_size=30),
    st.lists(st.integers(0, 12), max_size=12),
    st.booleans(),
)
def test_lines_are_the_same_however_they_are_parted(sent: list[bytes], places: list[int], ended: bool) -> None:
    text = b"\n".join(sent) + (b"\n" if ended else b"")
    cuts = sorted({min(each, len(text)) for each in places} | {0, len(text)})
    made, found = Lines(100), []
    for start, end in pairwise(cuts):
        for some in made.of(text[start:end]):
            found += some
    assert found + made.last() == [line.strip() for line in text.split(b"\n") if line.strip()]


def test_lines_before_one_that_is_too_long_are_answered_first() -> None:
    found = Lines(5).of(b"one\ntwo\nlonger\nlast\n")
    assert next(found) == [b"one", b"two"]
    with pytest.raises(RefusedError, match=r"A line has at most 5 bytes"):
        next(found)
    with pytest.raises(RefusedError, match=r"A line has at most 5 bytes"):
        list(Lines(5).of(b"without end"))


def test_what_is_announced_takes_no_room_until_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "AT_WORK", 1 << 20)

    async def read() -> None:
        bodies = Bodies(1 << 20)
        slow = [asyncio.create_task(reads(bodies, [(0.0, b"x")], ends=False)) for _ in range(20)]
        await asyncio.sleep(1)
        assert len(await reads(bodies, [(0.0, b"x" * 500_000)] * 2)) == 1_000_000
        for each in slow:
            each.cancel()

    run_timeless(read())


async def reads(bodies: Bodies, parts: Parts, *, ends: bool = True) -> bytes:
    with bodies.reading(receiving(parts, ends=ends)) as reading:
        return await reading.whole()


def test_slow_bodies_make_way_for_others_the_greatest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "AT_WORK", 1 << 20)

    async def read() -> None:
        bodies = Bodies(1 << 20)
        small = asyncio.create_task(reads(bodies, [(0.0, b"x" * 200_000)], ends=False))
        large = asyncio.create_task(reads(bodies, [(0.0, b"x" * 800_000)], ends=False))
        await asyncio.sleep(1)
        # A moment ago they were quick.
        with pytest.raises(RefusedError, match=r"Too many requests are at work"):
            await reads(bodies, [(0.0, b"x" * 500_000)])
        await asyncio.sleep(limits.MAKES_WAY)
        assert len(await reads(bodies, [(0.0, b"x" * 500_000)])) == 500_000
        with pytest.raises(RefusedError, match=r"others needed its room"):
            await large
        assert not small.done()
        small.cancel()
        await asyncio.wait([small])
        assert bodies.at_work == 0

    run_timeless(read())


def test_small_requests_are_read_whatever_others_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "AT_WORK", 1 << 20)
    bodies = Bodies(1 << 20)
    with Reading(bodies, receiving([])) as large, Reading(bodies, receiving([])) as small:
        large.hold((1 << 20) + limits.UNCOUNTED)
        small.hold(limits.UNCOUNTED)
        with pytest.raises(RefusedError, match=r"Too many requests"):
            small.hold(1)
        large.hold(-limits.UNCOUNTED)
        small.hold(1000)
    assert bodies.at_work == 0
