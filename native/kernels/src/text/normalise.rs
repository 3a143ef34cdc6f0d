//! Normalisation to UTF-16 units (defined in `es_simhash.text.normalise`).

use super::{Refused, Text};
use crate::for_each_cpu;

/// The steps to take.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    pub nfkc: bool,
    pub casefold: bool,
    pub whitespace: bool,
}

/// Append the normalised text to `units`; return whether it has code points beyond U+FFFF.
pub fn normalise(steps: Steps, text: Text<'_>, units: &mut Vec<u16>) -> Result<bool, Refused> {
    match text {
        Text::Ascii(bytes) => {
            ascii(steps, bytes, units);
            Ok(false)
        }
        Text::Wide(_) => Err(Refused),
    }
}

fn ascii(steps: Steps, bytes: &[u8], units: &mut Vec<u16>) {
    let bytes = if steps.whitespace { trim(bytes) } else { bytes };
    let first = units.len();
    units.resize(first + bytes.len(), 0);
    let has_runs = map_ascii(steps, bytes, &mut units[first..]);
    if has_runs {
        collapse(units, first);
    }
}

/// White space by `str.isspace`.
fn is_space(byte: u8) -> bool {
    matches!(byte, 9..=13 | 28..=32)
}

fn trim(bytes: &[u8]) -> &[u8] {
    let first = bytes.iter().position(|&byte| !is_space(byte)).unwrap_or(bytes.len());
    let last = bytes.iter().rposition(|&byte| !is_space(byte)).map_or(first, |last| last + 1);
    &bytes[first..last]
}

for_each_cpu! {
    /// Write letters in lower case and white space as spaces; return whether two spaces stand side by side.
    fn map_ascii(steps: Steps, bytes: &[u8], units: &mut [u16]) -> bool {
        let upper = if steps.casefold { 26 } else { 0 };
        let (tabs, separators) = if steps.whitespace { (5, 4) } else { (0, 0) };
        for (unit, &byte) in units.iter_mut().zip(bytes) {
            let is_space = byte.wrapping_sub(9) < tabs || byte.wrapping_sub(28) < separators;
            let lower = byte + 32 * u8::from(byte.wrapping_sub(b'A') < upper);
            *unit = u16::from(if is_space { b' ' } else { lower });
        }
        let mut runs = 0;
        if steps.whitespace {
            for (&unit, &next) in units.iter().zip(units.get(1..).unwrap_or_default()) {
                runs |= u16::from(unit == u16::from(b' ')) & u16::from(next == u16::from(b' '));
            }
        }
        runs != 0
    }
}

/// Leave one space of each run, from position `first` on.
fn collapse(units: &mut Vec<u16>, first: usize) {
    let space = u16::from(b' ');
    let mut kept = first;
    let mut before = 0;
    for i in first..units.len() {
        let unit = units[i];
        units[kept] = unit;
        kept += usize::from(unit != space || before != space);
        before = unit;
    }
    units.truncate(kept);
}
