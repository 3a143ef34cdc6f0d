"""Write native/kernels/src/text/words/properties.rs: the properties of word_break_data.txt as a table in Rust.

Run: python -m tools.native_word_break
"""

from __future__ import annotations

from itertools import pairwise
from textwrap import fill, indent

import numpy as np

from es_simhash.text.words import ALPHANUMERIC, PICTOGRAPHIC, VALUE, WordBreak, properties_table
from tools import ROOT

TARGET = ROOT / "native" / "kernels" / "src" / "text" / "words" / "properties.rs"

TABLE = """\
//! The properties of characters on which word boundaries depend. Written by tools/native_word_break.py.

// The values of the property Word_Break.
{values}

// What a character's byte holds: its value of Word_Break, and two flags.
pub const VALUE: u8 = {value_mask};
pub const PICTOGRAPHIC: u8 = {pictographic};
pub const ALPHANUMERIC: u8 = {alphanumeric};

/// The first and the last code point of each run of characters that have the same properties, and these. Characters
/// in no run have none.
#[rustfmt::skip]
pub static RUNS: [(u32, u32, u8); {count}] = [
{runs}
];
"""


def runs() -> list[tuple[int, int, int]]:
    """Return the runs of code points that have the same properties, and any."""
    table = properties_table()
    bounds = [0, *(np.flatnonzero(np.diff(table)) + 1).tolist(), len(table)]
    return [(first, end - 1, int(table[first])) for first, end in pairwise(bounds) if table[first]]


def rust() -> str:
    """Return the text of the file."""
    listed = runs()
    used = [value for value in WordBreak if value]
    return TABLE.format(
        values="\n".join(f"pub const {value.name}: u8 = {value};" for value in used),
        value_mask=VALUE,
        pictographic=PICTOGRAPHIC,
        alphanumeric=ALPHANUMERIC,
        count=len(listed),
        runs=indent(fill(" ".join(f"(0x{first:X},0x{last:X},{byte})," for first, last, byte in listed), 116), "    "),
    )


if __name__ == "__main__":
    TARGET.write_text(rust(), encoding="ascii")
