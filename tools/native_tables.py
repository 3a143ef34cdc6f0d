"""Write the tables of Unicode 13.0 that the compiled kernels normalise by; python -m tools.native_tables

Any Python will do: of what it knows, only code points count that Unicode 13.0 has, and what they become is stable.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import groupby, islice, pairwise
from textwrap import wrap

from es_simhash.text.normalise import unassigned_ranges
from tools import ROOT

TARGET = ROOT / "native" / "kernels" / "src" / "text" / "normalise" / "unicode13.txt"
HANGUL_SYLLABLES = range(0xAC00, 0xD7A4)

HEADER = """\
# What normalisation knows of Unicode 13.0. Written by tools/native_tables.py; all numbers are hexadecimal.
# A line of ranges names their first and last code points. Any other line begins with a code point;
# what follows belongs to this one, the next one, and so on. "+" joins several code points.
# Derived from the Unicode Character Database, (c) 1991-2026 Unicode, Inc., under https://www.unicode.org/license.txt
"""


def tables() -> str:
    """Return the content of the file."""
    characters = list(_assigned())
    sections = {
        "unassigned": _ranges(unassigned_ranges()),
        "white space": _ranges(_runs(ord(c) for c in characters if c.isspace())),
        "classes": _mapping({ord(c): f"{unicodedata.combining(c):X}" for c in characters if unicodedata.combining(c)}),
        "decompositions": _mapping(_changed({c: unicodedata.normalize("NFKD", c) for c in characters})),
        "compositions": _mapping(dict(_compositions(characters))),
        "foldings": _mapping(_changed({c: c.casefold() for c in characters})),
    }
    return HEADER + "".join(
        f"\n[{name}]\n" + "".join(f"{line}\n" for line in lines) for name, lines in sections.items()
    )


def _assigned() -> Iterator[str]:
    """Yield the characters of Unicode 13.0 but for Hangul syllables, whose decompositions are computed."""
    bounds = [0, *(bound for first, last in unassigned_ranges() for bound in (first, last + 1)), sys.maxunicode + 1]
    for first, last in islice(pairwise(bounds), 0, None, 2):
        yield from (chr(point) for point in range(first, last) if point not in HANGUL_SYLLABLES)


def _changed(forms: Mapping[str, str]) -> dict[int, str]:
    return {ord(c): _numbers(form) for c, form in forms.items() if form != c}


def _compositions(characters: list[str]) -> Iterator[tuple[int, str]]:
    """Yield each character that two compose to, with these two."""
    for character in characters:
        pair = unicodedata.decomposition(character).split()
        if len(pair) == 2 and "<" not in pair[0] and unicodedata.normalize("NFC", character) == character:
            yield ord(character), _numbers("".join(chr(int(each, 16)) for each in pair))


def _numbers(text: str) -> str:
    return "+".join(f"{ord(c):X}" for c in text)


def _runs(points: Iterator[int]) -> list[tuple[int, int]]:
    """Return the first and the last of each run of ascending code points."""
    runs = (list(run) for _, run in groupby(enumerate(points), key=lambda pair: pair[1] - pair[0]))
    return [(run[0][1], run[-1][1]) for run in runs]


def _ranges(ranges: list[tuple[int, int]]) -> list[str]:
    return wrap(" ".join(f"{first:X}-{last:X}" for first, last in ranges), width=110, break_on_hyphens=False)


def _mapping(values: Mapping[int, str]) -> Iterator[str]:
    """Yield the lines of one mapping; code points whose values end a line begin the next."""
    for first, last in _runs(iter(values)):
        point = first
        while point <= last:
            line = f"{point:X} {values[point]}"
            point += 1
            while point <= last and len(line) + len(values[point]) < 110:
                line += f" {values[point]}"
                point += 1
            yield line


if __name__ == "__main__":
    TARGET.write_text(tables(), encoding="ascii")
