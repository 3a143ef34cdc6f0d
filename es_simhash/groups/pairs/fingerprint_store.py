"""Fingerprints and scopes of all documents of a run, as columns that fit into a given memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from hashlib import sha256
from itertools import chain, compress, repeat
from math import comb
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from es_simhash._core import arrays
from es_simhash._core.arrays import Codes, Integers, distinct_numbers, spread_chunks, words_per_code
from es_simhash._core.dates import milliseconds_in
from es_simhash._core.json_codec import Json, column_at
from es_simhash.errors import InputError, SchemeError
from es_simhash.groups.pairs.candidates import (
    POSITION_BITS,
    POSITION_MASK,
    PairRows,
    Places,
    entries,
    pair_codes,
    positions,
)
from es_simhash.groups.pairs.stored_rows import Columns, Encoded, Numbers, Rows, Spools, encoded
from es_simhash.scheme import fingerprinting
from es_simhash.scheme.fingerprinting import STATUSES
from es_simhash.scheme.query import Criteria
from es_simhash.scheme.scope import Scope, ScopeValues, milliseconds_of, values_in
from es_simhash.scheme.settings import Layout, MinHash, Settings
from es_simhash.sketches.keys import PrefixTables, band_probability, sharing
from es_simhash.sketches.minhash.common import VALUE_BITS

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


def settings_needed(settings: Settings, criteria: Criteria) -> Settings:
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


_Words32 = npt.NDArray[np.uint32]

_POSITION = np.uint64(POSITION_BITS)
_VALUES_AT_ONCE = 1 << 17
_MARKS = np.uint64(32)
_NO_WORDS: _Words32 = np.empty(0, dtype=np.uint32)


class ScopeColumns:
    """The scope of all documents, which may lie in temporary files.

    It is ``by_pairs`` if documents that are in scope with the same one need not be in scope with each other. With the
    files, it takes 12 bytes a document with a window, 4 where values must agree, and 8 where they must differ.
    """

    def __init__(self, scope: Scope, spools: Spools) -> None:
        self._scope = scope
        self._known: list[npt.NDArray[np.bool_]] = []
        self._within = Columns(spools, 2, np.uint64)
        self._sets: list[_Words32] = []
        self._marks: list[_Words32] = []
        self._across = Columns(spools, 2, np.int64)
        self._values = Columns(spools, 2, np.uint64)
        self._dates = Columns(spools, 1, np.int64)
        self.known = np.empty(0, dtype=np.bool_)
        self.sets: _Words32 | None = None
        self._mark: _Words32 | None = None
        self._salt: _Words32 | None = None
        self._by_date: _ByDate | None = None

    @property
    def by_pairs(self) -> bool:
        """Whether being in scope is more than being in the same class."""
        return self._scope.is_by_pairs

    def add(self, rows: ScopeRows) -> None:
        """Append documents."""
        self._known.append(rows.known)
        if self._scope.within:
            self._within.append(rows.within)
        if self._scope.across:
            starts = len(self._values) + np.cumsum(rows.counts) - rows.counts
            self._across.append(np.stack([starts, rows.counts], axis=1))
            self._values.append(rows.values)
            self._sets.append(rows.sets)
            self._marks.append(_marks(rows))
        if self._scope.window:
            self._dates.append(rows.dates)

    def complete(self) -> None:
        """Finish appending."""
        for columns in (self._within, self._across, self._values):
            columns.settle()
        self.known = np.concatenate([np.empty(0, dtype=np.bool_), *self._known])
        if self._scope.across:
            self.sets, self._mark = (np.concatenate([_NO_WORDS, *each]) for each in (self._sets, self._marks))
        if self._scope.within:
            hashes = (rows[:, 0] >> _POSITION for rows in self._within.columns(range(1)))
            self._salt = np.concatenate([_NO_WORDS, *(each.astype(np.uint32) for each in hashes)])
        if self._scope.window:
            dates = np.concatenate(
                [np.empty(0, dtype=np.int64), *(rows[:, 0] for rows in self._dates.columns(range(1)))]
            )
            self._by_date = _ByDate.of(dates, self._scope.milliseconds)
        self._known.clear()
        self._sets.clear()
        self._marks.clear()

    # ---- the words that are sorted

    def mixed(self, entries: Numbers, first: int, kept: npt.NDArray[np.bool_]) -> Numbers:
        """Mix into entries what must agree, and put the rank by date into the place of the position.

        Then only documents that agree are neighbours, in the order of their dates. The entries are those of the
        documents ``kept`` from position ``first`` on.
        """
        here = slice(first, first + len(kept))
        if self._salt is not None:
            entries = entries ^ self._salt[here][kept].astype(np.uint64) << _POSITION
        return entries if self._by_date is None else entries & ~POSITION_MASK | self._by_date.ranks[here][kept]

    def documents(self, ranks: Numbers) -> Integers:
        """Return the positions of documents by their ranks."""
        return ranks.astype(np.int64) if self._by_date is None else self._by_date.order[ranks].astype(np.int64)

    def reach(self, words: Numbers, starts: Integers) -> Integers:
        """Return for each of sorted words the place of the first with its key, and in its window.

        ``starts`` are the places of the first ones with their keys.
        """
        if self._by_date is None:
            return starts
        lowest = words & ~POSITION_MASK | self._by_date.lowest[words & POSITION_MASK]
        return np.searchsorted(words, lowest)

    # ---- documents

    def has(self, position: int, document: Json) -> bool:
        """Return whether the scope of a document is as it was when it was read."""
        rows, at = ScopeRows.of([self._scope.values_of(document)]), np.array([position])
        if not rows.known[0] or not self.known[position]:
            return bool(rows.known[0] == self.known[position])
        if self._scope.within and not np.array_equal(self._within.take(at), rows.within):
            return False
        if self._scope.window and self._dates.take(at)[0, 0] != rows.dates[0]:
            return False
        return self.sets is None or bool(self.sets[position] == rows.sets[0])

    def mixed_groups(self, firsts: Integers, members: Integers) -> Integers:
        """Return the groups, by their first members, in which not all members agree, or some lack a value.

        A value may have changed since groups were written.
        """
        apart = ~(self.known[firsts] & self.known[members])
        if (agree := self.agree(PairRows(pair_codes(firsts, members)))) is not None:
            apart |= ~agree
        return distinct_numbers(firsts[apart])

    # ---- pairs

    def agree(self, rows: PairRows) -> npt.NDArray[np.bool_] | None:
        """Return which pairs have the values that must agree; None if none must."""
        return rows.are_equal(self._within) if self._scope.within else None

    def differ(self, codes: Numbers) -> Numbers:
        """Return those of the pairs that share no value which must differ."""
        return codes[~self._share(codes)] if self._scope.across else codes

    def are_in_scope(self, first: Places, second: Places) -> npt.NDArray[np.bool_]:
        """Return which documents may be near-duplicates."""
        codes = pair_codes(first, second)
        found: npt.NDArray[np.bool_] = self.known[first] & self.known[second]
        agree = self.agree(PairRows(codes))
        if agree is not None:
            found &= agree
        if self._scope.across:
            found &= ~self._share(codes)
        return found if self._by_date is None else found & self._by_date.are_near(first, second)

    def _share(self, codes: Numbers) -> npt.NDArray[np.bool_]:
        """Return which pairs share a value that must differ."""
        assert self._mark is not None
        first, second = positions(codes)
        # As in a Bloom filter: documents without a common mark have no common value.
        found: npt.NDArray[np.bool_] = (self._mark[first] & self._mark[second]) != 0
        found[found] = self._share_one(codes[found])
        return found

    def _share_one(self, codes: Numbers) -> npt.NDArray[np.bool_]:
        """Compare the values of pairs, each with each."""
        one, other = PairRows(codes).of(self._across)
        found = np.zeros(len(codes), dtype=np.bool_)
        for which, place in spread_chunks(one[:, 1] * other[:, 1], _VALUES_AT_ONCE):
            own = self._values.at(one[which, 0] + place // other[which, 1])
            found[which[(own == self._values.at(other[which, 0] + place % other[which, 1])).all(axis=1)]] = True
        return found


def _marks(rows: ScopeRows) -> _Words32:
    """Mark one of 32 bits for each value of a document, by its hash."""
    marks = np.zeros(len(rows.counts), dtype=np.uint32)
    bits = np.uint32(1) << (rows.values[:, 0] % _MARKS).astype(np.uint32)
    np.bitwise_or.at(marks, np.repeat(np.arange(len(marks)), rows.counts), bits)
    return marks


@dataclass(frozen=True, eq=False)
class _ByDate:
    """Documents in the ``order`` of their dates, the ``ranks`` of all in it, and the ``lowest`` rank in each window."""

    order: npt.NDArray[np.uint32]
    ranks: npt.NDArray[np.uint32]
    lowest: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, dates: Integers, window: int) -> _ByDate:
        order = np.argsort(dates, kind="stable").astype(np.uint32)
        ranks = np.empty_like(order)
        ranks[order] = np.arange(len(order), dtype=np.uint32)
        ordered = dates[order]
        return cls(order, ranks, np.searchsorted(ordered, ordered - window).astype(np.uint32))

    def are_near(self, first: Places, second: Places) -> npt.NDArray[np.bool_]:
        one, other = self.ranks[first], self.ranks[second]
        near: npt.NDArray[np.bool_] = self.lowest[np.maximum(one, other)] <= np.minimum(one, other)
        return near


# Values of other documents are hashed once as well, if there are not too many.
_REMEMBERED = 1 << 16
_HASH_BYTES = 16
_NOTHING = bytes(_HASH_BYTES)

# The hash of all values that must differ, and those of each of them.
_Differing: TypeAlias = tuple[bytes, tuple[bytes, ...]]
# The one value of a document in each of some fields, as text; None where it has none.
_Texts: TypeAlias = tuple[str | None, ...]


@dataclass(frozen=True, eq=False)
class ScopeRows:
    """The scope of some documents, a row each.

    ``known`` marks those that have all values. ``within`` identifies the values that must agree, and ``sets`` all those
    that must differ, which are ``counts`` of the ``values``. ``dates`` are milliseconds.
    """

    known: npt.NDArray[np.bool_]
    within: Numbers
    sets: npt.NDArray[np.uint32]
    counts: Integers
    values: Numbers
    dates: Integers

    @classmethod
    def of(cls, found: Sequence[ScopeValues | None]) -> ScopeRows:
        """Hash the values of documents; None stands for a document that lacks one."""
        within = [_agreeing(each.within) if each else _NOTHING for each in found]
        across = [_differing(each.across) if each else (_NOTHING, ()) for each in found]
        dates = np.array([(each and each.date) or 0 for each in found], dtype=np.int64)
        return cls._of(within, across, dates, np.ones(len(found), dtype=np.bool_))

    @classmethod
    def read(cls, scope: Scope, documents: Sequence[Mapping[str, Any]]) -> ScopeRows:
        """Read the values of documents, field by field if each has at most one plain value in each, as most do."""
        columns = {path: column_at(documents, path) for path in scope.paths}
        plain = {path: column for path, column in columns.items() if column is not None and _are_plain(column)}
        if len(plain) < len(columns):
            return cls.of([scope.values_of(document) for document in documents])
        within, across = ([_as_texts(plain[path]) for path in some] for some in (scope.within, scope.across))
        dates, known = np.zeros(len(documents), dtype=np.int64), np.ones(len(documents), dtype=np.bool_)
        if scope.date is not None:
            dates, known = _dates(plain[scope.date])
        agreeing, differing = (
            zip(*some, strict=True) if some else repeat((), len(documents)) for some in (within, across)
        )
        return cls._of(list(map(_agreeing_texts, agreeing)), list(map(_differing_texts, differing)), dates, known)

    @classmethod
    def _of(
        cls,
        within: Sequence[bytes],
        across: Sequence[_Differing],
        dates: Integers,
        have_dates: npt.NDArray[np.bool_],
    ) -> ScopeRows:
        """Make the rows of documents from their hashes, which are `_NOTHING` where a value is missing."""
        agreeing, sets = _words(within), _words(whole for whole, _ in across)
        known = agreeing.any(axis=1) & sets.any(axis=1) & have_dates
        values = [own for _, own in compress(across, known.tolist())]
        counts = np.zeros(len(across), dtype=np.int64)
        counts[known] = list(map(len, values))
        return cls(known, agreeing, sets[:, 0].astype(np.uint32), counts, _words(chain.from_iterable(values)), dates)

    @classmethod
    def concatenated(cls, parts: Sequence[ScopeRows]) -> ScopeRows:
        """Concatenate rows."""
        return cls(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(cls)))


def _are_plain(values: Sequence[Any]) -> bool:
    return set(map(type, values)) <= {str, int, float, bool, type(None)}


def _as_texts(values: Sequence[Any]) -> Sequence[str | None]:
    """Return plain values as they are compared."""
    if set(map(type, values)) <= {str, type(None)}:
        return values
    return [next(iter(values_in({"value": value}, "value")), None) for value in values]


@lru_cache(_REMEMBERED)
def _agreeing_texts(texts: _Texts) -> bytes:
    return _NOTHING if None in texts else _agreeing(tuple((text,) for text in texts if text is not None))


@lru_cache(_REMEMBERED)
def _differing_texts(texts: _Texts) -> _Differing:
    if None in texts:
        return _NOTHING, ()
    return _differing(tuple(frozenset((text,)) for text in texts if text is not None))


def _dates(values: Sequence[Any]) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """Return the milliseconds of dates, and which of the values are some."""
    known = np.ones(len(values), dtype=np.bool_)
    if (alike := milliseconds_in(values)) is not None:
        return alike, known
    given = [value for value in values if value is not None]
    known[[place for place, value in enumerate(values) if value is None]] = False
    dates = milliseconds_in(given)
    if dates is None:
        each = list(map(milliseconds_of, given))
        known[known] = [date is not None for date in each]
        dates = np.array([date for date in each if date is not None], dtype=np.int64)
    found = np.zeros(len(values), dtype=np.int64)
    found[known] = dates
    return found, known


@lru_cache(_REMEMBERED)
def _agreeing(values: tuple[tuple[str, ...], ...]) -> bytes:
    """Hash what must agree."""
    return _hash(values)


@lru_cache(_REMEMBERED)
def _differing(values: tuple[frozenset[str], ...]) -> _Differing:
    """Hash all that must differ, and each value of it together with the number of its field.

    So two documents differ in all fields if they share no hash.
    """
    named = [(number, value) for number, each in enumerate(values) for value in sorted(each)]
    return _hash(named), tuple(map(_hash, named))


def _hash(value: Any) -> bytes:
    return sha256(json.dumps(value).encode()).digest()[:_HASH_BYTES]


def _words(hashes: Iterable[bytes]) -> Numbers:
    return np.frombuffer(b"".join(hashes), dtype="<u8").reshape(-1, 2).astype(np.uint64)
