"""The longest common subsequence of two lists: the items that both have, in the same order.

Bit-parallel, with a row of the table of lengths as one number: bit j of row i is 0 where the length for the first i
items of one list and j + 1 of the other is one more than for j. Hyyrö, "Bit-parallel LCS-length computation revisited",
AWOCA 2004, after Crochemore et al., "A fast and practical bit-vector algorithm for the longest common subsequence
problem", IPL 2001. Its time is bounded, unlike that of `difflib`, which takes cubic time on texts full of spaces.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence


def aligned(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Return the positions, in both lists, of the items of a longest common subsequence."""
    rows = _rows(a, b)
    pairs = []
    i, j = len(a), len(b)
    while i and j:
        if rows[i] >> (j - 1) & 1:
            j -= 1
        elif not rows[i - 1] >> (j - 1) & 1:
            i -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


def _rows(a: Sequence[str], b: Sequence[str]) -> list[int]:
    places: defaultdict[str, int] = defaultdict(int)
    for place, item in enumerate(b):
        places[item] |= 1 << place
    every = (1 << len(b)) - 1
    rows = [every]
    for item in a:
        row = rows[-1]
        matching = row & places[item]
        rows.append(((row + matching) | (row - matching)) & every)
    return rows
