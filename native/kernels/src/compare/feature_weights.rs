//! What each feature weighs, as a table says.

use super::weight_table::WeightTable;
use crate::text::Refused;
use crate::{for_each_cpu, stop};

#[derive(Default)]
pub struct FeatureWeights {
    /// The weights of features by the keys that begin their hashes; without, each weighs 1.
    pub table: Option<WeightTable>,
    /// The bits of a hash that follow its key.
    pub shift: u32,
}

impl FeatureWeights {
    /// Multiply counts by what each feature weighs, in memory that is used again.
    pub fn multiply(
        &self,
        hashes: &[u64],
        counts: &mut [u32],
        keys: &mut Vec<u64>,
        factors: &mut Vec<u32>,
    ) -> Result<(), Refused> {
        let Some(table) = &self.table else { return Ok(()) };
        for (hashes, counts) in stop::parts(hashes).zip(counts.chunks_mut(stop::FEW)) {
            keys.clear();
            keys.extend(hashes.iter().map(|hash| hash >> self.shift));
            factors.clear();
            factors.resize(hashes.len(), 0);
            table.weights_of(keys, factors);
            if !multiply(counts, factors) {
                return Err(Refused);
            }
        }
        Ok(())
    }
}

for_each_cpu! {
    /// Multiply each count, and return whether all products are below 2^32.
    fn multiply(counts: &mut [u32], factors: &[u32]) -> bool {
        let mut beyond = 0;
        for (count, &factor) in counts.iter_mut().zip(factors) {
            let product = u64::from(*count) * u64::from(factor);
            beyond |= product >> u32::BITS;
            *count = product as u32;
        }
        beyond == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(hashes: &[u64], weights: &[u32], others: u32) -> Option<WeightTable> {
        let mut table = WeightTable::default();
        table.fill(hashes, weights, others);
        Some(table)
    }

    #[test]
    fn features_are_known_by_their_keys() {
        let weights = FeatureWeights { table: table(&[7], &[3], 5), shift: 40 };
        let mut counts = [1, 2, 1];
        weights.multiply(&[7 << 40, 7 << 40 | 2, 8 << 40], &mut counts, &mut Vec::new(), &mut Vec::new()).unwrap();
        assert_eq!(counts, [3, 6, 5]);
    }

    #[test]
    fn weights_that_are_too_large_are_refused() {
        let weights = FeatureWeights { table: table(&[7], &[1 << 31], 1), shift: 40 };
        let multiply =
            |counts: &mut [u32]| weights.multiply(&[7 << 40, 8 << 40], counts, &mut Vec::new(), &mut Vec::new());
        let mut counts = [1, u32::MAX];
        assert!(multiply(&mut counts).is_ok());
        assert_eq!(counts, [1 << 31, u32::MAX]);
        assert!(multiply(&mut [2, 1]).is_err());
    }
}
