"""Write es_simhash/text/word_break_data.txt: the Unicode properties on which word boundaries depend.

They are those of the `regex` package, whatever the Python. To pin a newer Unicode version, install a release
of `regex` that implements it, set UNICODE_VERSION, and run: python -m tools.make_word_break_data
That changes the words of texts with newly assigned characters, and with them their fingerprints.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from textwrap import wrap

import regex

from tools import ROOT

TARGET = ROOT / "es_simhash" / "text" / "tokens" / "word_break_data.txt"
UNICODE_VERSION = "18.0.0"  # of regex 2026.11.15; its documentation says so, its code does not

WORD_BREAK_VALUES = (
    *("CR", "LF", "Newline", "Extend", "ZWJ", "Format", "Regional_Indicator", "Katakana", "Hebrew_Letter"),
    *(
        "ALetter",
        "Single_Quote",
        "Double_Quote",
        "MidNumLet",
        "MidLetter",
        "MidNum",
        "Numeric",
        "ExtendNumLet",
    ),
    "WSegSpace",
)
PATTERNS = {value: rf"\p{{Word_Break={value}}}" for value in WORD_BREAK_VALUES} | {
    "Extended_Pictographic": r"\p{Extended_Pictographic}",
    "Alphanumeric": r"[\p{Alphabetic}\p{General_Category=Number}]",
}

HEADER = """\
# Word_Break and Extended_Pictographic of Unicode {unicode}; Alphanumeric is Alphabetic or a number (N*).
# Ranges of code points, hexadecimal. Written by tools/make_word_break_data.py with regex {regex}.
# Derived from the Unicode Character Database, (c) 1991-2026 Unicode, Inc.; see UNICODE-LICENSE.
"""


def ranges(pattern: str) -> list[tuple[int, int]]:
    """Return the first and the last code point of each run of characters that match ``pattern``."""
    every_character = "".join(map(chr, range(sys.maxunicode + 1)))
    return [(match.start(), match.end() - 1) for match in regex.finditer(f"{pattern}+", every_character)]


def lines(name: str) -> list[str]:
    """Return the lines of the file for one value: its name, then ranges."""
    listed = (f"{first:X}" if first == last else f"{first:X}-{last:X}" for first, last in ranges(PATTERNS[name]))
    return wrap(" ".join(listed), width=110, initial_indent=f"{name} ", subsequent_indent=f"{name} ")


def main() -> None:
    """Write the file."""
    header = HEADER.format(unicode=UNICODE_VERSION, regex=version("regex"))
    body = "\n".join(line for name in PATTERNS for line in lines(name))
    TARGET.write_text(header + body + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
