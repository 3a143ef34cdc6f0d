//! Similarities estimated from signatures (defined in `es_simhash.sketches.minhash.common`).

use crate::for_each_cpu;

/// Estimate the similarity of a signature and each of some rows by the lowest `bits` bits of their values, fewer than 32.
pub fn estimates(own: &[u32], rows: &[u32], bits: u32) -> Vec<f64> {
    let mut counts = vec![0; rows.len() / own.len().max(1)];
    agreeing(own, rows, bits, &mut counts);
    counts.into_iter().map(|agreeing| of_agreeing(agreeing, own.len(), bits)).collect()
}

/// The similarity of signatures of `size` values, if this many agree.
pub fn of_agreeing(agreeing: u32, size: usize, bits: u32) -> f64 {
    let chance = 1.0 / f64::from(1_u32 << bits);
    let share = f64::from(agreeing) / size as f64;
    ((share - chance) / (1.0 - chance)).max(0.0)
}

for_each_cpu! {
    /// Count the values of each row that agree with a signature's in their lowest bits.
    pub fn agreeing(own: &[u32], rows: &[u32], bits: u32, counts: &mut [u32]) {
        let mask = (1 << bits) - 1;
        for (row, count) in rows.chunks_exact(own.len().max(1)).zip(counts) {
            *count = own.iter().zip(row).map(|(a, b)| u32::from((a ^ b) & mask == 0)).sum();
        }
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
