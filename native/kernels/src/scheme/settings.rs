//! The settings of a scheme that make its fingerprints (see `es_simhash.scheme.settings`).

use crate::sketches::one_permutation::Sequences;
use crate::text::normalise::Steps;

pub struct Settings {
    pub normalisation: Steps,
    pub tokens: Tokens,
    /// Whether a SimHash of 64 bits is made, of which `simhash_bits` are kept.
    pub simhash_bits: u32,
    pub minhash: Option<MinHash>,
    /// The number of distinct features below which a text is short.
    pub floor: usize,
}

pub enum Tokens {
    Chars(usize),
}

pub enum MinHash {
    OnePermutation(Sequences),
}

impl Settings {
    /// The number of values of a signature.
    pub fn signature_size(&self) -> usize {
        match &self.minhash {
            Some(MinHash::OnePermutation(sequences)) => sequences.size(),
            None => 0,
        }
    }
}
