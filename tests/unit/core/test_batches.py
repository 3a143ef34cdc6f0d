"""The next result is made in a thread while the caller deals with the last one."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Barrier, Event, Lock, Thread, Timer, get_ident
from threading import enumerate as enumerate_threads

import pytest

from es_simhash._core.batches import Stop, StoppedError, in_a_moment, prefetched
from es_simhash.errors import EngineError


def test_results_come_in_the_order_of_the_items() -> None:
    assert list(prefetched(str, range(100))) == [str(i) for i in range(100)]


def test_nothing_comes_of_nothing() -> None:
    assert list(prefetched(str, [])) == []


def test_the_next_result_is_made_while_the_caller_has_the_last() -> None:
    begun = [Event() for _ in range(3)]

    def make(i: int) -> int:
        begun[i].set()
        return i

    made = prefetched(make, range(3))
    next(made)
    assert begun[1].wait(10)
    assert not begun[2].is_set()


def test_as_many_results_as_there_are_threads_are_made_at_once() -> None:
    together = Barrier(3)
    made = prefetched(lambda i: (i, together.wait(10)), range(9), threads=3)
    assert [i for i, _ in made] == list(range(9))


def test_items_are_read_in_the_thread_of_the_caller_and_results_made_in_another() -> None:
    def readers() -> Iterator[int]:
        while True:
            yield get_ident()

    made = prefetched(lambda reader: (reader, get_ident()), readers())
    for _ in range(3):
        reader, maker = next(made)
        assert reader == get_ident() != maker


def test_an_item_that_cannot_be_read_raises_after_the_results_before_it() -> None:
    def broken() -> Iterator[int]:
        yield 0
        yield 1
        raise OSError("lost")

    made = prefetched(str, broken())
    assert [next(made), next(made)] == ["0", "1"]
    with pytest.raises(OSError, match="lost"):
        next(made)


def test_a_result_that_cannot_be_made_raises_in_its_turn() -> None:
    made = prefetched(lambda i: 1 // i, [1, 0, 1])
    assert next(made) == 1
    with pytest.raises(ZeroDivisionError):
        next(made)


def test_a_caller_may_stop_at_any_time() -> None:
    made = prefetched(str, iter(int, 1))
    next(made)
    made.close()
    assert list(made) == []


def test_the_threads_keep_no_process_from_ending() -> None:
    made = prefetched(lambda _: [each.daemon for each in enumerate_threads() if each.name == "es-simhash"], range(2))
    assert all(next(made))


def test_an_interruption_while_a_thread_starts_is_not_an_other_error(monkeypatch: pytest.MonkeyPatch) -> None:
    start = Thread.start

    def start_and_be_interrupted(thread: Thread) -> None:
        start(thread)
        lock = Lock()
        with lock:
            lock.release()  # as Python does while it waits for the thread to begin
            raise KeyboardInterrupt

    monkeypatch.setattr(Thread, "start", start_and_be_interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(prefetched(str, range(2)))


# --- the end of work


def test_the_end_of_work_ends_a_wait_for_a_result() -> None:
    stop, hangs = Stop(), Event()
    made = prefetched(lambda _: hangs.wait(), range(2), stop=stop)
    Timer(0.01, stop.set).start()
    with pytest.raises(StoppedError):
        next(made)
    hangs.set()


def test_the_end_of_work_ends_a_sleep() -> None:
    stop = Stop()
    Timer(0.01, stop.set).start()
    with pytest.raises(StoppedError):
        stop.sleep(10_000)


def test_the_end_of_work_ends_the_work_within_it_but_not_the_other_way_round() -> None:
    outer = Stop()
    before, ended = Stop(outer), Stop(outer)
    ended.set()
    outer.check()
    outer.set()
    for inner in (before, Stop(outer)):
        with pytest.raises(StoppedError):
            inner.check()


def test_nothing_is_waited_for_after_the_end_of_work() -> None:
    stop = Stop()
    made = prefetched(str, range(9), stop=stop)
    next(made)
    stop.set()
    with pytest.raises(StoppedError):
        next(made)


def test_the_first_reason_for_the_end_of_work_stays() -> None:
    stop, first = Stop(), ValueError("first")
    stop.set(first)
    stop.set(ValueError("second"))
    assert stop.reason is first


def test_what_need_not_succeed_is_waited_for_a_moment_only() -> None:
    hangs = Event()
    assert not in_a_moment(hangs.wait, 0.01)
    hangs.set()


def test_what_need_not_succeed_may_fail_for_the_engine_only() -> None:
    def fail(error: Exception) -> None:
        raise error

    assert in_a_moment(lambda: None)
    assert not in_a_moment(lambda: fail(EngineError("away")))
    with pytest.raises(ZeroDivisionError):
        in_a_moment(lambda: fail(ZeroDivisionError()))
