//! The weighted features of a text, to be compared with others.

use super::feature_weights::FeatureWeights;
use crate::stop;
use crate::text::Refused;
use crate::text::features::Distinct;

/// Totals from here on are no longer exact as floats.
const LIMIT: u64 = 1 << 53;

/// The features of a text, each once, in any order.
#[derive(Default)]
pub struct WeightedSet {
    pub hashes: Box<[u64]>,
    pub weights: Box<[u32]>,
    pub total: u64,
}

/// What makes sets, in memory that is used again.
#[derive(Default)]
pub struct Scratch {
    distinct: Distinct,
    weights: Vec<u32>,
    keys: Vec<u64>,
    factors: Vec<u32>,
}

impl WeightedSet {
    /// Make the set of features that may repeat; with `counts` each occurrence adds to the weight.
    pub fn of(
        hashes: &mut Vec<u64>,
        weights: &FeatureWeights,
        counts: bool,
        scratch: &mut Scratch,
    ) -> Result<Self, Refused> {
        if counts {
            count(hashes, &mut scratch.weights);
        } else {
            let kept = scratch.distinct.keep_first(hashes);
            hashes.truncate(kept);
            scratch.weights.clear();
            stop::extend(&mut scratch.weights, (0..kept).map(|_| 1));
        }
        weights.multiply(hashes, &mut scratch.weights, &mut scratch.keys, &mut scratch.factors)?;
        let total: u64 = scratch.weights.iter().map(|&weight| u64::from(weight)).sum();
        if total >= LIMIT {
            return Err(Refused);
        }
        Ok(Self { hashes: hashes[..].into(), weights: scratch.weights[..].into(), total })
    }

    /// The bytes that it takes.
    pub fn size(&self) -> usize {
        size_of_val(&*self.hashes) + size_of_val(&*self.weights)
    }
}

/// Leave each hash once, and say how often it occurred.
fn count(hashes: &mut Vec<u64>, counts: &mut Vec<u32>) {
    stop::sort(hashes);
    counts.clear();
    counts.extend(hashes.chunk_by(|a, b| a == b).map(|run| run.len() as u32));
    hashes.dedup();
}
