"""Stages of a job, which say what it does now to those who watch it; if nobody does, nothing happens."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from threading import Lock
from typing import Any, Literal, TypeAlias, TypeVar

# The stages of all jobs. Those of pages of documents overlap in several threads.
Stage: TypeAlias = Literal[
    "survey", "documents", "prepare", "read", "compare", "write", "verify", "learn", "search", "delete"
]
Watch: TypeAlias = Callable[[Stage], AbstractContextManager[object]]

Item = TypeVar("Item")

# Items are counted in steps of this many.
_ITEMS = 100

Done = TypeVar("Done")
# Called with what is done so far: a number, the counts of a job, or the name of a step.
OnProgress: TypeAlias = Callable[[Done], object]
# Shows a count: what is being done, the total, and what is counted.
Show: TypeAlias = Callable[[str, int, str], AbstractContextManager[OnProgress[int]]]

_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)
_show: ContextVar[Show | None] = ContextVar("show", default=None)
# Says that a job goes on with what an interrupted one kept there.
SayResumed: TypeAlias = Callable[[object], object]
_say_resumed: ContextVar[SayResumed | None] = ContextVar("say_resumed", default=None)


def stage(name: Stage) -> AbstractContextManager[object]:
    """Return a context for one stage of a job, which those who watch it see begin and end."""
    watch = _watch.get()
    return watch(name) if watch else nullcontext()


@contextmanager
def counting(doing: str, total: int, unit: str = "documents") -> Iterator[OnProgress[int]]:
    """Yield a function that reports how much of one count of a job is done; at the end, all is."""
    show = _show.get()
    if show is None:
        yield lambda done: None
        return
    with show(doing, total, unit) as advance:
        yield lambda done: advance(min(done, total))
        advance(total)


def counted_arrays(doing: str, arrays: Iterable[Sized], total: int, unit: str) -> Iterator[Any]:
    """Yield arrays, and count their rows."""
    done = 0
    with counting(doing, total, unit) as advance:
        for some in arrays:
            yield some
            done += len(some)
            advance(done)


def counted_each(doing: str, items: Iterable[Item], total: int, unit: str = "documents") -> Iterator[Item]:
    """Yield items, and count them."""
    with counting(doing, total, unit) as advance:
        for done, item in enumerate(items):
            if done % _ITEMS == 0:
                advance(done)
            yield item


def resumed(state: object) -> None:
    """Let those who watch a job know that it goes on with what an interrupted one kept in ``state``."""
    if say := _say_resumed.get():
        say(state)


@contextmanager
def counts_shown(show: Show, say_resumed: SayResumed | None = None) -> Iterator[None]:
    """Let ``show`` show the counts of all jobs within the block, and ``say_resumed`` say which go on with others."""
    token, other = _show.set(show), _say_resumed.set(say_resumed)
    try:
        yield
    finally:
        _say_resumed.reset(other)
        _show.reset(token)


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Show ``watch`` the stages of all jobs within the block, also those in threads that these start."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


# Python looks after 700 new objects by default: a tenth of the time of a job that has thousands on their way.
_NEW_OBJECTS = 50_000


_jobs_lock = Lock()
# The thresholds before the first of the jobs that run, once for each of these.
_before: list[tuple[int, int, int]] = []


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Let Python look for cyclic garbage rarely within the block; a caller that looks even less often is left alone."""
    with _jobs_lock:
        before = _before[0] if _before else gc.get_threshold()
        # A threshold of 0 stands for never.
        if not _before and 0 < before[0] < _NEW_OBJECTS:
            gc.set_threshold(_NEW_OBJECTS, *before[1:])
        _before.append(before)
    try:
        yield
    finally:
        with _jobs_lock:
            before = _before.pop()
            if not _before:
                gc.set_threshold(*before)
