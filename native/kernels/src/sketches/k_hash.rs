//! Classic MinHash by many functions (defined in `es_simhash.sketches.minhash.k_hash`).

use crate::text::hashing::poly64::fmix64;
use crate::{for_each_cpu, stop};

/// Functions whose smallest values stay in registers at once.
const LANES: usize = 64;
/// Hashes that thousands of functions see in some milliseconds.
const HASHES: usize = stop::FEW >> 4;

/// The functions of a signature.
pub struct Functions {
    multipliers: Vec<u32>,
}

impl Functions {
    pub fn new(size: usize) -> Self {
        Self { multipliers: (1..=size as u64).map(|i| fmix64(i) as u32 | 1).collect() }
    }

    pub fn size(&self) -> usize {
        self.multipliers.len()
    }

    /// Write the smallest value of each function if it is smaller than the present one.
    pub fn fill(&self, row: &mut [u32], hashes: &[u64]) {
        for hashes in hashes.chunks(HASHES) {
            if hashes.len() == HASHES {
                stop::look();
            }
            smallest_values(row, hashes, &self.multipliers);
        }
    }
}

for_each_cpu! {
    fn smallest_values(row: &mut [u32], hashes: &[u64], multipliers: &[u32]) {
        for (values, multipliers) in row.chunks_mut(LANES).zip(multipliers.chunks(LANES)) {
            let mut factors = [0; LANES];
            factors[..multipliers.len()].copy_from_slice(multipliers);
            let mut smallest = [u32::MAX; LANES];
            for &hash in hashes {
                let word = hash as u32 | 1;
                for i in 0..LANES {
                    smallest[i] = smallest[i].min(factors[i].wrapping_mul(word));
                }
            }
            for (value, product) in values.iter_mut().zip(smallest) {
                *value = (*value).min(product >> 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_the_smallest_of_its_function() {
        for size in [1, 31, 32, 33, 128, 200] {
            let hashes: Vec<u64> = (0..97).map(fmix64).collect();
            let mut row = vec![u32::MAX; size];
            Functions::new(size).fill(&mut row, &hashes);
            for (i, &value) in row.iter().enumerate() {
                let a = fmix64(i as u64 + 1) as u32 | 1;
                let values = hashes.iter().map(|&hash| a.wrapping_mul(hash as u32 | 1) >> 1);
                assert_eq!(Some(value), values.min(), "function {i} of {size}");
            }
        }
    }
}
