//! Words that are left out.

use super::hashing::poly64::polynomial;
use super::lookup::Lookup;

#[derive(Default)]
pub struct StopWords {
    words: Vec<Vec<u16>>,
    /// The positions of words, by their polynomials.
    positions: Lookup,
}

impl StopWords {
    /// The words are given as UTF-16 units.
    pub fn new(words: Vec<Vec<u16>>) -> Self {
        let positions = Lookup::new(words.iter().enumerate().map(|(i, word)| (polynomial(word), i as u32)));
        Self { words, positions }
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn contains(&self, word: &[u16]) -> bool {
        self.positions.find(polynomial(word), |i| self.words[i as usize] == word).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_are_compared() {
        let units = |word: &str| word.encode_utf16().collect::<Vec<_>>();
        let stop_words = StopWords::new(["the", "of", "überall", ""].map(units).to_vec());
        assert!(["the", "of", "überall", ""].iter().all(|word| stop_words.contains(&units(word))));
        assert!(["th", "then", "o", "uberall", " "].iter().all(|word| !stop_words.contains(&units(word))));
        assert!(!StopWords::default().contains(&[]));
    }
}
