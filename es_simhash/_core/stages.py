"""Stages of a job, which say what it does now to those who watch it; if nobody does, nothing happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Literal, TypeAlias

# The stages of all jobs. Those of pages of documents overlap in several threads.
Stage: TypeAlias = Literal[
    "survey", "documents", "prepare", "read", "compare", "write", "verify", "learn", "search", "delete"
]
Watch: TypeAlias = Callable[[Stage], AbstractContextManager[object]]

_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


def stage(name: Stage) -> AbstractContextManager[object]:
    """Return a context for one stage of a job, which those who watch it see begin and end."""
    watch = _watch.get()
    return watch(name) if watch else nullcontext()


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Show ``watch`` the stages of all jobs within the block, also those in threads that these start."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)
