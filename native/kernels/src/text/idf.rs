//! Inverse document frequencies (defined in `es_simhash.text.features`).

use super::lookup::Lookup;

/// The weights of features, by the first words of their hashes.
pub struct IdfTable {
    weights: Lookup,
    unseen: i64,
}

impl IdfTable {
    /// `unseen` is the weight of features that are not in the table.
    pub fn new(entries: impl ExactSizeIterator<Item = (u64, u32)>, unseen: i64) -> Self {
        Self { weights: Lookup::new(entries), unseen }
    }

    pub fn weight(&self, hash: u64) -> i64 {
        self.weights.find(hash, |_| true).map_or(self.unseen, i64::from)
    }
}
