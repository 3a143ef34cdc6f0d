//! Similarities estimated from signatures (defined in `es_simhash.sketches.minhash.estimate`).

use crate::for_each_cpu;

/// Estimate the similarity of a signature and each of some rows by the lowest `bits` bits of their values, fewer than 32.
pub fn estimates(own: &[u32], rows: &[u32], bits: u32) -> Vec<f64> {
    rows.chunks_exact(own.len().max(1)).map(|row| estimate(own, row, bits)).collect()
}

/// Estimate the similarity of two signatures in the same way.
pub fn estimate(first: &[u32], second: &[u32], bits: u32) -> f64 {
    let mask = (1 << bits) - 1;
    let chance = 1.0 / f64::from(1_u32 << bits);
    let agreeing = agreeing(first, second, mask);
    let share = f64::from(agreeing) / first.len() as f64;
    ((share - chance) / (1.0 - chance)).max(0.0)
}

for_each_cpu! {
    /// Count the places where two signatures agree in the bits of a mask.
    fn agreeing(first: &[u32], second: &[u32], mask: u32) -> u32 {
        first.iter().zip(second).map(|(a, b)| u32::from((a ^ b) & mask == 0)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_agree_by_chance_do_not_count() {
        assert_eq!(estimates(&[1, 2, 3, 4], &[1, 2, 3, 4, 0, 0, 0, 0, 1, 2, 0, 0], 2), [1.0, 0.0, 2.0 / 3.0]);
    }
}
