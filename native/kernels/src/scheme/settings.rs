//! The settings of a scheme that make its fingerprints (see `es_simhash.scheme.settings`).

use std::sync::Arc;

use crate::sketches::k_hash::Functions;
use crate::sketches::one_permutation::Sequences;
use crate::sketches::weighted::Samples;
use crate::text::hashing::{Hash, Width};
use crate::text::idf::IdfTable;
use crate::text::normalise::Steps;
use crate::text::runs::Dense;
use crate::text::stop_words::StopWords;

/// The most values that a signature can have.
const MAX_SIZE: usize = 4096;

pub struct Settings {
    pub normalisation: Steps,
    pub tokens: Tokens,
    pub hash: Hash,
    /// The width of the features' hashes: 64 or 128 bits.
    pub width: Width,
    pub weighing: Weighing,
    /// The width of a SimHash, or 0 for none.
    pub simhash_bits: u32,
    pub minhash: Option<MinHash>,
    /// The number of distinct features below which a text is short.
    pub floor: usize,
}

pub enum Tokens {
    /// Windows of n code points.
    Chars(usize),
    /// Two or three characters of a dense script, five of others.
    Runs(Dense),
    /// Runs of the masked text, and its numbers.
    RunsAndNumbers,
    /// Runs of n words that are not stop words.
    Words { n: usize, stop_words: StopWords },
    /// What the caller made of the texts.
    Given,
}

/// What a feature weighs.
pub enum Weighing {
    /// 1, however often it occurs in the text.
    Set,
    /// Its occurrences.
    Tf,
    /// Its inverse document frequency.
    Idf(IdfTable),
    /// Its occurrences times its inverse document frequency.
    TfIdf(IdfTable),
    /// What comes with the token.
    Own,
}

pub enum MinHash {
    OnePermutation(Arc<Sequences>),
    KHash(Functions),
    Weighted(Samples),
}

impl MinHash {
    /// The MinHash of that kind with signatures of `size` values.
    pub fn named(kind: &str, size: usize) -> Option<Self> {
        match kind {
            _ if !(1..=MAX_SIZE).contains(&size) => None,
            "one-permutation" => Some(Self::OnePermutation(Sequences::of_size(size))),
            "k-hash" => Some(Self::KHash(Functions::new(size))),
            "weighted" => Some(Self::Weighted(Samples::new(size))),
            _ => None,
        }
    }
}

impl Settings {
    /// The number of values of a signature.
    pub fn signature_size(&self) -> usize {
        match &self.minhash {
            Some(MinHash::OnePermutation(sequences)) => sequences.size(),
            Some(MinHash::KHash(functions)) => functions.size(),
            Some(MinHash::Weighted(samples)) => samples.size(),
            None => 0,
        }
    }
}
