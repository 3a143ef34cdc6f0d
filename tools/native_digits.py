"""Write native/kernels/src/text/digits.rs: the decimal digits of Unicode 13.0, for the extension.

Run: python -m tools.native_digits
"""

from __future__ import annotations

from es_simhash.text.digits import ZEROS
from tools import ROOT

TARGET = ROOT / "native" / "kernels" / "src" / "text" / "digits.rs"

_HEAD = """\
//! The decimal digits of Unicode 13.0 (defined in `es_simhash.text.digits`). Written by tools/native_digits.py.

/// The zeros: each is followed by the other nine digits of its script.
#[rustfmt::skip]
const ZEROS: [u32; {count}] = [
"""
_TAIL = """\
];

/// Whether a code point is a decimal digit, of any script.
pub fn is_digit(point: u32) -> bool {
    value(point).is_some()
}

/// The value of a code point that is a decimal digit.
#[inline]
pub fn value(point: u32) -> Option<u8> {
    let after = if point < 0x80 { 1 } else { ZEROS.partition_point(|&zero| zero <= point) };
    let above = point.checked_sub(*ZEROS.get(after.checked_sub(1)?)?)?;
    if above < 10 { Some(above as u8) } else { None }
}
"""
_A_LINE = 12


def source() -> str:
    """Return the module in Rust."""
    lines = [ZEROS[start : start + _A_LINE] for start in range(0, len(ZEROS), _A_LINE)]
    table = "".join("    " + " ".join(f"0x{zero:X}," for zero in line) + "\n" for line in lines)
    return _HEAD.format(count=len(ZEROS)) + table + _TAIL


if __name__ == "__main__":
    TARGET.write_text(source(), encoding="ascii")
