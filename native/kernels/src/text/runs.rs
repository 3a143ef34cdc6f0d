//! Runs of characters: two or three of a dense script, five of others (defined in `es_simhash.text.words`).

use super::hashing::poly64::{BASE, four, polynomial, polynomial_at};
use super::points::points;
use super::spans::Spans;
use crate::for_each_cpu;

/// Code points of a run whose first one is not dense.
pub const LONG: usize = 5;

/// Code points of a run whose first one is dense.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Dense {
    Two = 2,
    Three = 3,
}

impl Dense {
    pub const ALL: [Self; 2] = [Self::Two, Self::Three];

    fn count(self) -> usize {
        self as usize
    }

    /// The lowest bits of four units in a word.
    fn mask(self) -> u64 {
        (1 << (16 * self.count())) - 1
    }
}

/// Dense code points that are one unit: first and last of each range, in ascending order.
const UNITS: [(u16, u16); 17] = [
    (0x1100, 0x11FF),
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3038, 0x303B),
    (0x3041, 0x3096),
    (0x309D, 0x309F),
    (0x30A1, 0x30FA),
    (0x30FC, 0x30FF),
    (0x3105, 0x312F),
    (0x3131, 0x318E),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xA960, 0xA97C),
    (0xAC00, 0xD7A3),
    (0xD7B0, 0xD7FB),
    (0xF900, 0xFAFF),
];
/// Those that are pairs of units.
const PAIRS: [(u32, u32); 2] = [(0x1B000, 0x1B16F), (0x20000, 0x323AF)];

/// Append the polynomials of the runs of a text of UTF-16 units to `polynomials`.
pub fn polynomials(units: &[u16], dense: Dense, has_pairs: bool, polynomials: &mut Vec<u64>) {
    let first = polynomials.len();
    let mut start = 0;
    while start < units.len() {
        let rest = &units[start..];
        let pair = if has_pairs { rest.iter().position(|&unit| is_high(unit)) } else { None }.unwrap_or(rest.len());
        // Runs that begin here end before the pair, however long they are.
        let count = pair.saturating_sub(LONG - 1);
        let done = polynomials.len();
        polynomials.resize(done + count, 0);
        windows(&rest[..pair], dense, &mut polynomials[done..]);
        let ends =
            (count..rest.len().min(pair + 1)).filter_map(|at| Some((start + at, end_of(units, dense, start + at)?)));
        polynomials.extend(ends.map(|(start, end)| polynomial_at(units, start, end)));
        start += pair + 2;
    }
    if polynomials.len() == first && !units.is_empty() {
        polynomials.push(polynomial(units));
    }
}

/// Replace `spans` by the runs of a text.
pub fn spans(units: &[u16], dense: Dense, spans: &mut Spans) {
    spans.clear();
    for (start, _) in points(units) {
        if let Some(end) = end_of(units, dense, start) {
            spans.push(start, end);
        }
    }
    if spans.is_empty() && !units.is_empty() {
        spans.push(0, units.len());
    }
}

/// The end of the run that begins at `start`, unless the text ends before.
fn end_of(units: &[u16], dense: Dense, start: usize) -> Option<usize> {
    let mut following = points(&units[start..]);
    let (_, first) = following.next()?;
    let (last, point) = following.nth(if is_dense(first) { dense.count() } else { LONG } - 2)?;
    Some(start + last + 1 + usize::from(point > 0xFFFF))
}

fn is_high(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

for_each_cpu! {
    /// Write the polynomial of the run at each of the first units; all five from there on must be there.
    fn windows(units: &[u16], dense: Dense, polynomials: &mut [u64]) {
        let count = polynomials.len();
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|i| &units[i.min(units.len())..][..count]);
        let long = |word: u64, fifth: u16| {
            let four = (LONG as u64).wrapping_mul(BASE).wrapping_add(word);
            four.wrapping_mul(BASE).wrapping_add(u64::from(fifth))
        };
        // Most texts in Latin and other alphabets need no look at each unit.
        if units.iter().fold(0, |most, &unit| unit.max(most)) < UNITS[0].0 {
            for i in 0..count {
                polynomials[i] = long(four([a[i], b[i], c[i], d[i]]), e[i]);
            }
            return;
        }
        let (length, mask) = ((dense.count() as u64).wrapping_mul(BASE), dense.mask());
        for i in 0..count {
            let word = four([a[i], b[i], c[i], d[i]]);
            let short = length.wrapping_add(word & mask);
            polynomials[i] = if is_dense_unit(a[i]) { short } else { long(word, e[i]) };
        }
    }
}

/// Whether a unit is a dense code point; without a branch.
#[inline(always)]
fn is_dense_unit(unit: u16) -> bool {
    UNITS.iter().fold(false, |found, &(first, last)| found | (unit.wrapping_sub(first) <= last - first))
}

fn is_dense(point: u32) -> bool {
    match u16::try_from(point) {
        Ok(unit) => is_dense_unit(unit),
        Err(_) => PAIRS.iter().any(|&(first, last)| (first..=last).contains(&point)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The runs by slicing.
    fn sliced(text: &[char], dense: Dense) -> Vec<String> {
        let runs = (0..text.len()).filter_map(|i| {
            let n = if is_dense(text[i].into()) { dense.count() } else { 5 };
            text.get(i..i + n).map(|run| run.iter().collect())
        });
        let found: Vec<String> = runs.collect();
        if found.is_empty() && !text.is_empty() { vec![text.iter().collect()] } else { found }
    }

    #[test]
    fn runs_begin_at_each_character() {
        let texts = [
            "",
            "a",
            "漢",
            "a漢",
            "漢a",
            "abc漢",
            "abcd漢",
            "近似重复 detection 検出する。검출 ok",
            "abcdef",
            "😀漢𠀀",
            "a😀bcde𛀀f",
        ];
        for whole in texts {
            let characters: Vec<char> = whole.chars().collect();
            for (from, dense) in (0..=characters.len()).flat_map(|from| Dense::ALL.map(|dense| (from, dense))) {
                let text = &characters[from..];
                let expected: Vec<u64> =
                    sliced(text, dense).iter().map(|run| polynomial(&run.encode_utf16().collect::<Vec<_>>())).collect();
                let units: Vec<u16> = text.iter().collect::<String>().encode_utf16().collect();
                let mut runs = Spans::default();
                spans(&units, dense, &mut runs);
                let cut: Vec<u64> = runs.iter().map(|(start, end)| polynomial(&units[start..end])).collect();
                assert_eq!(cut, expected, "{text:?}");
                let has_pairs = text.iter().any(|c| c.len_utf16() > 1);
                for has_pairs in [true, has_pairs] {
                    let mut found = Vec::new();
                    polynomials(&units, dense, has_pairs, &mut found);
                    assert_eq!(found, expected, "{text:?}");
                }
            }
        }
    }

    #[test]
    fn ranges_end_where_they_are_said_to() {
        let units = UNITS.map(|(first, last)| (u32::from(first), u32::from(last)));
        for (first, last) in units.into_iter().chain(PAIRS) {
            assert!(is_dense(first) && is_dense(last) && !is_dense(first - 1) && !is_dense(last + 1), "{first:x}");
        }
    }
}
