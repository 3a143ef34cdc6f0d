//! The weighted features of a text, to be compared with others.

use super::measure::Measure;
use super::weight_table::WeightTable;
use crate::text::Refused;
use crate::text::features::Distinct;

/// Totals from here on are no longer exact as floats.
const LIMIT: u128 = 1 << 53;

/// What a feature weighs in any text.
pub struct FeatureWeights {
    pub known: WeightTable,
    pub unknown: u32,
}

/// The features of a text that weigh anything, each once, in any order.
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
}

impl WeightedSet {
    /// Make the set of features that may repeat; with `counts` each occurrence adds to the weight.
    pub fn of(
        hashes: &mut Vec<u64>,
        weights: Option<&FeatureWeights>,
        counts: bool,
        measure: Measure,
        scratch: &mut Scratch,
    ) -> Result<Self, Refused> {
        if counts {
            count(hashes, &mut scratch.weights);
        } else {
            let kept = scratch.distinct.keep_first(hashes);
            hashes.truncate(kept);
            scratch.weights.clear();
            scratch.weights.resize(kept, 1);
        }
        if let Some(weights) = weights {
            weights.multiply(hashes, &mut scratch.weights)?;
            drop_weightless(hashes, &mut scratch.weights);
        }
        let total = measure.total(&scratch.weights);
        if total >= LIMIT {
            return Err(Refused);
        }
        Ok(Self { hashes: hashes[..].into(), weights: scratch.weights[..].into(), total: total as u64 })
    }

    /// The bytes that it takes.
    pub fn size(&self) -> usize {
        size_of_val(&*self.hashes) + size_of_val(&*self.weights)
    }
}

impl FeatureWeights {
    fn multiply(&self, hashes: &[u64], counts: &mut [u32]) -> Result<(), Refused> {
        let mut weights = vec![0; hashes.len()];
        self.known.weights_of(hashes, self.unknown, &mut weights);
        for (count, weight) in counts.iter_mut().zip(weights) {
            *count = count.checked_mul(weight).ok_or(Refused)?;
        }
        Ok(())
    }
}

/// Leave each hash once, and say how often it occurred.
fn count(hashes: &mut Vec<u64>, counts: &mut Vec<u32>) {
    hashes.sort_unstable();
    counts.clear();
    counts.extend(hashes.chunk_by(|a, b| a == b).map(|run| run.len() as u32));
    hashes.dedup();
}

fn drop_weightless(hashes: &mut Vec<u64>, weights: &mut Vec<u32>) {
    let mut kept = 0;
    for i in 0..hashes.len() {
        (hashes[kept], weights[kept]) = (hashes[i], weights[i]);
        kept += usize::from(weights[i] != 0);
    }
    hashes.truncate(kept);
    weights.truncate(kept);
}
