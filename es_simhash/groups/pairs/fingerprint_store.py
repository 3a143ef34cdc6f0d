"""The condensed fingerprints of all documents, and the keys by which candidates are found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import comb
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core import arrays
from es_simhash._core.arrays import Codes, words_per_code
from es_simhash.errors import InputError, SchemeError
from es_simhash.groups.pairs.candidates import POSITION_BITS, entries
from es_simhash.groups.pairs.scope_columns import ScopeColumns
from es_simhash.groups.pairs.spool import Spools
from es_simhash.groups.pairs.stored_rows import Columns, Encoded, Numbers, Rows, encoded
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.fingerprint import STATUSES
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scope import Scope
from es_simhash.scheme.settings import Layout, MinHash, Settings
from es_simhash.sketches.blocks import PrefixTables
from es_simhash.sketches.minhash.common import VALUE_BITS
from es_simhash.sketches.tradeoffs import band_probability, sharing

_EMPTY = STATUSES.index("empty")
# The rows kept at hand take this many times the memory of a spool; the fewest of them are a power of two.
_AS_ROWS, _LEAST_TILE = 9, 11


class FingerprintStore:
    """The fingerprints of all documents; once complete, ``compared`` marks those that are compared.

    ``value_bits`` bits of the signature's values are known: by default as many as are stored. With a scope, ``scopes``
    has that of each document.
    """

    def __init__(
        self, settings: Settings, spools: Spools, value_bits: int = VALUE_BITS, scope: Scope | None = None
    ) -> None:
        self.settings = settings
        self.scopes = ScopeColumns(scope, spools) if scope else None
        self._have_text: list[npt.NDArray[np.bool_]] = []
        tables: list[tuple[int, npt.DTypeLike]] = [(2, np.uint64)]
        if settings.simhash:
            tables.append((words_per_code(settings.simhash.bits), np.uint64))
        if settings.minhash:
            dtype = value_type(settings.minhash)
            tables.append((settings.minhash.size, dtype))
            self.value_bits = min(value_bits, 8 * dtype.itemsize)
        row_bytes = [width * np.dtype(kind).itemsize for width, kind in tables]
        self._rows_at_hand = _AS_ROWS * spools.limit // sum(row_bytes)
        made = [
            Columns(spools, width, kind, self._rows_at_hand * size)
            for (width, kind), size in zip(tables, row_bytes, strict=True)
        ]
        self._columns = tuple(made)
        self.contents = made.pop(0)
        if settings.simhash:
            self.simhashes = made.pop(0)
        if settings.minhash:
            self.values = made.pop(0)
        self.compared = self._has_text = np.empty(0, dtype=np.bool_)

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.contents)

    def add(self, condensed: Condensed) -> None:
        """Append condensed documents."""
        self._have_text.append(condensed.statuses != _EMPTY)
        self.contents.append(condensed.contents)
        if condensed.simhashes is not None:
            self.simhashes.append(condensed.simhashes)
        if condensed.values is not None:
            self.values.append(condensed.values)
        if len(self) > 1 << POSITION_BITS:
            raise InputError(f"There are more than {1 << POSITION_BITS:,} documents. Deduplicate them in parts.")

    def complete(self) -> None:
        """Finish appending. Documents with any features are compared, unless their scope is unknown."""
        self._has_text = np.concatenate([np.empty(0, dtype=np.bool_), *self._have_text])
        self._have_text.clear()
        self.contents.settle()
        self.compared = self._has_text.copy()
        if self.scopes:
            self.scopes.complete()
            self.compared &= self.scopes.known

    @property
    def tile_bits(self) -> int:
        """The number of documents, as a power of two, whose rows can be kept at hand; `POSITION_BITS` if all can."""
        if len(self) <= self._rows_at_hand:
            return POSITION_BITS
        return max(self._rows_at_hand.bit_length() - 1, _LEAST_TILE)

    def keep(self, rows: range | None) -> None:
        """From now on, keep the rows of these documents at hand once they are read; or those that are read first."""
        for columns in self._columns:
            columns.keep(rows)

    def load(self, positions: Sequence[int]) -> None:
        """Load the fingerprints of some documents, which is faster than one by one."""
        ascending = np.array(sorted(positions), dtype=np.int64)
        for columns in self._columns:
            columns.load(ascending)

    @property
    def empty(self) -> int:
        """The number of documents without features."""
        return len(self) - int(self._has_text.sum())

    @property
    def unscoped(self) -> int:
        """The number of other documents whose scope is unknown."""
        return int((self._has_text & ~self.scopes.known).sum()) if self.scopes else 0

    @property
    def is_by_pairs(self) -> bool:
        """Whether a scope may keep documents with equal texts apart that are near the same ones."""
        return bool(self.scopes and self.scopes.by_pairs)

    def by_content(self) -> Iterator[Numbers]:
        """Yield entries that, sorted, bring equal texts together."""
        return self._entries(self.contents.columns(range(1)))

    def by_key(self, criteria: Criteria) -> Iterator[Iterator[Numbers]]:
        """Yield, for each kind of key, the entries that, sorted, bring documents with the same key together.

        There is one for each table of values of the signature, and one for each table of SimHash prefixes.
        """
        for places in self._tables(criteria):
            yield self._entries(self.values.columns(places))
        for mask in self._masks(criteria.distance):
            yield self._of_simhash(mask)

    @property
    def compared_count(self) -> int:
        """The number of documents that are compared."""
        return int(np.count_nonzero(self.compared))

    def names_of_keys(self, criteria: Criteria) -> Iterator[str]:
        """Yield the name of each kind of key, in the same order."""
        yield from (f"values {', '.join(map(str, places))}" for places in self._tables(criteria))
        yield from (f"bits {number}" for number in range(len(self._masks(criteria.distance))))

    def _tables(self, criteria: Criteria) -> list[Sequence[int]]:
        if self.settings.minhash is None or criteria.similarity is None:
            return []
        return value_tables(self.settings.minhash, criteria)

    def _masks(self, distance: int | None) -> list[Codes]:
        if distance is None or self.settings.simhash is None:
            return []
        return prefix_tables(self.settings.simhash.bits, distance, len(self)).masks

    def _of_simhash(self, mask: Codes) -> Iterator[Numbers]:
        return self._entries(rows & mask for rows in self.simhashes.columns(range(len(mask))))

    def _entries(self, keys: Iterable[Rows]) -> Iterator[Numbers]:
        """Yield the entries of compared documents, whose keys are rows of numbers."""
        first = 0
        for rows in keys:
            kept = self.compared[first : first + len(rows)]
            found = entries(rows, first, kept)
            yield self.scopes.mixed(found, first, kept) if self.scopes else found
            first += len(rows)


Values: TypeAlias = npt.NDArray[np.uint8] | npt.NDArray[np.uint16] | npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Condensed:
    """Some condensed texts, a row each.

    ``contents`` are the first 128 bits of the SHA-256 of each text, as two words: among a billion texts, two different
    ones collide with a probability of 10**-21. ``values`` are the lowest bits of the signature's values. The ``texts``
    themselves are there unless fingerprints were stored without them.
    """

    statuses: npt.NDArray[np.uint8]
    contents: npt.NDArray[np.uint64]
    simhashes: Codes | None
    values: Values | None
    texts: Encoded | None = None

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.statuses)


def needed(settings: Settings, criteria: Criteria) -> Settings:
    """Reduce settings to the values that the criteria compare."""
    if criteria.similarity is None or settings.minhash is None:
        settings = replace(settings, minhash=None, layout=Layout())
    elif not has_own_keys(settings, criteria):
        check_found_by_values(settings.minhash, criteria)
    if criteria.distance is None:
        settings = replace(settings, simhash=None)
        if settings.minhash and not settings.minhash.is_weighted and settings.weights != "own":
            # The signature does not depend on weights, and these cost the least.
            settings = replace(settings, weights="tf", idf=None)
    return settings


def has_own_keys(settings: Settings, criteria: Criteria) -> bool:
    """Return whether texts that are similar enough share the scheme's own keys, as its thresholds ask."""
    assert settings.minhash
    assert criteria.similarity is not None
    return criteria.similarity >= (criteria.verification or settings.minhash).similarity


def value_type(minhash: MinHash) -> np.dtype[np.unsignedinteger[Any]]:
    """Choose the bytes kept of a signature's values: as many as hold the bits that keys do.

    Eight bits estimate nearly as well as all (Li, König, "b-bit minwise hashing", WWW 2010).
    """
    return np.dtype(f"u{next(size for size in (1, 2, 4) if 8 * size >= minhash.layout.value_bits)}")


def kept_bits(minhash: MinHash) -> np.uint32:
    """Return the lowest bits of a signature's values, those that keys hold."""
    return np.uint32((1 << minhash.layout.value_bits) - 1)


def condense(settings: Settings, texts: Sequence[str]) -> Condensed:
    """Condense texts."""
    found = fingerprinting.fingerprints_of_texts(settings, texts)
    values = None
    if settings.minhash and found.signatures is not None:
        values = (found.signatures & kept_bits(settings.minhash)).astype(value_type(settings.minhash))
    in_utf8 = encoded(texts)
    return Condensed(found.statuses, in_utf8.contents(), found.simhashes, values, in_utf8)


def content_numbers(contents: npt.NDArray[np.uint64]) -> Codes:
    """Return the content hashes that fields would hold, as numbers (see `own_fields.content_hash`)."""
    return contents[:, 0].byteswap() >> np.uint64(16)


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
    fewest = max(distance + 1, arrays.words_per_code(bits))
    count = fewest
    while (
        count < bits
        and documents * 2.0 ** -PrefixTables(bits, count, distance).prefix_bits[-1] > _NEIGHBOURS
        and comb(count + 1, distance) <= _MOST_TABLES
    ):
        count += 1
    return PrefixTables(bits, count, distance)
