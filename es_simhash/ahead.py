"""Working ahead: the next result is made in a thread while the caller deals with the last one."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def ahead(make: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result, None, None]:
    """What is made of each item, in their order.

    Items are read in the caller's thread, one more than results were taken; an error comes where its item stands. A
    caller that stops, or is interrupted, does not wait for what is being made.
    """
    rest = iter(items)
    thread = ThreadPoolExecutor(1)
    try:
        waiting = _begun(thread, make, rest)
        while waiting:
            following = _begun(thread, make, rest)
            yield waiting.result()
            waiting = following
    finally:
        thread.shutdown(wait=False, cancel_futures=True)


def _begun(thread: ThreadPoolExecutor, make: Callable[[Item], Result], rest: Iterator[Item]) -> Future[Result] | None:
    """The result of the next item, if there is one, or the error with which it could not be read."""
    try:
        item = next(rest)
    except StopIteration:
        return None
    except Exception as error:
        unreadable: Future[Result] = Future()
        unreadable.set_exception(error)
        return unreadable
    return thread.submit(make, item)
