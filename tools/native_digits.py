"""Write native/kernels/src/compare/digits.rs: the decimal digits of Unicode 13.0, for the extension.

Run: python -m tools.native_digits
"""

from __future__ import annotations

import sys

from es_simhash.text.normalise import is_unassigned
from tools import ROOT

TARGET = ROOT / "native" / "kernels" / "src" / "compare" / "digits.rs"

_HEAD = """\
//! The decimal digits of Unicode 13.0. Written by tools/native_digits.py.

/// The zeros: each is followed by the other nine digits of its script.
#[rustfmt::skip]
const ZEROS: [u32; {count}] = [
"""
_TAIL = """\
];

/// Whether a code point is a decimal digit, of any script.
pub fn is_digit(point: u32) -> bool {
    if point < 0x80 {
        return (0x30..0x3A).contains(&point);
    }
    let after = ZEROS.partition_point(|&zero| zero <= point);
    after > 0 && point - ZEROS[after - 1] < 10
}
"""
_A_LINE = 12


def digits() -> list[int]:
    """Return the code points that are decimal digits in Unicode 13.0."""
    points = (point for point in range(sys.maxunicode + 1) if chr(point).isdecimal())
    return [point for point in points if not is_unassigned(chr(point))]


def source() -> str:
    """Return the module in Rust."""
    zeros = digits()[::10]
    if [zero + digit for zero in zeros for digit in range(10)] != digits():
        raise ValueError("The decimal digits do not come in tens.")
    lines = [zeros[start : start + _A_LINE] for start in range(0, len(zeros), _A_LINE)]
    table = "".join("    " + " ".join(f"0x{zero:X}," for zero in line) + "\n" for line in lines)
    return _HEAD.format(count=len(zeros)) + table + _TAIL


if __name__ == "__main__":
    TARGET.write_text(source(), encoding="ascii")
