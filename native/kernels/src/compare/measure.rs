//! The measures of similarity (defined in `es_simhash.sketches.similarity`).

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Jaccard,
    Balanced,
}

impl Measure {
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "jaccard" => Some(Self::Jaccard),
            "balanced" => Some(Self::Balanced),
            _ => None,
        }
    }

    /// The similarity of two texts with these totals, at least one not 0.
    ///
    /// All are below 2^53, so that they are exact as floats.
    pub fn similarity(self, shared: u64, first: u64, second: u64) -> f64 {
        let union = (first + second - shared) as f64;
        let whole = match self {
            Self::Jaccard => union,
            Self::Balanced => (union * first.min(second) as f64).sqrt(),
        };
        if whole > 0.0 { (shared as f64 / whole).min(1.0) } else { 0.0 }
    }
}
