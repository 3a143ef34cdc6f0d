//! The hashed features of a text, with their weights.

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
}
