"""Keys of sketches: bands of MinHash, blocks of SimHash, what they find and cost, and an index of them in memory.

Two documents of Jaccard similarity j agree on a row of the signature with probability j, on all r rows of a
band with ``j**r``, and on at least one of b bands with ``1 - (1 - j**r)**b`` (Leskovec, Rajaraman, Ullman, Mining of
Massive Datasets, 3.4). `sharing` counts on how many.

A key is not a hash of its rows but holds their lowest bits, so the keys of a document are also its b-bit signature (Li,
König, "b-bit minwise hashing", WWW 2010), and no other need be stored.

If a code is cut into m blocks, k differing bits can change at most k of them. So any two codes within Hamming distance
k agree on at least m - k blocks, and an index over the blocks finds every such pair: look up the m keys of the query,
and keep the documents that have at least m - k of them (in Elasticsearch a ``bool`` query with
``minimum_should_match``). With m = k + 1 this is the pigeonhole principle; more blocks make fewer candidates.

The permuted tables of Manku, Jain and Das Sarma, "Detecting Near-Duplicates for Web Crawling" (WWW 2007), meet the same
candidates. Each of the C(m, m - k) choices of m - k blocks has a table with these blocks in front, and the pair agrees
on that whole prefix in at least one table. One exact key is looked up per table, at the cost of C(m, k) keys a code.

Candidates are the documents that the index returns for a query. The numbers here are for random documents, which have
nothing to do with the query, and whose fingerprints are uniformly random bits. Real fingerprints are skewed and meet
more.

How many bands should a candidate share with a text? The more are asked for, the fewer documents are met by chance.
Two documents of Jaccard similarity j agree on a row of their signatures with the probability j, and where they do not,
the v bits of it that a key holds agree with ``2**-v``. So they agree on a band of r rows with the probability
``(j + (1 - j) 2**-v)**r``, and the number of bands on which they agree follows the binomial distribution.

Of 36 bands of 3 rows, documents with nothing but words in common seldom share two, near-duplicates nearly always do.

Each document has a row of numbers, as many as the others. Two documents share a key where they have the same number in
the same column.

The last few rows are compared with one by one. The others lie in tables, in which a key is looked up by its hash. A
table is at least four times as large as the next one, so there are few, and each row moves seldom. A row of 36 keys of
32 bits takes 300 bytes.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, combinations
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from es_simhash._core import arrays
from es_simhash._core.arrays import Integers, check_codes, spread
from es_simhash.errors import FormatError, HashError, SchemeError
from es_simhash.sketches.hamming import bit_count, check_distance
from es_simhash.sketches.minhash.common import VALUE_BITS, similarities_of_shares
from es_simhash.text.hashing import BASE

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from es_simhash._core.arrays import Codes


if TYPE_CHECKING:
    Signatures = npt.NDArray[np.uint32]

_MIN_KEY_BITS, _MAX_KEY_BITS = 6, 64
BITS_A_DIGIT = 6


@dataclass(frozen=True)
class Bands:
    """``count`` bands of ``rows`` rows each, from a signature's first row on; rows left over are not used.

    Each row keeps its lowest ``value_bits = min(32, key_bits // rows)`` bits. The key of band i, counted from 0, whose
    rows keep the values v1 … vr, is defined as::

        packed = 0
        for v in (v1, …, vr):
            packed = packed * 2**value_bits + v
        key = (packed + (i + 1) * (0x9E3779B97F4A7C15 >> (64 - key_bits))) mod 2**key_bits

    So the rows can be read back from the key, and equal rows of two bands have unequal keys: all keys can share one
    field. Unequal bands of unlike documents have equal keys with probability ``2**-(rows * value_bits)``.
    """

    count: int
    rows: int
    key_bits: int = 30

    def __post_init__(self) -> None:
        for name, value in (("count", self.count), ("rows", self.rows)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise SchemeError(f"Bands cannot have {name}={value!r}. Choose a whole number from 1.")
        if not isinstance(self.key_bits, int) or not _MIN_KEY_BITS <= self.key_bits <= _MAX_KEY_BITS:
            raise SchemeError(
                f"The key of a band cannot have {self.key_bits!r} bits. "
                f"Choose a whole number from {_MIN_KEY_BITS} to {_MAX_KEY_BITS}."
            )
        if self.rows > self.key_bits:
            raise SchemeError(
                f"A key of {self.key_bits} bits cannot hold a bit of each of {self.rows} rows. "
                "Choose fewer rows or wider keys."
            )

    @cached_property
    def value_bits(self) -> int:
        """How many bits of each row a key holds."""
        return min(VALUE_BITS, self.key_bits // self.rows)

    @property
    def size(self) -> int:
        """The number of rows that the keys hold."""
        return self.count * self.rows

    def packed(self, signatures: Signatures) -> Keys:
        """Return what the keys of signatures of shape ``(N, size)`` hold of their rows, of shape ``(N, count)``.

        That is all of a key but the band: the numbers have as many bits as they need of 32 or 64.
        """
        if signatures.dtype != np.uint32 or signatures.ndim != 2 or signatures.shape[1] < self.size:
            raise HashError(
                f"An array of {signatures.dtype} of shape {signatures.shape} does not hold signatures for "
                f"{self.count} bands of {self.rows} rows. Give a uint32 array of shape (N, {self.size}) or wider."
            )
        rows = signatures[:, : self.size].reshape(len(signatures), self.count, self.rows) & self._value_mask
        packed: Keys = rows[:, :, 0].astype(self.packed_type)
        bits = packed.dtype.type(self.value_bits)
        for row in range(1, self.rows):
            packed = packed << bits | rows[:, :, row]
        return packed

    @property
    def packed_type(self) -> type[np.uint32 | np.uint64]:
        """The type of `packed` numbers."""
        return np.uint32 if self.rows * self.value_bits <= 32 else np.uint64

    def similarities(self, first: Keys, second: Keys) -> npt.NDArray[np.float64]:
        """Estimate similarities from `packed` rows as `es_simhash.sketches.minhash.common.estimates` does."""
        bits, number = self.value_bits, first.dtype.type
        # A value that is not zero carries into its highest bit (Warren, "Hacker's Delight", 6-1).
        high = number(sum(1 << (row * bits + bits - 1) for row in range(self.rows)))
        below = number(sum(((1 << (bits - 1)) - 1) << (row * bits) for row in range(self.rows)))
        differing = first ^ second
        differing = (((differing & below) + below) | differing) & high
        agreeing = self.size - bit_count(differing).sum(axis=1, dtype=np.int64)
        return similarities_of_shares(agreeing / self.size, bits)

    def values(self, signatures: Signatures) -> npt.NDArray[np.uint64]:
        """Return the keys of signatures of shape ``(N, size)`` as numbers, an array of shape ``(N, count)``."""
        return (self.packed(signatures).astype(np.uint64) + self._shifts) & self._key_mask

    def signatures(self, values: npt.NDArray[np.uint64]) -> Signatures:
        """Return the lowest ``value_bits`` bits of the rows that these keys hold, an array of shape ``(N, size)``."""
        packed = (values - self._shifts) & self._key_mask
        rows = (packed[:, :, np.newaxis] >> self._row_shifts).astype(np.uint32) & self._value_mask
        return rows.reshape(len(values), self.size)

    def keys(self, signatures: Signatures) -> list[list[str]]:
        """Write the keys of each signature in base64url digits, most significant first.

        ``key_bits`` must be a multiple of 6, so that every digit counts.
        """
        keys: list[list[str]] = arrays.strings(self.key_points(signatures)).tolist()
        return keys

    def key_points(self, signatures: Signatures) -> npt.NDArray[np.uint32]:
        """Return the code points of the keys, along the last axis."""
        return arrays.code_points(self.values(signatures), self.key_digits, arrays.BASE64URL)

    def signatures_of_keys(self, joined: Sequence[str]) -> Signatures:
        """Return `signatures` of the keys of each document, given as one text: in order, with nothing between."""
        if any(len(keys) != self.count * self.key_digits for keys in joined):
            raise FormatError(
                f"These are not the {self.count} keys of {self.key_digits} characters that each document of this "
                "scheme has. Read them again, or with the scheme by which they were stored."
            )
        values = arrays.values_of("".join(joined), self.key_digits, arrays.BASE64URL)
        return self.signatures(values.reshape(len(joined), self.count))

    @property
    def key_digits(self) -> int:
        """The number of characters of a key."""
        if self.key_bits % BITS_A_DIGIT:
            raise SchemeError(
                f"Keys of {self.key_bits} bits do not fill base64 digits. Choose key_bits of 6, 12, 18, … 60."
            )
        return self.key_bits // BITS_A_DIGIT

    @cached_property
    def _value_mask(self) -> np.uint32:
        return np.uint32((1 << self.value_bits) - 1)

    @cached_property
    def _key_mask(self) -> np.uint64:
        return np.uint64((1 << self.key_bits) - 1)

    @cached_property
    def _shifts(self) -> npt.NDArray[np.uint64]:
        return np.arange(1, self.count + 1, dtype=np.uint64) * np.uint64(BASE >> (64 - self.key_bits))

    @cached_property
    def _row_shifts(self) -> npt.NDArray[np.uint64]:
        return np.arange(self.rows - 1, -1, -1, dtype=np.uint64) * np.uint64(self.value_bits)


MAX_KEYED_BLOCKS = 36
_MAX_BLOCK_BITS = 64


@dataclass(frozen=True)
class Blocks:
    """``bits`` bits cut into ``count`` nearly equal blocks, the first ``bits % count`` one bit wider."""

    bits: int
    count: int

    def __post_init__(self) -> None:
        arrays.check_bits(self.bits)
        if not isinstance(self.count, int) or isinstance(self.count, bool) or not 1 <= self.count <= self.bits:
            raise SchemeError(
                f"{self.bits} bits cannot be cut into {self.count!r} blocks. Choose 1 to {self.bits} blocks."
            )
        if self.widths[0] > _MAX_BLOCK_BITS:
            raise SchemeError(
                f"A block of {self.widths[0]} bits is wider than {_MAX_BLOCK_BITS}. Choose at least 2 blocks."
            )

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """The number of bits of each block."""
        width, wider = divmod(self.bits, self.count)
        return tuple(width + (i < wider) for i in range(self.count))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The position of each block's first bit."""
        return tuple(accumulate(self.widths[:-1], initial=0))

    @cached_property
    def masks(self) -> Codes:
        """The bits of each block, an array of shape ``(count, words)``."""
        ends = zip(self.widths, accumulate(self.widths), strict=True)
        ints = [(1 << width) - 1 << self.bits - end for width, end in ends]
        return arrays.from_ints(ints, self.bits).reshape(self.count, -1)

    def min_shared(self, distance: int) -> int:
        """Return how many blocks any two codes within ``distance`` are sure to share: m - k."""
        if check_distance(distance) < self.count:
            return self.count - distance
        if distance < self.bits:
            advice = f"Choose at least {distance + 1} blocks."
        else:
            advice = f"Choose a distance below {self.bits}, at which not all codes match."
        raise SchemeError(f"{self.count} blocks of {self.bits} bits can all differ at distance {distance}. {advice}")

    def values(self, codes: Codes) -> npt.NDArray[np.uint64]:
        """Return the blocks of each code as numbers, an array of shape ``(N, count)``."""
        arrays.check_codes(codes, self.bits)
        columns = [arrays.extract(codes, self.bits, *block) for block in zip(self.starts, self.widths, strict=True)]
        return np.stack(columns, axis=1)

    @overload
    def keys(self, codes: int) -> list[str]: ...
    @overload
    def keys(self, codes: Codes) -> list[list[str]]: ...
    def keys(self, codes: int | Codes) -> list[str] | list[list[str]]:
        """Write the blocks of one code (an integer), or of each code of an array, as texts.

        A key is the block's position as one base-36 digit, then its value in base64url digits, most significant first,
        as many as the widest block needs: block 2 of 12 bits with the value 67 is ``"2BD"``.
        """
        if not isinstance(codes, np.ndarray):
            return self.keys(arrays.from_ints([codes], self.bits))[0]
        keys: list[list[str]] = arrays.strings(self.key_points(codes)).tolist()
        return keys

    def code_of(self, keys: Sequence[str]) -> int | None:
        """Return the code that has these keys; None if there is none."""
        try:
            values = arrays.values_of("".join(key[1:] for key in keys), self.key_digits - 1, arrays.BASE64URL)
        except FormatError:
            return None
        code = 0
        for value, width in zip(values.tolist(), self.widths, strict=False):
            code = code << width | value & ((1 << width) - 1)
        return code if self.keys(code) == list(keys) else None

    @property
    def key_digits(self) -> int:
        """The number of characters of a key."""
        return 1 + -(-self.widths[0] // 6)

    def key_points(self, codes: Codes) -> npt.NDArray[np.uint32]:
        """Return the code points of the keys of an array of codes, along the last axis."""
        if self.count > MAX_KEYED_BLOCKS:
            raise SchemeError(
                f"Keys cannot number {self.count} blocks with one base-36 digit. "
                f"Choose at most {MAX_KEYED_BLOCKS} blocks."
            )
        values = arrays.code_points(self.values(codes), self.key_digits - 1, arrays.BASE64URL)
        prefix = np.broadcast_to(self._positions, (*values.shape[:2], 1))
        return np.concatenate([prefix, values], axis=2)

    @cached_property
    def _positions(self) -> npt.NDArray[np.uint32]:
        """The code point of each block's position as a digit, as a column."""
        return np.array([[ord(arrays.base36(i, 1))] for i in range(self.count)], dtype=np.uint32)


_MAX_TABLES = 36**2


@dataclass(frozen=True)
class PrefixTables:
    """The tables of codes of ``bits`` bits in ``count`` blocks for pairs within ``distance``."""

    bits: int
    count: int
    distance: int

    def __post_init__(self) -> None:
        self.blocks.min_shared(self.distance)
        tables = comb(self.count, self.distance)
        if tables > _MAX_TABLES:
            raise SchemeError(
                f"{self.count} blocks at distance {self.distance} make {tables} tables. "
                f"Choose fewer blocks or a smaller distance, for at most {_MAX_TABLES} tables."
            )

    @cached_property
    def blocks(self) -> Blocks:
        """The blocks that the prefixes are made of."""
        return Blocks(self.bits, self.count)

    @cached_property
    def choices(self) -> tuple[tuple[int, ...], ...]:
        """The blocks in front, table by table, in lexicographic order."""
        return tuple(combinations(range(self.count), self.blocks.min_shared(self.distance)))

    @cached_property
    def prefix_bits(self) -> tuple[int, ...]:
        """The width of each table's prefix."""
        return tuple(sum(self.blocks.widths[block] for block in choice) for choice in self.choices)

    @property
    def masks(self) -> list[Codes]:
        """The bits of each table's chosen blocks, an array of one or two words."""
        return [np.bitwise_or.reduce(self.blocks.masks[list(choice)]) for choice in self.choices]

    def prefixes(self, codes: Codes) -> Iterator[Codes]:
        """Yield, table by table, each code's prefix: the chosen blocks one after another as a code of that width."""
        check_codes(codes, self.bits)
        for choice, width in zip(self.choices, self.prefix_bits, strict=True):
            yield self._concatenated(codes, choice, width)

    def _concatenated(self, codes: Codes, choice: tuple[int, ...], width: int) -> Codes:
        high = low = np.zeros(len(codes), dtype=np.uint64)
        for block in choice:
            size = self.blocks.widths[block]
            value = arrays.extract(codes, self.bits, self.blocks.starts[block], size)
            # Two shifts, because one by all 64 bits is undefined.
            high = (high << np.uint64(size - 1) << np.uint64(1)) | (low >> np.uint64(64 - size))
            low = (low << np.uint64(size - 1) << np.uint64(1)) | value
        return low if arrays.words_per_code(width) == 1 else np.stack([high, low], axis=1)

    @overload
    def keys(self, codes: int) -> list[str]: ...
    @overload
    def keys(self, codes: Codes) -> list[list[str]]: ...
    def keys(self, codes: int | Codes) -> list[str] | list[list[str]]:
        """Write the prefixes of one code (an integer), or of each code of an array, as texts.

        A key is the table's number in base 36 (one digit for up to 36 tables, else two), then the prefix in
        lower-case hex with as many digits as its width needs.
        """
        if not isinstance(codes, np.ndarray):
            return self.keys(arrays.from_ints([codes], self.bits))[0]
        number_digits = 1 if len(self.choices) <= 36 else 2
        columns = []
        for table, (prefix, width) in enumerate(zip(self.prefixes(codes), self.prefix_bits, strict=True)):
            number = arrays.base36(table, number_digits)
            columns.append([number + text for text in _hex(prefix, width)])
        return [list(keys) for keys in zip(*columns, strict=True)]


def _hex(codes: Codes, bits: int) -> list[str]:
    count = -(-bits // 4)
    if codes.ndim == 1:
        points = arrays.code_points(codes, count, arrays.HEX)
    else:
        words = (codes[:, 0], count - 16), (codes[:, 1], 16)
        points = np.concatenate([arrays.code_points(word, some, arrays.HEX) for word, some in words], axis=1)
    texts: list[str] = arrays.strings(points).tolist()
    return texts


def block_candidates(bits: int, blocks: int, min_shared: int, documents: int) -> float:
    """Return the expected number of random documents that share at least ``min_shared`` of the blocks with a query.

    Manku's tables with prefixes of ``min_shared`` blocks meet the same documents.
    """
    return documents * at_least([2.0**-width for width in Blocks(bits, blocks).widths], min_shared)


def manku_postings(bits: int, blocks: int, distance: int, documents: int) -> float:
    """Return the expected number of random entries in all of Manku's tables that have the query's prefix.

    A document in several tables counts each time; `block_candidates` says how many different ones there are.
    """
    return documents * sum(2.0**-width for width in PrefixTables(bits, blocks, distance).prefix_bits)


def band_probability(similarity: float, bands: int, rows: int) -> float:
    """Return the probability that a pair of Jaccard similarity j shares at least one band: 1 - (1 - j**r)**b."""
    return 1.0 - (1.0 - similarity**rows) ** bands


def at_least(probabilities: Sequence[float], count: int) -> float:
    """Return the probability that at least ``count`` of independent events of these probabilities happen."""
    happened = [1.0] + [0.0] * len(probabilities)
    for probability in probabilities:
        for events in range(len(probabilities), 0, -1):
            happened[events] += probability * (happened[events - 1] - happened[events])
        happened[0] *= 1.0 - probability
    return math.fsum(happened[count:])


def expected_choices(probabilities: Sequence[float], count: int) -> float:
    """Return the expected number of choices of ``count`` events of these probabilities that all happen.

    It is the elementary symmetric polynomial of that degree.
    """
    sums = [1.0] + [0.0] * count
    for probability in probabilities:
        for events in range(count, 0, -1):
            sums[events] += probability * sums[events - 1]
    return sums[count]


# Jaccard similarities of pairs of unrelated documents, each with its share of these pairs.
Similarities: TypeAlias = Sequence[tuple[float, float]]
# English film reviews of 1.3 kB on average, 6.7 million pairs (aclImdb); texts in other languages have less in common.
REVIEWS: Similarities = (
    (0.0346, 0.5),
    (0.0535, 0.4),
    (0.0723, 0.09),
    (0.0913, 0.009),
    (0.1075, 0.0009),
    (0.1219, 0.0001),
)

# The share of the pairs that are just similar enough that every search has to find, and one in a large index.
_SURELY, _MOSTLY = 0.998, 0.95
# With more candidates by chance, reading them takes longer than the search itself.
MANY = 50.0


def sharing(similarity: float, bands: Bands, shared: int) -> float:
    """Return the probability that two documents of this Jaccard similarity share at least this many bands.

    >>> f"{sharing(0.6, Bands(36, 3, 24), 2):.3f}"
    '0.998'
    """
    agree = (similarity + (1 - similarity) * 2.0**-bands.value_bits) ** bands.rows
    fewer = (comb(bands.count, n) * agree**n * (1 - agree) ** (bands.count - n) for n in range(shared))
    return max(0.0, 1.0 - sum(fewer))


def by_chance(bands: Bands, shared: int, unrelated: Similarities = REVIEWS) -> float:
    """Return the share of the documents of an index that share this many bands with a text by chance."""
    return sum(share * sharing(similarity, bands, shared) for similarity, share in unrelated)


@cache
def least_shared(bands: Bands, similarity: float) -> int:
    """Return how many bands nearly all pairs of this Jaccard similarity share: at least one.

    >>> least_shared(Bands(36, 3, 24), 0.6), least_shared(Bands(32, 4, 30), 0.6)
    (2, 1)
    """
    return _most(bands, similarity, _SURELY, 1)


@cache
def shared_among(bands: Bands, least: int, similarity: float, documents: int) -> int:
    """Return how many bands to ask for in an index: more than the ``least`` only if it would have many candidates.

    Most of the pairs of this similarity have to share as many, too.

    >>> [shared_among(Bands(36, 3, 24), 2, 0.556, documents) for documents in (100_000, 10_000_000)]
    [2, 3]
    """
    most = _most(bands, similarity, _MOSTLY, least)
    return next((n for n in range(least, most) if documents * by_chance(bands, n) <= MANY), most)


def _most(bands: Bands, similarity: float, probability: float, least: int) -> int:
    """Return the most bands that pairs share with this probability, or the ``least``."""
    shared = least
    while shared < bands.count and sharing(similarity, bands, shared + 1) >= probability:
        shared += 1
    return shared


Keys = npt.NDArray[np.unsignedinteger[Any]]
"""A row of keys a document, of 32 or 64 bits."""

# Rows that are not worth a table, and how many keys are compared at once.
_RECENT, _CELLS = 512, 1 << 20
# How much larger a table is than the next, up to a size that is not sorted again; and entries that are read at once.
_TIMES, _LARGE, _ENTRIES = 4, 200_000, 1 << 22
# An odd number with which products spread over all bits, of 32 as of 64.
_FACTOR = 0x9E3779B19E3779B1


class Shared(NamedTuple):
    """Pairs of a row that is asked about and the place of a document, in order: ``counts`` of their keys are shared."""

    rows: Integers
    places: Integers
    counts: Integers


class KeyIndex:
    """Documents with as many ``columns`` of keys, at places that are counted from 0 and never given again."""

    def __init__(self, columns: int, dtype: npt.DTypeLike = np.uint64) -> None:
        self._none = _Recent(np.empty((0, columns), dtype), np.empty(0, np.int64))
        self._recent = self._none
        self._tables: list[_Table] = []
        self._next = 0

    def __len__(self) -> int:
        """Return the number of documents."""
        return sum(map(len, self._parts))

    def add(self, keys: Keys) -> range:
        """Add documents; return their places."""
        added = range(self._next, self._next + len(keys))
        self._next = added.stop
        self._recent = self._recent.joined(keys, np.arange(added.start, added.stop))
        if len(self._recent) > _RECENT:
            recent, self._recent = self._recent, self._none
            self._put(_Table(recent.keys, recent.places))
        return added

    def remove(self, places: Collection[int]) -> None:
        """Remove the documents at these places, as far as there are some."""
        gone = np.fromiter(places, np.int64, len(places))
        for part in self._parts:
            part.remove(gone)
        if len(self._recent) < len(self._recent.places):
            self._recent = _Recent(*self._recent.kept)
        sparse = [table for table in self._tables if 2 * len(table) <= len(table.places)]
        self._tables = [table for table in self._tables if table not in sparse]
        for table in sparse:
            if len(table):
                self._put(_Table(*table.kept))

    def sharing(self, keys: Keys, least: int = 1) -> Shared:
        """Return which documents share at least this many keys with each row."""
        found = [part.sharing(keys, least) for part in self._parts]
        if len(found) == 1:
            return found[0]
        rows, places, counts = _joined(found)
        order = np.lexsort((places, rows))
        return Shared(rows[order], places[order], counts[order])

    def keys_at(self, places: Integers) -> Keys:
        """Return the keys of the documents at these places."""
        found = np.zeros((len(places), self._none.keys.shape[1]), self._none.keys.dtype)
        for part in self._parts:
            which, rows = part.find(places)
            found[which] = part.keys[rows]
        return found

    @property
    def _parts(self) -> list[_Rows]:
        return [part for part in (*self._tables, self._recent) if len(part.places)]

    def _put(self, table: _Table) -> None:
        """Add a table, joined with those that are not much larger."""
        self._tables.append(table)
        self._tables.sort(key=lambda each: -len(each.places))
        while len(self._tables) > 1 and len(self._tables[-2]) < min(_TIMES * len(self._tables[-1]), _LARGE):
            last, other = self._tables.pop(), self._tables.pop()
            self._tables.append(_Table(*other.with_rows(*last.kept)))


class _Rows:
    """The rows of documents at ascending places; some may be removed."""

    def __init__(self, keys: Keys, places: Integers) -> None:
        self.keys = keys
        self.places = places
        self._are_kept = np.ones(len(places), np.bool_)
        self._count = len(places)

    def __len__(self) -> int:
        return self._count

    @property
    def kept(self) -> tuple[Keys, Integers]:
        """The rows that are not removed, and their places."""
        return self.keys[self._are_kept], self.places[self._are_kept]

    def with_rows(self, keys: Keys, places: Integers) -> tuple[Keys, Integers]:
        """Return the kept rows and more, with their places."""
        own, own_places = self.kept
        both = np.concatenate([own_places, places])
        order = np.argsort(both, kind="stable")
        return np.concatenate([own, keys])[order], both[order]

    def find(self, places: Integers) -> tuple[Integers, Integers]:
        """Return which of some places are here, and in which rows."""
        rows = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
        which = np.flatnonzero(self.places[rows] == places)
        return which, rows[which]

    def remove(self, places: Integers) -> None:
        """Remove the documents at these places."""
        self._are_kept[self.find(places)[1]] = False
        self._count = int(np.count_nonzero(self._are_kept))

    def sharing(self, keys: Keys, least: int) -> Shared:
        """Return the pairs of rows that share at least this many keys."""
        raise NotImplementedError

    def _shared(self, rows: Integers, own: Integers, counts: Integers) -> Shared:
        if self._count == len(self.places):
            return Shared(rows, self.places[own], counts)
        kept = self._are_kept[own]
        return Shared(rows[kept], self.places[own[kept]], counts[kept])


class _Recent(_Rows):
    """A few rows, which lie column by column."""

    def joined(self, keys: Keys, places: Integers) -> _Recent:
        """Return these rows and more, at later places."""
        columns = np.concatenate([self.keys.T, keys.T], axis=1)
        return _Recent(columns.T, np.concatenate([self.places, places]))

    def sharing(self, keys: Keys, least: int) -> Shared:
        """Compare each row with each."""
        narrow = np.min_scalar_type(keys.shape[1])
        at_once = max(1, _CELLS // self.keys.size)
        found = []
        for start in range(0, len(keys), at_once):
            equal = self.keys.T[:, np.newaxis] == keys[start : start + at_once].T[:, :, np.newaxis]
            counts = np.add.reduce(equal.view(np.uint8), axis=0, dtype=narrow)
            rows, own = np.nonzero(counts >= least)
            found.append(Shared(rows + start, own, counts[rows, own].astype(np.int64)))
        return self._shared(*(found[0] if len(found) == 1 else _joined(found)))


class _Table(_Rows):
    """Rows whose keys are looked up: ``places`` of each column in the order of the parts of its hashes."""

    def __init__(self, keys: Keys, places: Integers) -> None:
        super().__init__(np.ascontiguousarray(keys), places)
        columns, bits = keys.shape[1], max(1, len(keys).bit_length() - 1)
        self._shift = keys.dtype.type(8 * keys.itemsize - bits)
        self._rows = np.empty((columns, len(keys)), dtype=np.uint32)
        self._starts = np.zeros((columns, (1 << bits) + 1), dtype=np.uint32)
        for column in range(columns):
            parts = self._parts_of(keys[:, column])
            self._rows[column] = np.argsort(parts, kind="stable")
            self._starts[column, 1:] = np.cumsum(np.bincount(parts, minlength=1 << bits))

    def sharing(self, keys: Keys, least: int) -> Shared:
        """Look each key up."""
        columns = np.broadcast_to(np.arange(keys.shape[1]), keys.shape).ravel()
        flat = keys.ravel()
        parts = self._parts_of(flat)
        starts = self._starts[columns, parts].astype(np.int64)
        counts = self._starts[columns, parts + 1] - starts
        if len(keys) > 1 and counts.sum() > _ENTRIES:
            half = len(keys) // 2
            first, second = self.sharing(keys[:half], least), self.sharing(keys[half:], least)
            return _joined([first, second._replace(rows=second.rows + half)])
        which, within = spread(counts)
        own = self._rows[columns[which], starts[which] + within]
        equal = self.keys[own, columns[which]] == flat[which]
        pairs = np.sort(which[equal] // keys.shape[1] * len(self.keys) + own[equal])
        # A pair comes once for each shared key; this is faster than `numpy.unique`, which hashes first.
        often = pairs[least - 1 :][pairs[least - 1 :] == pairs[: max(0, len(pairs) - least + 1)]]
        often = often[np.diff(often, prepend=-1) != 0]
        shared = np.searchsorted(pairs, often, side="right") - np.searchsorted(pairs, often)
        rows, own = np.divmod(often, len(self.keys))
        return self._shared(rows, own, shared)

    def _parts_of(self, keys: Keys) -> Integers:
        # The numbers of texts of one topic agree more often than others, so parts are by a hash of all bits.
        factor = keys.dtype.type(_FACTOR & (2 ** (8 * keys.itemsize) - 1))
        return ((keys * factor) >> self._shift).astype(np.int64)


def _joined(found: Sequence[Shared]) -> Shared:
    nothing = np.empty(0, np.int64)
    rows, places, counts = map(np.concatenate, zip((nothing, nothing, nothing), *found, strict=True))
    return Shared(rows, places, counts)
