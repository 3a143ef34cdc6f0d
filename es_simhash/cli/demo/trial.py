"""The trial: load the corpus into an index, and search for every document in several ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias

from es_simhash._core.stages import OnProgress
from es_simhash.cli.demo.corpus import CorpusDocument
from es_simhash.index import Index

if TYPE_CHECKING:
    from es_simhash.plans.keywords import FindKeywords

# The positions of two documents in ascending order.
Pair: TypeAlias = tuple[int, int]

# More than any family of the corpus has, so that no match is cut off.
_SIZE = 1000


@dataclass(frozen=True)
class Way:
    """A way of searching: the options of ``es-simhash find``, and the same keywords of `Index.find`."""

    options: str
    keywords: FindKeywords


PLAIN = Way("", {})
WAYS = (
    PLAIN,
    Way("--estimate", {"estimate": True}),
    Way("--similarity 0.8", {"similarity": 0.8}),
    Way("--distance 3", {"distance": 3}),
)


@dataclass(frozen=True)
class Rate:
    """A number of operations, and the time they took."""

    done: int
    seconds: float

    @property
    def per_second(self) -> float:
        """The number per second."""
        return self.done / self.seconds


@dataclass(frozen=True)
class WayResult:
    """The pairs that one way of searching found, and its speed."""

    way: Way
    pairs: set[Pair]
    searches: Rate


@dataclass(frozen=True)
class GroupedDocuments:
    """The documents of a group, and those of them that others stand for."""

    documents: list[CorpusDocument]
    duplicates: list[CorpusDocument]


def load(index: Index, documents: Sequence[CorpusDocument], advance: OnProgress[int]) -> Rate:
    """Make the index, and write the documents."""
    keywords = {name: {"type": "keyword"} for name in ("lang", "kind", "family")}
    index.init(create={"mappings": {"properties": keywords}})
    started = perf_counter()
    documents_ = (each.document for each in documents)
    written = index.add(documents_, refresh=True, on_progress=lambda now: advance(now.done))
    return Rate(written.done, perf_counter() - started)


def search(index: Index, documents: Sequence[CorpusDocument], advance: OnProgress[int]) -> Iterator[WayResult]:
    """Search for every document by its id in each way."""
    positions = {each.id: position for position, each in enumerate(documents)}
    done = 0
    for way in WAYS:
        pairs: set[Pair] = set()
        started = perf_counter()
        keywords: FindKeywords = {**way.keywords, "size": _SIZE}
        for here, matches in enumerate(index.find_many(ids=positions, **keywords)):
            for match in matches:
                there = positions[match.id]
                pairs.add((min(here, there), max(here, there)))
            done += 1
            advance(done)
        yield WayResult(way, pairs, Rate(len(documents), perf_counter() - started))


def group(index: Index, documents: Sequence[CorpusDocument]) -> list[GroupedDocuments]:
    """Group all documents, the largest groups first."""
    positions = {each.id: position for position, each in enumerate(documents)}
    with index.group() as grouped:
        return [
            GroupedDocuments(
                [documents[positions[member.id]] for member in found.members],
                [documents[positions[member.id]] for member in found.members if not member.is_canonical],
            )
            for found in grouped
        ]
