//! Words that are left out.

use super::hashing::poly64::{polynomial, polynomial_at};
use super::lookup::Lookup;

#[derive(Default)]
pub struct StopWords {
    /// All words, one after the other.
    units: Vec<u16>,
    /// Where each word begins and ends.
    offsets: Vec<usize>,
    /// The positions of words, by their polynomials.
    positions: Lookup,
}

impl StopWords {
    /// The words are given as UTF-16 units.
    pub fn new(words: &[Vec<u16>]) -> Self {
        let positions = Lookup::new(words.iter().enumerate().map(|(i, word)| (polynomial(word), i as u32)));
        let ends = words.iter().scan(0, |end, word| {
            *end += word.len();
            Some(*end)
        });
        Self { units: words.concat(), offsets: std::iter::once(0).chain(ends).collect(), positions }
    }

    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Whether the units from `start` up to `end` are a stop word.
    #[inline]
    pub fn contain(&self, units: &[u16], start: usize, end: usize) -> bool {
        let is_equal = |i: u32| {
            let word = &self.units[self.offsets[i as usize]..self.offsets[i as usize + 1]];
            word.len() == end - start && word.iter().zip(&units[start..end]).all(|(a, b)| a == b)
        };
        self.positions.find(polynomial_at(units, start, end), is_equal).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contain(stop_words: &StopWords, word: &str) -> bool {
        let units: Vec<u16> = "a ".encode_utf16().chain(word.encode_utf16()).chain("s".encode_utf16()).collect();
        stop_words.contain(&units, 2, units.len() - 1)
    }

    #[test]
    fn whole_words_are_compared() {
        let units = |word: &str| word.encode_utf16().collect::<Vec<_>>();
        let stop_words = StopWords::new(&["the", "of", "überall", ""].map(units));
        assert!(["the", "of", "überall", ""].iter().all(|word| contain(&stop_words, word)));
        assert!(["th", "then", "o", "uberall", " "].iter().all(|word| !contain(&stop_words, word)));
        assert!(!contain(&StopWords::default(), ""));
    }
}
