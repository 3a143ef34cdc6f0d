"""Write native/kernels/src/text/digits.rs: the decimal digits of Unicode 13.0, for the extension.

Run: python -m tools.native_digits
"""

from __future__ import annotations

from collections.abc import Sequence

from es_simhash.text.normalise import ZEROS
from tools import ROOT

TARGET = ROOT / "native" / "kernels" / "src" / "text" / "digits.rs"

_HEAD = """\
//! The decimal digits of Unicode 13.0 (defined in `es_simhash.text.normalise`). Written by tools/native_digits.py.

/// The zeros that are one unit: each is followed by the other nine digits of its script.
"""
_BETWEEN = """
/// Those that are pairs of units.
"""
_TAIL = """
/// The value of a code point that is a decimal digit, of any script.
#[inline]
pub fn value(point: u32) -> Option<u8> {
    let zero = match u16::try_from(point) {
        // Most texts have the digits of ASCII alone.
        Ok(..0x80) => UNITS[0].into(),
        Ok(unit) => last_up_to(&UNITS, unit).into(),
        Err(_) => last_up_to(&PAIRS, point),
    };
    let value = point.wrapping_sub(zero);
    (value < 10).then_some(value as u8)
}

/// The last zero up to a code point, or else the first.
fn last_up_to<T: Copy + Ord>(zeros: &[T], point: T) -> T {
    zeros[zeros.partition_point(|&zero| zero <= point).saturating_sub(1)]
}
"""
_A_LINE = 12


def source() -> str:
    """Return the module in Rust."""
    units = _table("UNITS", "u16", [zero for zero in ZEROS if zero <= 0xFFFF])
    pairs = _table("PAIRS", "u32", [zero for zero in ZEROS if zero > 0xFFFF])
    return _HEAD + units + _BETWEEN + pairs + _TAIL


def _table(name: str, kind: str, zeros: Sequence[int]) -> str:
    lines = [zeros[start : start + _A_LINE] for start in range(0, len(zeros), _A_LINE)]
    table = "".join("    " + " ".join(f"0x{zero:X}," for zero in line) + "\n" for line in lines)
    return f"#[rustfmt::skip]\npub const {name}: [{kind}; {len(zeros)}] = [\n{table}];\n"


if __name__ == "__main__":
    TARGET.write_text(source(), encoding="ascii")
