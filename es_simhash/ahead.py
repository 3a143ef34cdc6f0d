"""Working ahead: the next results are made in threads while the caller deals with the last one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def ahead(make: Callable[[Item], Result], items: Iterable[Item], threads: int = 1) -> Generator[Result, None, None]:
    """What is made of each item, in their order, of as many at once as there are threads.

    Items are read in the caller's thread, as many more than results were taken; an error comes where its item stands. A
    caller that stops, or is interrupted, does not wait for what is being made.
    """
    rest = iter(items)
    pool = ThreadPoolExecutor(threads)
    waiting: deque[Future[Result]] = deque()
    try:
        while True:
            while len(waiting) <= threads and (begun := _begun(pool, make, rest)):
                waiting.append(begun)
            if not waiting:
                return
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _begun(pool: ThreadPoolExecutor, make: Callable[[Item], Result], rest: Iterator[Item]) -> Future[Result] | None:
    """The result of the next item, if there is one, or the error with which it could not be read."""
    try:
        item = next(rest)
    except StopIteration:
        return None
    except Exception as error:
        unreadable: Future[Result] = Future()
        unreadable.set_exception(error)
        return unreadable
    return pool.submit(make, item)
