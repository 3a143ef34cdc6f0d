//! The settings of a scheme that make its fingerprints (see `es_simhash.scheme.settings`).

use crate::sketches::k_hash::Functions;
use crate::sketches::one_permutation::Sequences;
use crate::sketches::weighted::Samples;
use crate::text::normalise::Steps;

pub struct Settings {
    pub normalisation: Steps,
    pub tokens: Tokens,
    /// Whether every bit of a hash depends on all of its token, as MinHash requires.
    pub is_mixed: bool,
    pub weighing: Weighing,
    /// The width of a SimHash, or 0 for none.
    pub simhash_bits: u32,
    pub minhash: Option<MinHash>,
    /// The number of distinct features below which a text is short.
    pub floor: usize,
}

pub enum Tokens {
    Chars(usize),
}

/// What a feature weighs.
pub enum Weighing {
    /// 1, however often it occurs in the text.
    Set,
    /// Its occurrences.
    Tf,
    /// Its inverse document frequency.
    Idf,
    /// Its occurrences times its inverse document frequency.
    TfIdf,
    /// What comes with the token.
    Own,
}

pub enum MinHash {
    OnePermutation(Sequences),
    KHash(Functions),
    Weighted(Samples),
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
