//! The hashed features of a text, with their weights.

use super::chars::mix;
use super::features::Distinct;
use super::hashing::Width;
use super::hashing::poly64::{SECOND, fmix64};
use crate::stop;

/// Features in the order in which they occur, unless something made them distinct.
#[derive(Default)]
pub struct Features {
    /// The first 64 bits of each hash, which distinguish features.
    pub words: Vec<u64>,
    /// The other 64 bits of hashes of 128 bits; empty for hashes of 64 bits.
    pub second_words: Vec<u64>,
    pub weights: Weights,
}

/// One weight a feature.
#[derive(Default)]
pub enum Weights {
    /// Each weighs 1.
    #[default]
    One,
    Integers(Vec<i64>),
    Floats(Vec<f64>),
}

impl Features {
    pub fn clear(&mut self) {
        self.words.clear();
        self.second_words.clear();
        self.weights = Weights::One;
    }

    /// Append a hash.
    pub fn push(&mut self, [first, second]: [u64; 2], width: Width) {
        self.words.push(first);
        if width == Width::Bits128 {
            self.second_words.push(second);
        }
    }

    /// Turn polynomials into hashes (see `es_simhash.text.hashing.finish`).
    pub fn finish(&mut self, width: Width) {
        if width == Width::Bits128 {
            stop::extend(&mut self.second_words, self.words.iter().map(|p| fmix64(p ^ SECOND)));
        }
        for words in stop::parts_mut(&mut self.words) {
            mix(words);
            if width == Width::Bits32 {
                words.iter_mut().for_each(|word| *word >>= 32);
            }
        }
    }

    /// Keep the first of equal features that have no weights, in any order.
    pub fn keep_first(&mut self, distinct: &mut Distinct) {
        if self.second_words.is_empty() {
            distinct.keep_first(&mut self.words);
            return;
        }
        let mut firsts = Vec::new();
        stop::extend(&mut firsts, 0..self.words.len());
        stop::sort_by_key(&mut firsts, |&i| self.words[i]);
        firsts.dedup_by_key(|i| self.words[*i]);
        for words in [&mut self.words, &mut self.second_words] {
            let mut kept = Vec::new();
            stop::extend(&mut kept, firsts.iter().map(|&i| words[i]));
            *words = kept;
        }
    }
}

/// The features of many documents, one document after the other.
#[derive(Default)]
pub struct FeatureColumns {
    pub features: Features,
    /// How many features there are up to the end of each document.
    pub ends: Vec<usize>,
}

impl FeatureColumns {
    /// Append the features of a document, which have the same kind of weights as the others.
    pub fn append(&mut self, document: &Features) {
        let all = &mut self.features;
        all.words.extend_from_slice(&document.words);
        all.second_words.extend_from_slice(&document.second_words);
        match (&mut all.weights, &document.weights) {
            (Weights::Integers(weights), Weights::Integers(more)) => weights.extend_from_slice(more),
            (Weights::Floats(weights), Weights::Floats(more)) => weights.extend_from_slice(more),
            (weights, Weights::Integers(first)) => *weights = Weights::Integers(first.clone()),
            (weights, Weights::Floats(first)) => *weights = Weights::Floats(first.clone()),
            (_, Weights::One) => {}
        }
        self.ends.push(all.words.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_word_of_equal_features_is_that_of_the_first_one() {
        let words: Vec<u64> = (0..1000).map(|i| i * i % 97).collect();
        let second_words = (0..1000).collect();
        let mut features = Features { words: words.clone(), second_words, weights: Weights::One };
        features.keep_first(&mut Distinct::default());
        let expected: Vec<u64> = (0..1000).filter(|&i| !words[..i].contains(&words[i])).map(|i| i as u64).collect();
        assert!(features.words.iter().zip(&features.second_words).all(|(&word, &i)| word == words[i as usize]));
        features.second_words.sort_unstable();
        assert_eq!(features.second_words, expected);
    }
}
