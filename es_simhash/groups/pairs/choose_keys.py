"""Choosing the keys by which candidates are found: bands of a signature, and prefixes of a SimHash.

Whole signatures are stored, so the bands are chosen for the wanted similarity, not for the scheme's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate
from math import comb

from es_simhash._core import bit_codes
from es_simhash._core.bit_codes import Codes
from es_simhash.errors import SchemeError
from es_simhash.scheme.settings import MinHash
from es_simhash.sketches.manku import PrefixTables
from es_simhash.sketches.tradeoffs import band_probability, plan_bands

_SURELY = 0.999
# Keys that are stored nowhere may be as wide as any.
_WIDEST = 60
# Keys that a random document shares with fewer than this many others are selective enough.
_NEIGHBOURS = 1.0
# More tables than this take longer than the candidates of fewer ones.
_MOST_TABLES = 500


def with_bands_for(minhash: MinHash, similarity: float) -> MinHash:
    """Give a signature the most selective bands that find pairs of this similarity reliably enough.

    That means with the probability of the scheme's own bands at this similarity, or at the scheme's if that is higher;
    but at most with 0.999, since more similar pairs are found more reliably.
    """
    surely = band_probability(max(similarity, minhash.similarity), minhash.bands, minhash.rows)
    try:
        plan = plan_bands(similarity, min(surely, _SURELY), minhash.size, documents=0)
    except SchemeError as error:
        raise SchemeError(
            f"Signatures of {minhash.size} values cannot find pairs of the similarity {similarity}. "
            "Choose a higher one, or a larger signature."
        ) from error
    return replace(minhash, bands=plan.bands, rows=plan.rows, key_bits=_WIDEST)


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


def masks(tables: PrefixTables) -> Iterator[Codes]:
    """Yield the bits of each table's chosen blocks, as an array of one or two words."""
    ends = accumulate(tables.blocks.widths)
    blocks = [(1 << width) - 1 << tables.bits - end for width, end in zip(tables.blocks.widths, ends, strict=True)]
    for choice in tables.choices:
        yield bit_codes.from_ints([sum(blocks[block] for block in choice)], tables.bits).reshape(-1)
