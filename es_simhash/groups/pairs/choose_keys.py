"""Choosing the keys by which all pairs of near-duplicates are found: values of a signature, prefixes of a SimHash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from math import comb

from es_simhash._core import bit_codes
from es_simhash.errors import SchemeError
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.settings import MinHash
from es_simhash.sketches.blocks import PrefixTables
from es_simhash.sketches.tradeoffs import band_probability, sharing

# Tables find pairs that are just similar enough with at least the first probability, and need no more than the other.
_OFTEN, _SURELY = 0.75, 0.975
# The most values of a key, and how often each value may be used.
_MOST_VALUES, _MOST_TURNS = 5, 6
# Keys that a random document shares with fewer than this many others are selective enough.
_NEIGHBOURS = 1.0
# More tables than this take longer than the candidates of fewer ones.
_MOST_TABLES = 500


def value_tables(minhash: MinHash, criteria: Criteria) -> list[Sequence[int]]:
    """Choose tables that find pairs of the similarity nearly as reliably as a search; each is the places of values.

    To count how many bands each two documents share would take a step for each pair that shares one, whose number grows
    with its square. So a key of a table has more values than a band, as many as find these pairs in few tables, and
    values stand in several tables: those of a turn have each value once, in another order than those of other turns.
    """
    similarity, values = min(criteria.jaccard, minhash.similarity), minhash.layout.size
    wanted = min(max(sharing(similarity, minhash.layout, minhash.shared), _OFTEN), _SURELY)
    for rows in range(min(_MOST_VALUES, values), 0, -1):
        together = values // rows
        for turns in range(1, _MOST_TURNS + 1):
            if found_by_tables(similarity, values, rows, turns * together) >= wanted:
                return [table for turn in range(turns) for table in _turn(turn, rows, together)]
    return [[place] for place in range(values)]


@cache
def found_by_tables(similarity: float, values: int, rows: int, tables: int) -> float:
    """Return the probability that a pair agrees on all values of a table.

    If it agrees on n of the values, these are any, so it agrees on those of a table with C(n, rows) / C(values, rows).
    """
    agreeing = (comb(values, n) * similarity**n * (1 - similarity) ** (values - n) for n in range(values + 1))
    together = comb(values, rows)
    return sum(share * (1 - (1 - comb(n, rows) / together) ** tables) for n, share in enumerate(agreeing))


def check_found_by_values(minhash: MinHash, criteria: Criteria) -> None:
    """Refuse a similarity so low that even keys of one value miss many of the pairs."""
    if band_probability(criteria.jaccard, minhash.layout.size, 1) < _OFTEN:
        raise SchemeError(
            f"Signatures of {minhash.size} values cannot find pairs of the similarity {criteria.similarity}. "
            "Choose a higher one, or a larger signature."
        )


def _turn(turn: int, rows: int, tables: int) -> Iterator[Sequence[int]]:
    """Yield tables that have each value at most once; two of different turns have at most one in common.

    The values stand in ``tables`` lines of ``rows``; the turn t takes one of each column, each t lines below the last.
    """
    for table in range(tables):
        if turn == 0:
            yield range(table * rows, (table + 1) * rows)
        else:
            yield [(table + turn * row) % tables * rows + row for row in range(rows)]


def prefix_tables(bits: int, distance: int, documents: int) -> PrefixTables:
    """Choose Manku's tables with the fewest blocks whose keys are selective among this many documents."""
    fewest = max(distance + 1, bit_codes.words_per_code(bits))
    count = fewest
    while (
        count < bits
        and documents * 2.0 ** -PrefixTables(bits, count, distance).prefix_bits[-1] > _NEIGHBOURS
        and comb(count + 1, distance) <= _MOST_TABLES
    ):
        count += 1
    return PrefixTables(bits, count, distance)
