//! Texts of ASCII only, which nothing but letters' case and white space changes.

use super::Steps;
use super::spaces::{Found, look};
use crate::{for_each_cpu, stop};

/// Append a text, with white space as spaces.
pub fn map(steps: Steps, bytes: &[u8], units: &mut Vec<u16>) -> Found {
    let first = units.len();
    units.reserve(bytes.len());
    for part in stop::parts(bytes) {
        let start = units.len();
        units.resize(start + part.len(), 0);
        map_into(steps, part, &mut units[start..]);
    }
    look(&units[first..])
}

for_each_cpu! {
    /// Write letters in lower case and white space (by `str.isspace`) as spaces.
    fn map_into(steps: Steps, bytes: &[u8], units: &mut [u16]) {
        let upper = if steps.casefold { 26 } else { 0 };
        let (tabs, separators) = if steps.whitespace { (5, 4) } else { (0, 0) };
        for (unit, &byte) in units.iter_mut().zip(bytes) {
            let is_space = byte.wrapping_sub(9) < tabs || byte.wrapping_sub(28) < separators;
            let lower = byte + 32 * u8::from(byte.wrapping_sub(b'A') < upper);
            *unit = u16::from(if is_space { b' ' } else { lower });
        }
    }
}
