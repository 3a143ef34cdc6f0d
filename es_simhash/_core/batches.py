"""Work in batches: items cut into lists, results made ahead by threads, and stages that say how far a job is.

The threads are daemons, so that no process waits at its exit for one that hangs in a request.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Generator, Iterable, Iterator, Sized
from concurrent.futures import CancelledError, Future, InvalidStateError
from concurrent.futures import TimeoutError as NotDoneError  # the built-in one from Python 3.11 on
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar, copy_context
from functools import partial
from itertools import chain, islice
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, Literal, TypeAlias, TypeVar

from es_simhash.errors import EngineError

Item = TypeVar("Item")
Result = TypeVar("Result")

# Seconds that a failed or interrupted job waits for a server while it cleans up: what others depend on, and what would
# expire by itself.
MOMENT, BRIEFLY = 0.7, 0.2


class StoppedError(Exception):
    """Raised in work that is no longer needed."""


class Stop:
    """Ends the work of several threads: cancels what they wait for, and whatever they would begin next.

    ``reason`` is the error of the first that failed, if one did. The end of the ``outer`` work ends this one, too.
    """

    def __init__(self, outer: Stop | None = None) -> None:
        self._is_set = Event()
        self._lock = Lock()
        self._awaited: set[Future[Any]] = set()
        self._inner: list[Stop] = []
        self.reason: BaseException | None = None
        if outer:
            outer._inner.append(self)
            if outer._is_set.is_set():
                self.set(outer.reason)

    def set(self, reason: BaseException | None = None) -> None:
        """End the work; keep the first reason."""
        with self._lock:
            if not self._is_set.is_set():
                self.reason = reason
            self._is_set.set()
            awaited = list(self._awaited)
        for future in awaited:
            future.cancel()
        for inner in self._inner:
            inner.set(reason)

    def check(self) -> None:
        """Raise a `StoppedError` once the work is ended."""
        if self._is_set.is_set():
            raise StoppedError

    def sleep(self, seconds: float) -> None:
        """Sleep, unless the work is ended in the meantime."""
        if self._is_set.wait(seconds):
            raise StoppedError

    def result(self, future: Future[Result]) -> Result:
        """Wait for a future that is not marked as running, so that the end of the work can cancel it."""
        with self._lock:
            self.check()
            self._awaited.add(future)
        try:
            with _interruptible():
                return future.result()
        except CancelledError:
            raise StoppedError from None
        finally:
            with self._lock:
                self._awaited.discard(future)


def prefetched(
    make: Callable[[Item], Result], items: Iterable[Item], threads: int = 1, stop: Stop | None = None
) -> Generator[Result, None, None]:
    """Yield what ``make`` returns for each item, in order, working on one item per thread ahead of the caller.

    Items are read in the caller's thread, one per thread more than results were taken; an error is raised in its item's
    turn. A caller that stops, or is interrupted, or whose work ``stop`` ends, does not wait for unfinished results.
    """
    rest, stop = iter(items), stop or Stop()
    crew = _Crew(threads)
    waiting: deque[Future[Result]] = deque()
    try:
        while True:
            while len(waiting) <= threads and (begun := _begun(crew, make, rest)):
                waiting.append(begun)
            if not waiting:
                return
            yield stop.result(waiting.popleft())
    finally:
        crew.dismiss()


def each_made(make: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Generator[Result, None, None]:
    """Yield what ``make`` returns for each item, `prefetched` if there is more than one thread."""
    yield from map(make, items) if threads == 1 else prefetched(make, items, threads)


def in_a_moment(do: Callable[[], object], seconds: float = MOMENT) -> bool:
    """Run something that need not succeed, waiting at most a moment; return whether it was done.

    So a server that does not answer does not keep the process from ending.
    """
    crew = _Crew(1)
    done = crew.begin(do)
    crew.release()
    try:
        done.result(seconds)
    except (EngineError, NotDoneError):
        return False
    return True


def _begun(crew: _Crew, make: Callable[[Item], Result], rest: Iterator[Item]) -> Future[Result] | None:
    """Begin the next item, if there is one; an error of reading it becomes its result."""
    try:
        item = next(rest)
    except StopIteration:
        return None
    except Exception as error:
        unreadable: Future[Result] = Future()
        unreadable.set_exception(error)
        return unreadable
    return crew.begin(partial(make, item))


class _Crew:
    """A number of threads, each started when it has a task."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._started = 0
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def begin(self, make: Callable[[], Result]) -> Future[Result]:
        """Queue a task for the next idle thread, which runs it in the context of this one."""
        future: Future[Result] = Future()
        self._tasks.put(partial(copy_context().run, _settle, future, make))
        if self._started < self._size:
            self._started += 1
            with _interruptible():
                Thread(target=_work, args=(self._tasks,), name="es-simhash", daemon=True).start()
        return future

    def dismiss(self) -> None:
        """Drop what has not begun, and let each thread end."""
        with suppress(Empty):
            while True:
                self._tasks.get_nowait()
        self.release()

    def release(self) -> None:
        """Let each thread end once the queue is empty."""
        for _ in range(self._started):
            self._tasks.put(None)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise the interruption that came while Python took a lock again, though it complains that it has not taken it."""
    try:
        yield
    except RuntimeError as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        raise


def _work(tasks: SimpleQueue[Callable[[], None] | None]) -> None:
    while task := tasks.get():
        task()


def _settle(future: Future[Result], make: Callable[[], Result]) -> None:
    # No one waits for a cancelled future.
    with suppress(InvalidStateError):
        try:
            result = make()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)


Items: TypeAlias = Iterable[Item] | AsyncIterable[Item]


def chunks(items: Iterable[Item], size: int) -> Iterator[tuple[int, list[Item]]]:
    """Yield lists of consecutive items, each with the position of its first."""
    rest = iter(items)
    first = 0
    while chunk := list(islice(rest, size)):
        yield first, chunk
        first += len(chunk)


def begun(items: Iterable[Item]) -> Iterator[Item]:
    """Return the same items, and take the first at once, with what it takes to make it."""
    rest = iter(items)
    return chain(list(islice(rest, 1)), rest)


async def async_chunks(items: Items[Item], size: int) -> AsyncIterator[tuple[int, list[Item]]]:
    if not isinstance(items, AsyncIterable):
        for each in chunks(items, size):
            yield each
        return
    chunk: list[Item] = []
    first = 0
    async for item in items:
        chunk.append(item)
        if len(chunk) == size:
            yield first, chunk
            chunk, first = [], first + size
    if chunk:
        yield first, chunk


# The stages of all jobs. Those of pages of documents overlap in several threads.
Stage: TypeAlias = Literal[
    "survey", "documents", "prepare", "read", "compare", "write", "verify", "learn", "search", "delete"
]
Watch: TypeAlias = Callable[[Stage], AbstractContextManager[object]]

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
