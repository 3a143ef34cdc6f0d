//! poly64 of long tokens that overlap, at a cost that does not grow with their length.

use super::poly64::{BASE, polynomial, word_at};
use crate::stop;

const UNITS_A_WORD: usize = 4;

/// The polynomials of the words that stand 4, 8, 12 … units before each position.
#[derive(Default)]
pub struct Prefixes {
    sums: Vec<u64>,
    /// The powers of `BASE`.
    powers: Vec<u64>,
}

impl Prefixes {
    /// Prepare for tokens of up to `longest` of these units.
    pub fn prepare(&mut self, units: &[u16], longest: usize) {
        self.sums.clear();
        stop::resize(&mut self.sums, units.len() + 1);
        for i in UNITS_A_WORD..=units.len() {
            stop::look_at(i);
            let word = word_at(units, i - UNITS_A_WORD);
            self.sums[i] = self.sums[i - UNITS_A_WORD].wrapping_mul(BASE).wrapping_add(word);
        }
        self.powers.clear();
        let powers = std::iter::successors(Some(1), |power: &u64| Some(power.wrapping_mul(BASE)));
        self.powers.extend(powers.take(longest / UNITS_A_WORD + 1));
    }

    /// The polynomial of the units from `start` up to `end`.
    pub fn polynomial(&self, units: &[u16], start: usize, end: usize) -> u64 {
        let length = end - start;
        let whole = length / UNITS_A_WORD;
        let rest = start + whole * UNITS_A_WORD;
        let before = (length as u64).wrapping_sub(self.sums[start]).wrapping_mul(self.powers[whole]);
        let p = self.sums[rest].wrapping_add(before);
        if rest == end {
            return p;
        }
        let last = polynomial(&units[rest..end]).wrapping_sub(((end - rest) as u64).wrapping_mul(BASE));
        p.wrapping_mul(BASE).wrapping_add(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_polynomials_of_all_spans_are_those_of_their_units() {
        let units: Vec<u16> = (0..60_u16).map(|i| i.wrapping_mul(40_503) ^ 7).collect();
        let mut prefixes = Prefixes::default();
        for longest in [60, 7] {
            prefixes.prepare(&units, longest);
            for start in 0..=units.len() {
                for end in start..=units.len().min(start + longest) {
                    let expected = polynomial(&units[start..end]);
                    assert_eq!(prefixes.polynomial(&units, start, end), expected, "{start}..{end}");
                }
            }
        }
    }
}
