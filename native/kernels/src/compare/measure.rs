//! The measures of similarity (defined in `es_simhash.sketches.similarity`).

use super::set::WeightedSet;
use super::weight_table::WeightTable;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Jaccard,
    Containment,
    Overlap,
    Cosine,
    Balanced,
}

impl Measure {
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "jaccard" => Some(Self::Jaccard),
            "containment" => Some(Self::Containment),
            "overlap" => Some(Self::Overlap),
            "cosine" => Some(Self::Cosine),
            "balanced" => Some(Self::Balanced),
            _ => None,
        }
    }

    /// The weight of a text's features together.
    pub fn total(self, weights: &[u32]) -> u128 {
        match self {
            Self::Cosine => weights.iter().map(|&weight| u128::from(weight) * u128::from(weight)).sum(),
            _ => weights.iter().map(|&weight| u64::from(weight)).sum::<u64>().into(),
        }
    }

    /// The weight that the text whose features are in `table` shares with another.
    pub fn shared(self, table: &WeightTable, other: &WeightedSet) -> u64 {
        match self {
            Self::Cosine => table.sum_of_products(&other.hashes, &other.weights),
            _ => table.sum_of_minima(&other.hashes, &other.weights),
        }
    }

    /// The most that two texts can share.
    pub fn most_shared(self, first: u64, second: u64) -> u64 {
        match self {
            // By Cauchy and Schwarz, as far as whole numbers need.
            Self::Cosine => first.max(second),
            _ => first.min(second),
        }
    }

    /// The similarity of two texts with these totals, at least one of which is not 0.
    ///
    /// All are below 2^53, so that they are exact as floats.
    pub fn similarity(self, shared: u64, first: u64, second: u64) -> f64 {
        let whole = match self {
            Self::Jaccard => (first + second - shared) as f64,
            Self::Containment => first as f64,
            Self::Overlap => first.min(second) as f64,
            Self::Cosine => (first as f64 * second as f64).sqrt(),
            Self::Balanced => ((first + second - shared) as f64 * first.min(second) as f64).sqrt(),
        };
        if whole > 0.0 { (shared as f64 / whole).min(1.0) } else { 0.0 }
    }
}
