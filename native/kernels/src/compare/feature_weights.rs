//! What each feature weighs: as a table says, or nothing if it is common.

use super::weight_table::WeightTable;
use crate::text::Refused;
use crate::{for_each_cpu, stop};

#[derive(Default)]
pub struct FeatureWeights {
    /// The weights of features by the keys that begin their hashes; without, each weighs 1.
    pub table: Option<WeightTable>,
    /// The bits of a hash that follow its key.
    pub shift: u32,
    /// A table in which common features weigh 0 and all others 1.
    pub common: Option<WeightTable>,
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
        for (hashes, counts) in stop::parts(hashes).zip(counts.chunks_mut(stop::FEW)) {
            factors.clear();
            factors.resize(hashes.len(), 0);
            if let Some(table) = &self.table {
                keys.clear();
                keys.extend(hashes.iter().map(|hash| hash >> self.shift));
                table.weights_of(keys, factors);
                multiply(counts, factors)?;
            }
            if let Some(common) = &self.common {
                common.weights_of(hashes, factors);
                multiply(counts, factors)?;
            }
        }
        Ok(())
    }
}

fn multiply(counts: &mut [u32], factors: &[u32]) -> Result<(), Refused> {
    if multiply_all(counts, factors) { Ok(()) } else { Err(Refused) }
}

for_each_cpu! {
    /// Multiply each count, and return whether all products are below 2^32.
    fn multiply_all(counts: &mut [u32], factors: &[u32]) -> bool {
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
    fn features_are_known_by_their_keys_and_common_ones_by_their_hashes() {
        let weights = FeatureWeights { table: table(&[7], &[3], 5), shift: 40, common: table(&[7 << 40 | 1], &[0], 1) };
        let mut counts = [1, 2, 1];
        weights.multiply(&[7 << 40, 7 << 40 | 2, 8 << 40], &mut counts, &mut Vec::new(), &mut Vec::new()).unwrap();
        assert_eq!(counts, [3, 6, 5]);
        weights.multiply(&[7 << 40 | 1], &mut counts[..1], &mut Vec::new(), &mut Vec::new()).unwrap();
        assert_eq!(counts[0], 0);
    }
    #[test]
    fn weights_that_are_too_large_are_refused() {
        let weights = FeatureWeights { table: table(&[7], &[1 << 31], 1), shift: 40, common: None };
        let multiply =
            |counts: &mut [u32]| weights.multiply(&[7 << 40, 8 << 40], counts, &mut Vec::new(), &mut Vec::new());
        let mut counts = [1, u32::MAX];
        assert!(multiply(&mut counts).is_ok());
        assert_eq!(counts, [1 << 31, u32::MAX]);
        assert!(multiply(&mut [2, 1]).is_err());
    }
}
