"""Blocks: a fingerprint cut into pieces. Near-duplicates share most of these, which serve as keys.

If a code is cut into m blocks, k differing bits can change at most k of them. So any two codes within Hamming distance
k agree on at least m - k blocks, and an index over the blocks finds every such pair: look up the m keys of the query,
and keep the documents that have at least m - k of them (in Elasticsearch a ``bool`` query with
``minimum_should_match``). With m = k + 1 this is the pigeonhole principle; more blocks make fewer candidates.

The permuted tables of Manku, Jain and Das Sarma, "Detecting Near-Duplicates for Web Crawling" (WWW 2007), meet the same
candidates. Each of the C(m, m - k) choices of m - k blocks has a table with these blocks in front, and the pair agrees
on that whole prefix in at least one table. One exact key is looked up per table, at the cost of C(m, k) keys a code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations
from math import comb
from typing import TYPE_CHECKING, overload

import numpy as np

from es_simhash._core import arrays
from es_simhash._core.arrays import check_codes
from es_simhash.errors import FormatError, SchemeError
from es_simhash.sketches.hamming import check_distance

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from es_simhash._core.arrays import Codes


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
