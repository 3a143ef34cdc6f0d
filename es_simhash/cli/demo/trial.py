"""The trial: the corpus goes into an index, and every document is searched for in several ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TypeAlias

from es_simhash.cli.demo.corpus import Planted
from es_simhash.index import Index
from es_simhash.plans.add import Written
from es_simhash.plans.find_options import FindOptions

# The positions of two documents, ascending.
Pair: TypeAlias = tuple[int, int]
Advance: TypeAlias = Callable[[int], object]

# Beyond any family of the corpus, so that no match is cut off.
_SIZE = 1000


@dataclass(frozen=True)
class Way:
    """A way of searching: the options of ``es-simhash find``, and the keywords of `Index.find` that they mean."""

    options: str
    keywords: FindOptions


PLAIN = Way("", {})
WAYS = (
    PLAIN,
    Way("--no-verify", {"verify": "estimate"}),
    Way("--similarity 0.8", {"similarity": 0.8}),
    Way("--distance 3", {"distance": 3}),
    Way(
        "--measure overlap --similarity 0.9",
        {"measure": "overlap", "similarity": 0.9},
    ),
)


@dataclass(frozen=True)
class Rate:
    """How many were done in which time."""

    done: int
    seconds: float

    @property
    def per_second(self) -> float:
        """How many in a second."""
        return self.done / self.seconds


@dataclass(frozen=True)
class Found:
    """The pairs that a way found, and how fast it searched."""

    way: Way
    pairs: set[Pair]
    searches: Rate


def load(index: Index, documents: Sequence[Planted], advance: Advance) -> Rate:
    """Make the index and write the documents."""
    keywords = {name: {"type": "keyword"} for name in ("lang", "kind", "family")}
    index.init(create={"mappings": {"properties": keywords}})
    done = 0

    def count(written: Written) -> None:
        nonlocal done
        done += written.done
        advance(done)

    started = perf_counter()
    index.add((each.document for each in documents), refresh=True, on_written=count)
    return Rate(done, perf_counter() - started)


def search(index: Index, documents: Sequence[Planted], advance: Advance) -> Iterator[Found]:
    """What each way finds when it searches for every document by its id."""
    positions = {each.id: position for position, each in enumerate(documents)}
    done = 0
    for way in WAYS:
        pairs: set[Pair] = set()
        started = perf_counter()
        keywords: FindOptions = {**way.keywords, "size": _SIZE}
        for here, matches in enumerate(index.find_many(ids=positions, **keywords)):
            for match in matches:
                there = positions[match.id]
                pairs.add((min(here, there), max(here, there)))
            done += 1
            advance(done)
        yield Found(way, pairs, Rate(len(documents), perf_counter() - started))
