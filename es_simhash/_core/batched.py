"""Iterables and asynchronous iterables cut into lists of consecutive items, read as they are needed."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from itertools import chain, islice
from typing import TypeAlias, TypeVar

Item = TypeVar("Item")
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
