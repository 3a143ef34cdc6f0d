"""The next result is made in a thread while the caller deals with the last one."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Barrier, Event, get_ident

import pytest

from es_simhash.ahead import ahead


def test_results_come_in_the_order_of_the_items() -> None:
    assert list(ahead(str, range(100))) == [str(i) for i in range(100)]


def test_nothing_comes_of_nothing() -> None:
    assert list(ahead(str, [])) == []


def test_the_next_result_is_made_while_the_caller_has_the_last() -> None:
    begun = [Event() for _ in range(3)]

    def make(i: int) -> int:
        begun[i].set()
        return i

    made = ahead(make, range(3))
    next(made)
    assert begun[1].wait(10)
    assert not begun[2].is_set()


def test_as_many_results_as_there_are_threads_are_made_at_once() -> None:
    together = Barrier(3)
    made = ahead(lambda i: (i, together.wait(10)), range(9), threads=3)
    assert [i for i, _ in made] == list(range(9))


def test_items_are_read_in_the_thread_of_the_caller_and_results_made_in_another() -> None:
    def readers() -> Iterator[int]:
        while True:
            yield get_ident()

    made = ahead(lambda reader: (reader, get_ident()), readers())
    for _ in range(3):
        reader, maker = next(made)
        assert reader == get_ident() != maker


def test_an_item_that_cannot_be_read_is_told_after_what_was_made_before() -> None:
    def broken() -> Iterator[int]:
        yield 0
        yield 1
        raise OSError("lost")

    made = ahead(str, broken())
    assert [next(made), next(made)] == ["0", "1"]
    with pytest.raises(OSError, match="lost"):
        next(made)


def test_a_result_that_cannot_be_made_is_told_at_its_turn() -> None:
    made = ahead(lambda i: 1 // i, [1, 0, 1])
    assert next(made) == 1
    with pytest.raises(ZeroDivisionError):
        next(made)


def test_a_caller_may_stop_at_any_time() -> None:
    made = ahead(str, iter(int, 1))
    next(made)
    made.close()
    assert list(made) == []
