"""The permuted tables of Manku, Jain and Das Sarma, "Detecting Near-Duplicates for Web Crawling" (WWW 2007).

A code is cut into m blocks. Two codes within distance k agree on at least m - k of them. Each of the C(m, m - k)
choices of m - k blocks has a table with these blocks in front, and the pair agrees on that whole prefix in at least one
table. One exact key is looked up per table, at the cost of C(m, k) keys a code; if the index can count shared keys,
`es_simhash.sketches.blocks` meets the same candidates with m keys a code.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, overload

import numpy as np

from es_simhash._core import bit_codes, digits
from es_simhash._core.bit_codes import check_codes
from es_simhash.errors import SchemeError
from es_simhash.sketches.blocks import Blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from es_simhash._core.bit_codes import Codes

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

    def prefixes(self, codes: Codes) -> Iterator[Codes]:
        """Yield, table by table, each code's prefix: the chosen blocks one after another as a code of that width."""
        check_codes(codes, self.bits)
        for choice, width in zip(self.choices, self.prefix_bits, strict=True):
            yield self._concatenated(codes, choice, width)

    def _concatenated(self, codes: Codes, choice: tuple[int, ...], width: int) -> Codes:
        high = low = np.zeros(len(codes), dtype=np.uint64)
        for block in choice:
            size = self.blocks.widths[block]
            value = bit_codes.extract(codes, self.bits, self.blocks.starts[block], size)
            # Two shifts, because one by all 64 bits is undefined.
            high = (high << np.uint64(size - 1) << np.uint64(1)) | (low >> np.uint64(64 - size))
            low = (low << np.uint64(size - 1) << np.uint64(1)) | value
        return low if bit_codes.words_per_code(width) == 1 else np.stack([high, low], axis=1)

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
            return self.keys(bit_codes.from_ints([codes], self.bits))[0]
        number_digits = 1 if len(self.choices) <= 36 else 2
        columns = []
        for table, (prefix, width) in enumerate(zip(self.prefixes(codes), self.prefix_bits, strict=True)):
            number = digits.base36(table, number_digits)
            columns.append([number + text for text in _hex(prefix, width)])
        return [list(keys) for keys in zip(*columns, strict=True)]


def _hex(codes: Codes, bits: int) -> list[str]:
    count = -(-bits // 4)
    if codes.ndim == 1:
        points = digits.code_points(codes, count, digits.HEX)
    else:
        words = (codes[:, 0], count - 16), (codes[:, 1], 16)
        points = np.concatenate([digits.code_points(word, some, digits.HEX) for word, some in words], axis=1)
    texts: list[str] = digits.strings(points).tolist()
    return texts
