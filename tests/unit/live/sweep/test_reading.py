"""Reading page by page: how many documents at once, and which of their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from es_simhash._core.json_codec import Json
from es_simhash.engines.base import run
from es_simhash.errors import TooLargeError
from es_simhash.live.sweep.reading import Reading
from es_simhash.plans.operations import HitPage, OpenReader, Operation, Reader, ReadPage


class Pages:
    """A server with documents of one length; a part of each is wanted."""

    def __init__(self, count: int, wanted: int, whole: int, kind: Any = "elasticsearch") -> None:
        self.count, self.kind = count, kind
        self.wanted: Json = {"a": "x" * wanted}
        self.whole: Json = {**self.wanted, "b": "x" * (whole - wanted)}
        self.most = 10_000
        self.before_page: Callable[[int], object] = lambda start: None
        self.asked: list[ReadPage] = []

    def perform(self, operation: Operation[Any]) -> Any:
        if isinstance(operation, OpenReader):
            return Reader(self.kind, operation.index, "id")
        if not isinstance(operation, ReadPage):
            return None
        if operation.size > self.most:
            raise TooLargeError("too many")
        self.asked.append(operation)
        start = operation.after or 0
        self.before_page(start)
        end = min(self.count, start + operation.size)
        source = self.whole if operation.whole or operation.source is True else self.wanted
        hits = [{"_id": str(i), "_source": source} for i in range(start, end)]
        return HitPage(hits, end, operation.reader)

    def close(self) -> None: ...

    def read(self, source: Any = ("a",)) -> list[str]:
        reading, found = Reading("i", {}, source, None, 0.0), []
        while hits := run(reading.next(), self):
            found += [hit["_id"] for hit in hits]
        assert found == [str(i) for i in range(self.count)]
        return found


def test_whole_documents_are_read_unless_they_are_far_longer_than_what_is_wanted() -> None:
    short, long = Pages(5_000, 100, 390), Pages(5_000, 100, 500)
    short.read()
    long.read()
    for pages in (short, long):
        assert [(each.size, each.source, each.whole) for each in pages.asked[:2]] == [
            (8, ("a",), False),
            (8, True, False),
        ]
    assert {each.whole for each in short.asked[2:]} == {True}
    assert {each.whole for each in long.asked[2:]} == {False}


def test_once_whole_documents_are_longer_it_is_tried_again() -> None:
    pages = Pages(30_000, 1_000, 1_100)
    later = {**pages.wanted, "b": "x" * 9_000}
    pages.before_page = lambda start: pages.__dict__.update(whole=later if start > 10_000 else pages.whole)
    pages.read()
    first = next(place for place, each in enumerate(pages.asked) if (each.after or 0) > 10_000)
    shown = [(each.source, each.whole) for each in pages.asked[first : first + 4]]
    assert shown == [(("a",), True), (("a",), False), (True, False), (("a",), False)]
    assert not any(each.whole for each in pages.asked[first + 1 :])


@pytest.mark.parametrize("kind", ["scroll", "embedded"])
def test_a_scroll_and_the_embedded_engine_read_what_is_wanted(kind: str) -> None:
    pages = Pages(1_000, 100, 100, kind)
    pages.read()
    assert {(each.source, each.whole) for each in pages.asked} == {(("a",), False)}


@pytest.mark.parametrize("source", [True, False])
def test_who_wants_all_or_nothing_gets_that(source: bool) -> None:
    pages = Pages(1_000, 100, 100)
    pages.read(source)
    assert {(each.source, each.whole) for each in pages.asked} == {(source, False)}


def test_pages_grow_to_a_megabyte_or_two_thousand_documents() -> None:
    for wanted, most in [(1, 2_000), (1_000, 1_030), (2_000_000, 1)]:
        pages = Pages(150 + 6 * most, wanted, wanted)
        pages.read()
        assert most <= pages.asked[-1].size <= 1.02 * most


def test_where_fewer_documents_are_allowed_at_once_fewer_are_read() -> None:
    pages = Pages(5_000, 10, 10)
    pages.most = 1_000
    pages.read()
    assert max(each.size for each in pages.asked) > 250
